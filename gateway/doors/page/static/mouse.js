const notch = 100; // CSS pixels of a wheel's notch, as browsers report it
const rowsPerNotch = 3; // that a finger moves
const linesPerNotch = 3; // of a wheel that reports lines
const maxNotches = 30; // of one message

/** @type {Record<number, string>} By the number of a button. */
const clicks = {1: 'middle-click', 2: 'right-click'};

/**
 * Sends the wheel, a finger's swipes and the buttons of the mouse to a program that listens. With
 * Shift they are the browser's, as in a terminal.
 */
export class Mouse {
  wheel = 0; // CSS pixels that are no whole notch yet
  place = ''; // the cell of the newest message
  frameDue = 0;
  fingerX = 0;
  fingerY = 0;
  /** @type {'' | 'browser' | 'program'} Who handles the swipe; '' before it has a direction. */
  swipe = '';

  /** @param {SessionView} view @param {Typing} typing */
  constructor(view, typing) {
    this.view = view;
    this.typing = typing;
    const {screen} = view;
    screen.addEventListener('wheel', (e) => this.handleWheel(e), {passive: false});
    screen.addEventListener('touchstart', (e) => this.startSwipe(e), {passive: true});
    screen.addEventListener('touchmove', (e) => this.handleSwipe(e), {passive: false});
    screen.addEventListener('mousedown', (e) => this.handlePress(e));
    screen.addEventListener('contextmenu', (e) => this.hasButtons(e) && e.preventDefault());
    this.moveListener = (/** @type {MouseEvent} */ e) => this.handleMove(e);
    this.releaseListener = (/** @type {MouseEvent} */ e) => this.handleRelease(e);
  }

  use() {
    return this.view.painter.state.mouse || '';
  }

  /** Not while an agent drives: it would pause for the wheel of a person who only watches. */
  canScroll() {
    const {typing, view} = this;
    if (this.use() === '' || view.history.isBack || view.painter.folded) return false;
    return typing.isOn || (!typing.isRefused && view.keyboard.holder !== 'agent');
  }

  /** @param {MouseEvent} e */
  hasButtons(e) {
    const use = this.use();
    if (e.shiftKey || this.view.history.isBack || this.view.painter.folded) return false;
    return this.typing.isOn && (use === 'buttons' || use === 'motion');
  }

  /** @param {WheelEvent} e */
  handleWheel(e) {
    if (e.shiftKey || e.ctrlKey || e.deltaY === 0 || !this.canScroll()) return;
    e.preventDefault();
    e.stopImmediatePropagation(); // the screen stays in place
    this.turnWheel(e.deltaMode === 0 ? e.deltaY / notch : e.deltaY / linesPerNotch, e);
  }

  /** @param {number} notches @param {MouseEvent|Touch} at */
  turnWheel(notches, at) {
    if (this.wheel * notches < 0) this.wheel = 0;
    this.wheel += notches;
    this.place = this.cellOf(at);
    this.frameDue ||= requestAnimationFrame(() => this.sendWheel());
  }

  sendWheel() {
    this.frameDue = 0;
    const n = Math.min(Math.floor(Math.abs(this.wheel)), maxNotches);
    if (n === 0) return;
    const act = this.wheel < 0 ? 'wheel-up' : 'wheel-down';
    this.wheel %= 1;
    this.typing.moveMouse(`${n > 1 ? `${act}*${n}` : act} ${this.place}`, true);
  }

  /** @param {TouchEvent} e */
  startSwipe(e) {
    this.swipe = e.touches.length === 1 && this.canScroll() ? '' : 'browser';
    this.fingerY = e.touches[0].clientY;
    this.fingerX = e.touches[0].clientX;
  }

  /** A screen that is higher than its box is moved first. @param {TouchEvent} e */
  handleSwipe(e) {
    if (e.touches.length !== 1) this.swipe = 'browser';
    if (this.swipe === 'browser' || !getSelection()?.isCollapsed) return;
    const finger = e.touches[0];
    const by = this.fingerY - finger.clientY;
    if (this.swipe === '') {
      const isAcross = Math.abs(finger.clientX - this.fingerX) > Math.abs(by);
      this.swipe = isAcross || this.canMoveScreen(by) ? 'browser' : 'program';
      if (this.swipe === 'browser') return;
    }
    e.preventDefault();
    e.stopImmediatePropagation();
    this.fingerY = finger.clientY;
    this.turnWheel(by / (rowsPerNotch * this.view.painter.row), finger);
  }

  /** @param {number} by */
  canMoveScreen(by) {
    const {screen, history} = this.view;
    return by < 0
      ? screen.scrollTop > history.height() + 1
      : screen.scrollTop + screen.clientHeight < screen.scrollHeight - 1;
  }

  /** @param {MouseEvent} e */
  handlePress(e) {
    if (e.shiftKey) placeCaret(e);
    if (!this.hasButtons(e)) return;
    e.preventDefault(); // it selects no text, and the field keeps the focus
    this.typing.focusPad();
    this.place = this.cellOf(e);
    if (e.button !== 0) {
      if (clicks[e.button]) this.typing.moveMouse(`${clicks[e.button]} ${this.place}`);
      return;
    }
    this.typing.moveMouse(`${modifiers(e)}press ${this.place}`);
    addEventListener('mousemove', this.moveListener);
    addEventListener('mouseup', this.releaseListener);
  }

  /** @param {MouseEvent} e */
  handleMove(e) {
    const place = this.cellOf(e);
    if (place === this.place || this.use() !== 'motion') return;
    this.place = place;
    this.typing.moveMouse(`${modifiers(e)}move ${place}`, true);
  }

  /** @param {MouseEvent} e */
  handleRelease(e) {
    if (e.button !== 0) return;
    this.end();
    this.typing.moveMouse(`${modifiers(e)}release ${this.cellOf(e)}`);
  }

  /** @param {MouseEvent} e */
  tap(e) {
    if (this.hasButtons(e)) this.typing.moveMouse(`click ${this.cellOf(e)}`);
  }

  /** The row and the column under at, or the nearest ones. @param {MouseEvent|Touch} at */
  cellOf({clientX, clientY}) {
    const {painter} = this.view;
    const box = painter.sheet.getBoundingClientRect();
    const within = (/** @type {number} */ n, /** @type {number} */ all) =>
      Math.min(Math.max(0, Math.floor(n)), all - 1);
    const row = within((clientY - box.top) / painter.row, painter.rows);
    return `${row},${within((clientX - box.left) / painter.cell, painter.cols)}`;
  }

  end() {
    removeEventListener('mousemove', this.moveListener);
    removeEventListener('mouseup', this.releaseListener);
    cancelAnimationFrame(this.frameDue);
    this.frameDue = 0;
  }
}

/** With Shift the browser would extend an older selection. @param {MouseEvent} e */
function placeCaret({clientX, clientY}) {
  const s = getSelection();
  if (!s?.isCollapsed) return;
  const at = document.caretRangeFromPoint?.(clientX, clientY);
  if (at) s.collapse(at.startContainer, at.startOffset);
}

/** @param {MouseEvent} e */
const modifiers = (e) => (e.ctrlKey ? 'ctrl-' : '') + (e.altKey ? 'alt-' : '');
