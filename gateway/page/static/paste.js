// The way in for a page that has no address bar: one on a phone's home screen, which knows nothing of the browser's own page.
import {h, put} from './dom.js';

// paste is a form that takes a link, and calls open once the address has its code.
export function paste(open) {
  const line = h('input', {'aria-label': 'link of gateway open', placeholder: 'Paste the link here', autocomplete: 'off', autocapitalize: 'off', spellcheck: false});
  const note = h('p', {class: 'where', role: 'status'});
  const opened = (e) => {
    e.preventDefault();
    const code = line.value.match(/#c=([a-z2-7]+)\s*$/);
    if (!code) return put(note, 'That is no link of gateway open.');
    location.hash = 'c=' + code[1];
    return open();
  };
  return h('div', {}, h('form', {onsubmit: opened}, line, h('button', {}, 'Open')), note);
}
