import {h, setText, setShown} from './dom.js';

// Sizes of letters, in CSS pixels.
const largest = 20;
const smallest = 8; // that fit the width
const legible = 11; // on a phone
const shortest = 9; // below which a low window scrolls
const least = 5; // of a pinch
const greatest = 28;
const padding = 14; // pixels of the box, both sides together

/** Makes letters as large as fits, and legible on a phone. */
export class ScreenFit {
  /** @type {FitMode} */
  mode = 'follow';
  pinched = 0; // px of letters after a pinch, 0 before one
  isHeld = false;
  isSmall = false; // letters that fit the width would be too small
  pinchSpan = 0; // px between the fingers at the start of a pinch, and of letters then
  pinchFrom = 0;
  /** @type {boolean | undefined} */
  isAlt;

  /**
   * box scrolls and holds the painter's sheet, with the history above it.
   * @param {HTMLElement} frame @param {HTMLElement} box @param {Painter} painter
   * @param {ScrolledBack} history
   */
  constructor(frame, box, painter, history) {
    this.frame = frame;
    this.box = box;
    this.painter = painter;
    this.history = history;
    const button = (/** @type {() => void} */ act) => h('button', {class: 'plain', onclick: act});
    this.wholeButton = button(() => this.setMode(this.mode === 'whole' ? 'follow' : 'whole'));
    this.foldButton = button(() => this.setMode(this.mode === 'fold' ? 'follow' : 'fold'));
    this.followButton = button(() => this.followAgain());
    setText(this.followButton, 'Follow the cursor');
    this.buttons = h('div', {class: 'fits'}, this.wholeButton, this.foldButton, this.followButton);
    box.addEventListener('wheel', () => this.holdPlace(), {passive: true});
    box.addEventListener('touchstart', (e) => this.startPinch(e), {passive: true});
    box.addEventListener('touchmove', (e) => this.handleTouchMove(e), {passive: false});
    box.addEventListener('touchend', () => this.endPinch(), {passive: true});
    box.addEventListener('touchcancel', () => this.endPinch(), {passive: true});
    this.showButtons();
  }

  /** @param {FitMode} mode */
  setMode(mode) {
    this.mode = mode;
    this.pinched = 0;
    this.isHeld = false;
    this.fitLetters();
  }

  followAgain() {
    this.isHeld = false;
    this.history.showNow();
    this.followCursor();
    this.showButtons();
  }

  /**
   * A full-screen program is never folded.
   * @param {{alt?: boolean}|undefined} state @param {boolean} sized
   */
  update(state, sized) {
    const alt = !!(state && state.alt);
    if (alt !== this.isAlt || sized) {
      this.isAlt = alt;
      this.fitLetters();
    } else {
      if (this.painter.folded) this.boundHeight();
      this.followCursor();
    }
  }

  isFolding() {
    return this.mode === 'fold' && !this.isAlt;
  }

  fitLetters() {
    const {box, painter} = this;
    if (!painter.cols) return;
    this.history.refit(() => {
      box.style.maxHeight = '';
      const room = box.clientWidth - padding;
      let px = Math.min(painter.sizeToFit(room), largest);
      this.isSmall = px < smallest;
      if (this.pinched || (this.isSmall && this.mode !== 'whole')) px = this.pinched || legible;
      this.setLetters(px);
      const high = box.clientHeight - padding;
      if (!this.isSmall && !this.pinched && painter.rows * painter.row > high)
        this.setLetters(Math.max((px * high) / (painter.rows * painter.row), shortest));
      painter.foldAt(this.isFolding() ? Math.max(10, Math.floor(room / painter.cell)) : 0);
      this.boundHeight();
    });
    this.followCursor();
    this.showButtons();
  }

  boundHeight() {
    this.box.style.maxHeight = this.painter.sheet.offsetHeight + padding + 'px';
  }

  /** @param {number} px */
  setLetters(px) {
    px = Math.floor(px * 8) / 8;
    if (px > 0 && px !== this.painter.px) this.painter.setSize(px);
  }

  showButtons() {
    const small = !!this.isSmall || this.pinched > 0;
    setShown(this.wholeButton, small);
    setText(
      this.wholeButton,
      this.mode === 'whole' && !this.pinched ? 'Larger, follow the cursor' : 'Fit to width',
    );
    setShown(this.foldButton, small && !this.isAlt);
    setText(this.foldButton, this.mode === 'fold' ? 'Do not wrap lines' : 'Wrap lines');
    setShown(this.followButton, !!this.isHeld && !this.history.isBack);
  }

  /** Until a finger moves the screen. */
  followCursor() {
    const {box, painter} = this;
    const {cursorAt, cell, row} = painter;
    if (this.isHeld || this.history.isBack || !cursorAt || !cursorAt.visible) return;
    const {x, y} = painter.spotOf(cursorAt.row, cursorAt.col);
    const above = this.history.height();
    const edge = 8 * cell;
    if (x < box.scrollLeft + edge) box.scrollLeft = x - edge;
    else if (x + edge > box.scrollLeft + box.clientWidth)
      box.scrollLeft = x + edge - box.clientWidth;
    if (above + y < box.scrollTop) box.scrollTop = above + y;
    else if (above + y + row + padding > box.scrollTop + box.clientHeight)
      box.scrollTop = above + y + row + padding - box.clientHeight;
  }

  holdPlace() {
    const {box, painter} = this;
    const larger =
      painter.sheet.offsetHeight + padding > box.clientHeight + 1 ||
      painter.sheet.offsetWidth + padding > box.clientWidth + 1;
    if (this.isHeld || !larger) return;
    this.isHeld = true;
    this.showButtons();
  }

  /** @param {TouchEvent} e */
  startPinch(e) {
    if (e.touches.length !== 2) return;
    this.pinchSpan = touchDistance(e.touches);
    this.pinchFrom = this.painter.px;
  }

  /** @param {TouchEvent} e */
  handleTouchMove(e) {
    if (e.touches.length !== 2) return this.holdPlace();
    e.preventDefault(); // or the browser zooms the page
    const px = Math.min(
      Math.max((this.pinchFrom * touchDistance(e.touches)) / this.pinchSpan, least),
      greatest,
    );
    if (Math.abs(px - this.painter.px) < 0.25) return undefined;
    const [x, y] = this.middleOf(e.touches);
    const {box, history} = this;
    const was = this.painter.px;
    const left = box.scrollLeft + x;
    const below = box.scrollTop - history.height() + y;
    this.pinched = px;
    this.isHeld = true;
    this.fitLetters();
    box.scrollLeft = (left * this.painter.px) / was - x;
    if (!history.isBack) box.scrollTop = history.height() + (below * this.painter.px) / was - y;
    return undefined;
  }

  endPinch() {
    this.pinchSpan = 0;
  }

  /** @param {TouchList} touches */
  middleOf(touches) {
    const r = this.box.getBoundingClientRect();
    return [
      (touches[0].clientX + touches[1].clientX) / 2 - r.left,
      (touches[0].clientY + touches[1].clientY) / 2 - r.top,
    ];
  }
}

/** @param {TouchList} t */
const touchDistance = (t) => Math.hypot(t[0].clientX - t[1].clientX, t[0].clientY - t[1].clientY);
