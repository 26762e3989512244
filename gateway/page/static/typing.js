// A person types at a session: which keys are the program's, how to begin, and how to leave.
import {h, put, show, say} from './dom.js';
import {keyName, withHeld} from './keynames.js';
import {KeyBar} from './keybar.js';
import {Typist} from './typist.js';
import {program} from './wording.js';

// blank stands in the field that takes the keys: a phone's keyboard reports Backspace only where there is something to delete.
const blank = ' ';

export class Typing {
  // view is the session's part of the page: its screen, painter and takeBack.
  constructor(app, view) {
    this.view = view;
    this.held = {ctrl: false, alt: false}; // tapped on the key bar, for the next key
    this.typist = new Typist(app, view.session, {
      failed: (e) => this.failed(e), typed: () => this.bad() && this.hints(), deaf: (on) => this.pad.classList.toggle('deaf', on),
    });
    this.button = h('button', {class: 'typer', onclick: () => this.turn(!this.on)}, 'Type here');
    this.pad = h('textarea', {class: 'pad', tabIndex: -1, rows: 1, value: blank, autocomplete: 'off', spellcheck: false, disabled: true});
    for (const name of ['autocapitalize', 'autocorrect']) this.pad.setAttribute(name, 'off');
    this.hint = h('p', {class: 'hint', role: 'status', hidden: true});
    this.bar = new KeyBar(this);
    this.element = h('div', {class: 'typing'}, this.hint, this.bar.element);
    this.listen();
  }

  listen() {
    const {pad, view: {screen}} = this;
    pad.addEventListener('keydown', (e) => this.keydown(e));
    pad.addEventListener('beforeinput', (e) => this.beforeinput(e));
    pad.addEventListener('input', () => this.reset());
    pad.addEventListener('compositionstart', () => this.compose(true));
    pad.addEventListener('compositionend', (e) => this.composed(e.data));
    pad.addEventListener('paste', (e) => this.paste(e));
    pad.addEventListener('drop', (e) => e.preventDefault());
    screen.addEventListener('click', (e) => this.clicked(e));
    screen.addEventListener('keydown', (e) => this.onScreen(e));
  }

  // update takes over what the session is now.
  update(session) {
    this.typist.session = session;
    this.name = program(session);
    this.pad.setAttribute('aria-label', `Type into ${this.name}. Control Shift Enter leaves.`);
    this.button.disabled = session.state === 'exited';
    if (session.state === 'exited' && this.on) this.turn(false);
    if (this.on && !this.bad()) this.hints();
  }

  // bad says that the line tells why something was not typed. It stands until something is.
  bad() { return this.hint.classList.contains('bad'); }

  hints() {
    this.hint.classList.remove('bad');
    put(this.hint, `Your keys go to ${this.name}. Ctrl+Shift+Enter leaves, Ctrl+Shift+V pastes. For a key that the browser keeps, such as Ctrl+W, press Ctrl below, then W.`);
    show(this.hint, true);
  }

  // turn begins to type, or leaves.
  turn(on) {
    if (on === !!this.on || on && this.button.disabled) return;
    this.on = on;
    put(this.button, on ? 'Stop typing' : 'Type here');
    this.pad.disabled = !on;
    this.view.element.classList.toggle('typed', on);
    this.bar.show(on);
    this.hold('');
    if (on) {
      this.typist.heed();
      this.hints();
      this.place();
      this.focus();
    } else {
      show(this.hint, false);
      this.button.focus({preventScroll: true});
    }
    this.view.resized();
  }

  focus() { this.pad.focus({preventScroll: true}); }

  // keyboard opens a phone's keyboard, also one that was closed while the field kept the focus.
  keyboard() {
    this.pad.blur();
    this.focus();
  }

  // hold has a modifier stay for the next key, or no longer; '' lets both go.
  hold(name) {
    for (const n of ['ctrl', 'alt']) this.held[n] = n === name && !this.held[n];
    this.bar.held(this.held);
  }

  // place puts the field where the cursor is: there a composition shows, and a phone scrolls to it.
  place() {
    const {painter} = this.view, {at, cell, row, sheet} = painter;
    if (!this.on || !cell) return;
    if (this.pad.parentNode !== sheet) sheet.append(this.pad);
    if (!at) return;
    const {x, y} = painter.spot(at.row, at.col);
    this.pad.style.left = x + 'px';
    this.pad.style.top = y + 'px';
    this.pad.style.height = row + 'px';
  }

  // press presses a named key. The one that takes back does not wait for what was typed before.
  press(name) {
    this.hold('');
    this.present();
    if (name === 'ctrl-\\') this.view.takeBack();
    else this.typist.key(name);
  }

  // present leaves the history: who types looks at the screen.
  present() {
    if (this.view.history.back) this.view.history.now();
  }

  text(text) {
    this.present();
    const [first, rest] = [String.fromCodePoint(text.codePointAt(0)), text.slice(String.fromCodePoint(text.codePointAt(0)).length)];
    if (this.held.ctrl || this.held.alt) {
      this.press(withHeld(first, this.held));
      if (rest) this.typist.text(rest);
    } else {
      this.typist.text(text);
    }
  }

  keydown(e) {
    if (e.isComposing || e.keyCode === 229) return; // of an input method: what comes of it is told by the events below
    if (e.key === 'Enter' && e.ctrlKey && e.shiftKey) {
      e.preventDefault();
      this.turn(false);
      return;
    }
    const name = keyName(e, this.held);
    if (name === '') return;
    e.preventDefault();
    this.press(name);
  }

  beforeinput(e) {
    if (this.composing || e.isComposing) return; // until it is settled
    const key = {
      insertLineBreak: 'enter', insertParagraph: 'enter', deleteContentBackward: 'backspace', deleteContentForward: 'delete', deleteWordBackward: 'ctrl-w',
    }[e.inputType];
    if (e.inputType === 'insertText' && e.data) this.text(e.data);
    else if (key) this.press(key);
    else if (e.inputType === 'insertCompositionText' || e.inputType === 'insertFromComposition') return;
    e.preventDefault();
  }

  // reset leaves in the field what stands there between two keys.
  reset() {
    if (this.composing || this.pad.value === blank) return;
    this.pad.value = blank;
    this.pad.setSelectionRange(1, 1);
  }

  compose(on) {
    this.composing = on;
    this.pad.classList.toggle('composing', on);
  }

  composed(text) {
    this.compose(false);
    if (text) this.text(text);
    this.reset();
  }

  paste(e) {
    e.preventDefault();
    const text = e.clipboardData.getData('text/plain');
    if (text) this.typist.paste(text);
  }

  // clicked begins to type where somebody clicks who does not select text. A finger only moves the picture, unless it types already.
  clicked(e) {
    if (!getSelection().isCollapsed || !this.on && e.pointerType === 'touch') return;
    if (this.on) this.focus();
    else this.turn(true);
  }

  // onScreen is for keys that come to the screen itself: Enter begins to type, and whoever selected text there types on.
  onScreen(e) {
    if (e.target !== this.view.screen) return;
    if (!this.on && e.key === 'Enter') {
      e.preventDefault();
      this.turn(true);
    } else if (this.on && !/^(Tab|Shift|Control|Alt|Meta|Page.*|Home|End)$/.test(e.key) && !((e.ctrlKey || e.metaKey) && /^[ac]$/i.test(e.key))) {
      getSelection().removeAllRanges();
      this.focus();
      this.keydown(e);
    }
  }

  // failed says why nothing more was typed.
  failed(e) {
    if (e.code === 'forbidden') this.turn(false);
    const sure = e.code ? e.code !== 'unavailable' && e.code !== 'timeout' : e.message === 'not connected';
    this.hint.classList.add('bad');
    put(this.hint, sure ? 'Not typed: ' + e.message : `Nobody knows whether that was typed (${e.message}): look at the screen.`);
    show(this.hint, true);
    say(this.hint.textContent);
  }

  end() { this.bar.end(); }
}
