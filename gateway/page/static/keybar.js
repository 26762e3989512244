// Keys that a phone's keyboard lacks, and a line to write into that is typed as a whole.
import {h} from './dom.js';

const keys = [
  ['esc', 'Esc'], ['tab', 'Tab'], ['ctrl', 'Ctrl'], ['ctrl-c', 'Ctrl+C'], ['keyboard', '⌨', 'open the keyboard'],
  ['left', '←', 'left'], ['down', '↓', 'down'], ['up', '↑', 'up'], ['right', '→', 'right'], ['enter', '⏎', 'Enter'],
];
const repeats = {left: 1, down: 1, up: 1, right: 1};
const repeatAfter = 400, repeatEvery = 70; // ms, of an arrow that is held

export class KeyBar {
  constructor(typing) {
    this.typing = typing;
    this.buttons = new Map();
    const bar = h('div', {class: 'keys', role: 'toolbar', 'aria-label': 'keys'}, ...keys.map((k) => this.key(...k)));
    this.line = h('input', {'aria-label': 'line to type', placeholder: 'Type a line…', autocomplete: 'off', spellcheck: false, enterKeyHint: 'send'});
    for (const name of ['autocapitalize', 'autocorrect']) this.line.setAttribute(name, 'off');
    this.form = h('form', {class: 'line', onsubmit: (e) => this.send(e)}, this.line, h('button', {}, 'Enter'));
    this.element = h('div', {class: 'keybar', hidden: true}, bar, this.form);
    this.lift = () => this.rise();
  }

  key(name, label, title) {
    const b = h('button', {type: 'button', onclick: (e) => this.click(e, name)}, label);
    b.setAttribute('data-key', name);
    if (title) b.setAttribute('aria-label', title);
    if (name === 'ctrl') b.setAttribute('aria-pressed', 'false');
    // The field that types keeps the focus, and with it the phone's keyboard stays open.
    b.addEventListener('pointerdown', (e) => {
      e.preventDefault();
      this.repeated = false;
      if (repeats[name]) this.timer = setTimeout(() => this.repeat(name), repeatAfter);
    });
    for (const end of ['pointerup', 'pointercancel', 'pointerleave']) b.addEventListener(end, () => clearTimeout(this.timer));
    this.buttons.set(name, b);
    return b;
  }

  repeat(name) {
    this.repeated = true;
    this.typing.press(name);
    this.timer = setTimeout(() => this.repeat(name), repeatEvery);
  }

  click(e, name) {
    const {typing} = this;
    if (name === 'ctrl') typing.hold('ctrl');
    else if (name === 'keyboard') typing.keyboard();
    else if (!(this.repeated && repeats[name])) typing.press((typing.held.ctrl && !name.startsWith('ctrl-') ? 'ctrl-' : '') + name);
    this.repeated = false;
  }

  held({ctrl}) { this.buttons.get('ctrl').setAttribute('aria-pressed', String(ctrl)); }

  send(e) {
    e.preventDefault();
    const text = this.line.value;
    this.line.value = '';
    this.typing.typist.line(text);
  }

  show(on) {
    this.element.hidden = !on;
    const view = window.visualViewport;
    if (!view) return;
    for (const what of ['resize', 'scroll']) {
      if (on) view.addEventListener(what, this.lift);
      else view.removeEventListener(what, this.lift);
    }
    this.rise();
  }

  // rise keeps what stands at the bottom above a keyboard that covers the page, as on iOS.
  rise() {
    const view = window.visualViewport;
    document.documentElement.style.setProperty('--covered', Math.max(0, innerHeight - view.height - view.offsetTop) + 'px');
  }

  end() {
    clearTimeout(this.timer);
    this.show(false);
  }
}
