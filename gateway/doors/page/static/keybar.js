import {h} from './dom.js';

/** @typedef {[name: string, label: string, title?: string]} KeyOf */
/** @type {KeyOf[]} */
const keys = [
  ['esc', 'Esc'],
  ['tab', 'Tab'],
  ['ctrl', 'Ctrl'],
  ['ctrl-c', 'Ctrl+C'],
  ['keyboard', '⌨', 'open the keyboard'],
];
/** @type {KeyOf[]} On a phone, a row that can be swiped. */
const moreKeys = [
  ['left', '←', 'left'],
  ['down', '↓', 'down'],
  ['up', '↑', 'up'],
  ['right', '→', 'right'],
  ['enter', '⏎', 'Enter'],
  ['shift-tab', '⇧Tab', 'Shift Tab'],
  ['pageup', 'PgUp', 'PgUp, page up'],
  ['pagedown', 'PgDn', 'PgDn, page down'],
  ['alt', 'Alt'],
  ['/', '/'],
  ['|', '|'],
  ['~', '~'],
  ['-', '-'],
  ['home', 'Home'],
  ['end', 'End'],
];
const held = new Set(['ctrl', 'alt']);
const repeats = new Set(['left', 'down', 'up', 'right', 'pageup', 'pagedown']);
const repeatAfter = 400;
const repeatEvery = 70; // ms, while an arrow is held

export class KeyBar {
  /** @param {Typing} typing */
  constructor(typing) {
    this.typing = typing;
    /** @type {Map<string, HTMLButtonElement>} */
    this.buttons = new Map();
    const bar = h(
      'div',
      {class: 'keys', role: 'toolbar', 'aria-label': 'keys'},
      h('div', {class: 'row-of-keys'}, ...keys.map((k) => this.makeKey(...k))),
      h('div', {class: 'row-of-keys swipes'}, ...moreKeys.map((k) => this.makeKey(...k))),
    );
    this.line = h('input', {
      'aria-label': 'line to type',
      placeholder: 'Type a line…',
      autocomplete: 'off',
      spellcheck: false,
      enterKeyHint: 'send',
    });
    for (const name of ['autocapitalize', 'autocorrect']) this.line.setAttribute(name, 'off');
    this.form = h(
      'form',
      {class: 'line', onsubmit: (e) => this.sendLine(e)},
      this.line,
      h('button', {}, 'Enter'),
    );
    this.element = h('div', {class: 'keybar', hidden: true}, bar, this.form);
    this.raiseListener = () => this.raiseAboveKeyboard();
  }

  /** @param {string} name @param {string} label @param {string} [title] */
  makeKey(name, label, title) {
    const b = h('button', {type: 'button', onclick: () => this.pressButton(name)}, label);
    b.setAttribute('data-key', name);
    if (title) b.setAttribute('aria-label', title);
    if (held.has(name)) b.setAttribute('aria-pressed', 'false');
    // The field must keep the focus, or the phone's keyboard closes.
    b.addEventListener('pointerdown', (e) => {
      e.preventDefault();
      this.isRepeated = false;
      if (repeats.has(name)) this.timer = setTimeout(() => this.repeatKey(name), repeatAfter);
    });
    for (const end of ['pointerup', 'pointercancel', 'pointerleave'])
      b.addEventListener(end, () => clearTimeout(this.timer));
    this.buttons.set(name, b);
    return b;
  }

  /** @param {string} name */
  repeatKey(name) {
    this.isRepeated = true;
    this.typing.pressKey(name);
    this.timer = setTimeout(() => this.repeatKey(name), repeatEvery);
  }

  /** @param {string} name */
  pressButton(name) {
    const {typing} = this;
    if (held.has(name)) typing.toggleHeld(name);
    else if (name === 'keyboard') typing.openKeyboard();
    else if (name.length === 1) typing.typeText(name);
    else if (!(this.isRepeated && repeats.has(name))) typing.pressKey(this.withHeld(name));
    this.isRepeated = false;
  }

  /** @param {string} name */
  withHeld(name) {
    if (name.startsWith('ctrl-')) return name;
    const {ctrl, alt} = this.typing.held;
    return (ctrl ? 'ctrl-' : '') + (alt ? 'alt-' : '') + name;
  }

  /** @param {Held} now */
  showHeld({ctrl, alt}) {
    this.buttons.get('ctrl')?.setAttribute('aria-pressed', String(!!ctrl));
    this.buttons.get('alt')?.setAttribute('aria-pressed', String(!!alt));
  }

  /** @param {Event} e */
  sendLine(e) {
    e.preventDefault();
    const text = this.line.value;
    this.line.value = '';
    this.typing.typist.typeLine(text);
  }

  /** @param {boolean} on */
  show(on) {
    this.element.hidden = !on;
    const view = window.visualViewport;
    if (!view) return;
    for (const what of ['resize', 'scroll']) {
      if (on) view.addEventListener(what, this.raiseListener);
      else view.removeEventListener(what, this.raiseListener);
    }
    this.raiseAboveKeyboard();
  }

  /** On iOS the keyboard covers the page. */
  raiseAboveKeyboard() {
    const view = window.visualViewport;
    if (!view) return;
    document.documentElement.style.setProperty(
      '--covered',
      Math.max(0, innerHeight - view.height - view.offsetTop) + 'px',
    );
  }

  end() {
    clearTimeout(this.timer);
    this.show(false);
  }
}
