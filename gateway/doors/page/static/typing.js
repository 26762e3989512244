import {h, setText, setShown, announce} from './dom.js';
import {keyName, nameHeldKey} from './keynames.js';
import {KeyBar} from './keybar.js';
import {Mouse} from './mouse.js';
import {Typist} from './typist.js';
import {programLabel} from './wording.js';

// The field always holds this: a phone reports Backspace only if there is something to delete.
const blank = ' ';

export class Typing {
  isOn = false;
  programName = '';
  isComposing = false;
  isRefused = false; // the session takes no keys from this page

  /** @param {App} app @param {SessionView} view */
  constructor(app, view) {
    this.view = view;
    this.held = {ctrl: false, alt: false};
    this.typist = new Typist(app, view.session, {
      handleFailure: (e) => this.showFailure(e),
      handleTyped: () => this.hasFault() && this.showHints(),
      showDropping: (on) => this.pad.classList.toggle('deaf', on),
    });
    this.button = h('button', {class: 'typer', onclick: () => this.setOn(!this.isOn)}, 'Type here');
    this.pad = h('textarea', {
      class: 'pad',
      tabIndex: -1,
      rows: 1,
      value: blank,
      autocomplete: 'off',
      spellcheck: false,
      disabled: true,
    });
    for (const name of ['autocapitalize', 'autocorrect']) this.pad.setAttribute(name, 'off');
    this.hint = h('p', {class: 'hint', role: 'status', hidden: true});
    this.keyBar = new KeyBar(this);
    this.element = h('div', {class: 'typing'}, this.hint, this.keyBar.element);
    this.mouse = new Mouse(view, this);
    this.addListeners();
  }

  addListeners() {
    const {
      pad,
      view: {screen},
    } = this;
    pad.addEventListener('keydown', (e) => this.handleKeydown(e));
    pad.addEventListener('beforeinput', (e) => this.handleBeforeInput(e));
    pad.addEventListener('input', () => this.resetPad());
    pad.addEventListener('compositionstart', () => this.setComposing(true));
    pad.addEventListener('compositionend', (e) => this.finishComposition(e.data));
    pad.addEventListener('paste', (e) => this.pasteText(e));
    pad.addEventListener('drop', (e) => e.preventDefault());
    screen.addEventListener('click', (e) => this.handleClick(e));
    screen.addEventListener('keydown', (e) => this.handleScreenKey(e));
  }

  /** @param {Session} session */
  update(session) {
    this.typist.session = session;
    this.programName = programLabel(session);
    this.pad.setAttribute(
      'aria-label',
      `Type into ${this.programName}. Control Shift Enter leaves.`,
    );
    this.button.disabled = session.state === 'exited';
    if (session.state === 'exited' && this.isOn) this.setOn(false);
    if (this.isOn && !this.hasFault()) this.showHints();
  }

  /** The hint says why a key was not typed, until another key is typed. */
  hasFault() {
    return this.hint.classList.contains('bad');
  }

  showHints() {
    this.hint.classList.remove('bad');
    setText(
      this.hint,
      `Your keys go to ${this.programName}. Ctrl+Shift+Enter leaves, Ctrl+Shift+V pastes. ` +
        'For a key that the browser keeps, such as Ctrl+W, press Ctrl below, then W.',
    );
    setShown(this.hint, true);
  }

  /** @param {boolean} on */
  setOn(on) {
    if (on === this.isOn || (on && this.button.disabled)) return;
    this.isOn = on;
    setText(this.button, on ? 'Stop typing' : 'Type here');
    this.pad.disabled = !on;
    this.view.element.classList.toggle('typed', on);
    this.keyBar.show(on);
    this.toggleHeld('');
    if (on) {
      this.isRefused = false;
      this.typist.acceptKeys();
      this.showHints();
      this.placePad();
      this.focusPad();
    } else {
      setShown(this.hint, false);
      this.button.focus({preventScroll: true});
    }
    this.view.handleResize();
  }

  focusPad() {
    this.pad.focus({preventScroll: true});
  }

  /** The keyboard may have been closed while the field kept the focus. */
  openKeyboard() {
    this.pad.blur();
    this.focusPad();
  }

  /** An empty name releases both. @param {string} name */
  toggleHeld(name) {
    this.held.ctrl = name === 'ctrl' && !this.held.ctrl;
    this.held.alt = name === 'alt' && !this.held.alt;
    this.keyBar.showHeld(this.held);
  }

  /** A composition shows at the cursor, and a phone scrolls there. */
  placePad() {
    const {painter} = this.view;
    const {cursorAt, cell, row, sheet} = painter;
    if (!this.isOn || !cell) return;
    if (this.pad.parentNode !== sheet) sheet.append(this.pad);
    if (!cursorAt) return;
    const {x, y} = painter.spotOf(cursorAt.row, cursorAt.col);
    this.pad.style.left = x + 'px';
    this.pad.style.top = y + 'px';
    this.pad.style.height = row + 'px';
  }

  /**
   * Ctrl+\ takes the keyboard back and does not wait for keys typed before it.
   * @param {string} name
   */
  pressKey(name) {
    this.toggleHeld('');
    this.leaveHistory();
    if (name === 'ctrl-\\') this.view.takeKeyboardBack();
    else this.typist.typeKey(name);
  }

  /**
   * With mayDrop, the event is dropped while others wait.
   * @param {string} data @param {boolean} [mayDrop]
   */
  moveMouse(data, mayDrop) {
    this.typist.moveMouse(data, mayDrop);
  }

  leaveHistory() {
    if (this.view.history.isBack) this.view.history.showNow();
  }

  /** @param {string} text */
  typeText(text) {
    this.leaveHistory();
    const first = String.fromCodePoint(text.codePointAt(0) || 0);
    const rest = text.slice(first.length);
    if (this.held.ctrl || this.held.alt) {
      this.pressKey(nameHeldKey(first, this.held));
      if (rest) this.typist.typeText(rest);
    } else {
      this.typist.typeText(text);
    }
  }

  /** @param {KeyboardEvent} e */
  handleKeydown(e) {
    // An input method reports its result by the events below.
    if (e.isComposing || e.keyCode === 229) return;
    if (e.key === 'Enter' && e.ctrlKey && e.shiftKey) {
      e.preventDefault();
      this.setOn(false);
      return;
    }
    const name = keyName(e, this.held);
    if (name === '') return;
    e.preventDefault();
    this.pressKey(name);
  }

  /** @param {InputEvent} e */
  handleBeforeInput(e) {
    if (this.isComposing || e.isComposing) return;
    const key = {
      insertLineBreak: 'enter',
      insertParagraph: 'enter',
      deleteContentBackward: 'backspace',
      deleteContentForward: 'delete',
      deleteWordBackward: 'ctrl-w',
    }[e.inputType];
    if (e.inputType === 'insertText' && e.data) this.typeText(e.data);
    else if (key) this.pressKey(key);
    else if (e.inputType === 'insertCompositionText' || e.inputType === 'insertFromComposition')
      return;
    e.preventDefault();
  }

  resetPad() {
    if (this.isComposing || this.pad.value === blank) return;
    this.pad.value = blank;
    this.pad.setSelectionRange(1, 1);
  }

  /** @param {boolean} on */
  setComposing(on) {
    this.isComposing = on;
    this.pad.classList.toggle('composing', on);
  }

  /** @param {string} text */
  finishComposition(text) {
    this.setComposing(false);
    if (text) this.typeText(text);
    this.resetPad();
  }

  /** @param {ClipboardEvent} e */
  pasteText(e) {
    e.preventDefault();
    const text = e.clipboardData?.getData('text/plain');
    if (text) this.typist.pasteText(text);
  }

  /**
   * A click that selects no text begins typing. A finger only scrolls, unless typing is on.
   * @param {PointerEvent} e
   */
  handleClick(e) {
    if (!getSelection()?.isCollapsed || (!this.isOn && e.pointerType === 'touch')) return;
    if (!this.isOn) return this.setOn(true);
    this.focusPad();
    if (e.pointerType === 'touch') this.mouse.tap(e);
    return undefined;
  }

  /** Keys go here after text was selected. @param {KeyboardEvent} e */
  handleScreenKey(e) {
    if (e.target !== this.view.screen) return;
    if (!this.isOn && e.key === 'Enter') {
      e.preventDefault();
      this.setOn(true);
    } else if (
      this.isOn &&
      !/^(Tab|Shift|Control|Alt|Meta|Page.*|Home|End)$/.test(e.key) &&
      !((e.ctrlKey || e.metaKey) && /^[ac]$/i.test(e.key))
    ) {
      getSelection()?.removeAllRanges();
      this.focusPad();
      this.handleKeydown(e);
    }
  }

  /** @param {GatewayError} e */
  showFailure(e) {
    if (e.code === 'forbidden') {
      this.setOn(false);
      this.isRefused = true;
    }
    const sure = e.code
      ? e.code !== 'unavailable' && e.code !== 'timeout'
      : e.message === 'not connected';
    this.hint.classList.add('bad');
    setText(
      this.hint,
      sure
        ? 'Not typed: ' + e.message
        : `It is unknown whether that was typed (${e.message}): look at the screen.`,
    );
    setShown(this.hint, true);
    announce(this.hint.textContent);
  }

  end() {
    this.keyBar.end();
    this.mouse.end();
  }
}
