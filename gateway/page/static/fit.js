// How large a screen's letters are, and what of it is in view: as large as has room, or to be read on a phone, where it is followed,
// moved with a finger, pinched, or folded to the width.
import {h, put, show} from './dom.js';

// Letters, in CSS pixels: the largest, the smallest that still fit the width, those of a phone, those below which a low window is
// scrolled, and the bounds of a pinch.
const largest = 15, smallest = 8, legible = 11, shortest = 10, least = 5, greatest = 28;
const padding = 14; // of the box, both sides together

export class Fit {
  // frame holds box, which scrolls and holds painter's sheet; history stands above that.
  constructor(frame, box, painter, history) {
    Object.assign(this, {frame, box, painter, history});
    this.mode = 'follow'; // or whole, fold; what a finger or the wheel has moved stays until it is let go: held
    this.pinched = 0; // letters as pinched, 0 for by themselves
    const button = (act) => h('button', {class: 'plain', onclick: act});
    this.whole = button(() => this.turn(this.mode === 'whole' ? 'follow' : 'whole'));
    this.folds = button(() => this.turn(this.mode === 'fold' ? 'follow' : 'fold'));
    this.follows = button(() => this.release());
    put(this.follows, 'Follow the cursor');
    this.buttons = h('div', {class: 'fits'}, this.whole, this.folds, this.follows);
    for (const name of ['wheel', 'touchstart', 'touchmove', 'touchend', 'touchcancel']) {
      box.addEventListener(name, (e) => this[name](e), {passive: name !== 'touchmove'});
    }
    this.touches = 0;
    this.tell();
  }

  turn(mode) {
    this.mode = mode;
    this.pinched = 0;
    this.held = false;
    this.fit();
  }

  release() {
    this.held = false;
    this.history.now();
    this.follow();
    this.tell();
  }

  // update is for another screen: a folded one that becomes a picture is unfolded.
  update(state, sized) {
    const alt = !!(state && state.alt);
    if (alt !== this.alt || sized) {
      this.alt = alt;
      this.fit();
    } else {
      if (this.painter.folded) this.bound();
      this.follow();
    }
  }

  folding() { return this.mode === 'fold' && !this.alt; }

  // fit makes the letters so large that the screen has room, or, where they could not be read then, large enough to be read.
  fit() {
    const {box, painter} = this;
    if (!painter.cols) return;
    this.history.refit(() => {
      box.style.maxHeight = '';
      const room = box.clientWidth - padding;
      let px = Math.min(painter.fits(room), largest);
      this.small = px < smallest;
      if (this.pinched || this.small && this.mode !== 'whole') px = this.pinched || legible;
      this.letters(px);
      const high = box.clientHeight - padding;
      if (!this.small && !this.pinched && painter.rows * painter.row > high) this.letters(Math.max(px * high / (painter.rows * painter.row), shortest));
      painter.foldAt(this.folding() ? Math.max(10, Math.floor(room / painter.cell)) : 0);
      this.bound();
    });
    this.follow();
    this.tell();
  }

  // bound makes the box no higher than the screen: what stands above it is there for who scrolls.
  bound() { this.box.style.maxHeight = this.painter.sheet.offsetHeight + padding + 'px'; }

  letters(px) {
    px = Math.floor(px * 8) / 8;
    if (px > 0 && px !== this.painter.px) this.painter.size(px);
  }

  tell() {
    const small = !!this.small || this.pinched > 0;
    show(this.whole, small);
    put(this.whole, this.mode === 'whole' && !this.pinched ? 'Larger, follow the cursor' : 'Fit to width');
    show(this.folds, small && !this.alt);
    put(this.folds, this.mode === 'fold' ? 'Do not wrap lines' : 'Wrap lines');
    show(this.follows, !!this.held && !this.history.back);
  }

  // follow keeps the cursor in view where the screen is larger than the room for it, until a finger moves it.
  follow() {
    const {box, painter} = this, {at, cell, row} = painter;
    if (this.held || this.history.back || !at || !at.visible) return;
    const {x, y} = painter.spot(at.row, at.col), above = this.history.height(), edge = 8 * cell;
    if (x < box.scrollLeft + edge) box.scrollLeft = x - edge;
    else if (x + edge > box.scrollLeft + box.clientWidth) box.scrollLeft = x + edge - box.clientWidth;
    if (above + y < box.scrollTop) box.scrollTop = above + y;
    else if (above + y + row + padding > box.scrollTop + box.clientHeight) box.scrollTop = above + y + row + padding - box.clientHeight;
  }

  // hold leaves the screen where a person has moved it.
  hold() {
    const {box, painter} = this;
    const larger = painter.sheet.offsetHeight + padding > box.clientHeight + 1 || painter.sheet.offsetWidth + padding > box.clientWidth + 1;
    if (this.held || !larger) return;
    this.held = true;
    this.tell();
  }

  wheel() { this.hold(); }

  touchstart(e) {
    if (e.touches.length !== 2) return;
    this.span = span(e.touches);
    this.from = this.painter.px;
  }

  touchmove(e) {
    if (e.touches.length !== 2) return this.hold();
    e.preventDefault(); // the page's own zoom
    const px = Math.min(Math.max(this.from * span(e.touches) / this.span, least), greatest);
    if (Math.abs(px - this.painter.px) < 0.25) return undefined;
    const [x, y] = this.middle(e.touches), {box, history} = this, was = this.painter.px;
    const left = box.scrollLeft + x, below = box.scrollTop - history.height() + y;
    this.pinched = px;
    this.held = true;
    this.fit();
    box.scrollLeft = left * this.painter.px / was - x;
    if (!history.back) box.scrollTop = history.height() + below * this.painter.px / was - y;
    return undefined;
  }

  touchend() { this.span = 0; }

  touchcancel() { this.span = 0; }

  middle(touches) {
    const r = this.box.getBoundingClientRect();
    return [(touches[0].clientX + touches[1].clientX) / 2 - r.left, (touches[0].clientY + touches[1].clientY) / 2 - r.top];
  }
}

const span = (t) => Math.hypot(t[0].clientX - t[1].clientX, t[0].clientY - t[1].clientY);
