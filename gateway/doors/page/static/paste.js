import {h, setText} from './dom.js';

/** @param {() => void} open */
export function pasteForm(open) {
  const line = h('input', {
    'aria-label': 'link of gateway open',
    placeholder: 'Paste the link here',
    autocomplete: 'off',
    autocapitalize: 'off',
    spellcheck: false,
  });
  const note = h('p', {class: 'where', role: 'status'});
  const opened = (/** @type {Event} */ e) => {
    e.preventDefault();
    const code = line.value.match(/#c=([a-z2-7]+)\s*$/);
    if (!code) return setText(note, 'That is no link of gateway open.');
    location.hash = 'c=' + code[1];
    return open();
  };
  return h('div', {}, h('form', {onsubmit: opened}, line, h('button', {}, 'Open')), note);
}
