import {h, setText, setShown, orderChildren} from './dom.js';
import {makeRow} from './painter.js';
import {addLink, setWrap} from './copy.js';
import {foldRuns} from './sgr.js';
import {formatNumber} from './wording.js';

const pageRows = 200; // rows of one request
const margin = 30; // rows drawn above and below those in view
const maxRows = 6000; // rows kept here before those far away are dropped
const edge = 2; // pixels
// Pixels: Firefox lays out no more than 17.8 million, Chromium and Safari 33.5 million.
const maxHeight = 15e6;
const refreshOldestAfter = 5000; // lines printed since the oldest one was asked for
const maxSelected = 4000; // lines of a selection that stay drawn

/**
 * Rows that left the screen, above it. Their line numbers never change, so the reader stays in
 * place while the program prints on.
 */
export class Scrollback {
  first = 0; // line at the top of the region, and the line after its last
  last = 0;
  next = 0; // the line after the newest
  oldest = 0; // the first that is still kept
  askedAt = 0; // next when oldest was asked for
  cols = 0;
  /** @type {Map<number, string>} The text by line. */
  rows = new Map();
  /** @type {Map<number, Wrap>} The rows that continue in the next one, by line. */
  wraps = new Map();
  /** @type {Map<number, Link[]>} By line. */
  links = new Map();
  /** @type {Map<number, number>} How many lines a folded row takes, if more than one. */
  foldedHeights = new Map();
  /** @type {{at: number, sum: number}[] | null} The sums of tall by line; null until needed. */
  extraSums = null;
  /** @type {Map<number, HTMLElement>} By line. */
  drawn = new Map();
  /** @type {Set<number>} Lines that a search found. */
  hits = new Set();
  hit = -1; // the one that is shown
  isBack = false;
  failed = '';
  isFetching = false;
  isEnded = false;
  drawDue = 0;

  /**
   * box scrolls and holds the painter's sheet.
   * @param {HTMLElement} box @param {Painter} painter
   * @param {(fields: ReadFields) => Promise<ReadResult>} ask @param {(back: boolean) => void} moved
   */
  constructor(box, painter, ask, moved) {
    this.box = box;
    this.painter = painter;
    this.askRows = ask;
    this.onMove = moved;
    this.block = h('div', {class: 'rows'});
    this.region = h('div', {class: 'past'}, this.block);
    this.gap = h('p', {class: 'gap'});
    this.placeLabel = h('span', {});
    this.nowBar = h(
      'p',
      {class: 'back', hidden: true},
      this.placeLabel,
      h('button', {onclick: () => this.showNow()}, 'Back to now'),
    );
    box.prepend(this.region);
    this.scrollListener = () => this.handleScroll();
    this.keyListener = this.handleKey.bind(this);
    box.addEventListener('scroll', this.scrollListener, {passive: true});
    document.addEventListener('keydown', this.keyListener);
  }

  /** @param {Rows} m */
  update(m) {
    const line = m.line || 0;
    if (line === 0) return this.clear(0);
    if (this.cols !== m.cols) {
      // At another width every row wraps differently.
      const ago = this.isBack ? this.next - this.firstInView().line : 0;
      this.clear(line);
      this.cols = m.cols;
      this.askOldest(true).then(() => {
        if (ago > 0) this.box.scrollTop = this.topOf(Math.max(this.first, this.next - ago));
      });
    }
    this.growTo(line);
    if (this.hits.size > 0) this.markScreen();
    return undefined;
  }

  /** @param {number} next */
  growTo(next) {
    if (next === this.next) return;
    this.keepInView(() => {
      const reading = this.lineInView();
      this.next = Math.max(next, this.first);
      this.fitWindow(this.isBack ? reading : this.next);
    });
    if (!this.isBack && this.next - this.askedAt >= refreshOldestAfter) this.askOldest(true);
  }

  maxLines() {
    return Math.max(4 * pageRows, Math.floor(maxHeight / (this.painter.row || 1)));
  }

  /**
   * A browser limits the height of an element, so the region is a window of the lines from first
   * on, with reading in it.
   * @param {number} reading
   */
  fitWindow(reading) {
    const most = this.maxLines();
    const lowest = this.next - most;
    if (this.first < lowest)
      this.first = Math.min(Math.max(this.first, reading - Math.floor(most / 2)), lowest);
    this.last = Math.min(this.next, this.first + most);
    this.resizeRegion();
  }

  /** Moves the window if the reader is near its end and there are more lines. */
  slideWindow() {
    const near = 2 * margin * this.painter.row;
    const {scrollTop, clientHeight} = this.box;
    const up = scrollTop < near && this.first > this.oldest;
    const down = scrollTop + clientHeight > this.height() - near && this.last < this.next;
    if (!this.isBack || (!up && !down)) return false;
    this.keepInView(() => {
      const reading = this.lineInView();
      if (up) this.first = this.oldest;
      this.fitWindow(reading);
    });
    return true;
  }

  kept() {
    return [this.rows, this.wraps, this.links, this.foldedHeights];
  }

  /** @param {number} line */
  clear(line) {
    this.isBack = false;
    this.first = this.last = this.next = this.oldest = this.askedAt = line;
    this.cols = 0;
    for (const all of [...this.kept(), this.drawn]) all.clear();
    this.extraSums = null;
    this.block.replaceChildren();
    this.gap.remove();
    this.resizeRegion();
    this.showPlace();
  }

  /** @param {boolean} afresh */
  async askOldest(afresh) {
    const was = this.cols;
    this.askedAt = this.next;
    const r = await this.read({scrollback: 1});
    if (r && was === this.cols) this.keepInView(() => this.setOldest(r.oldestLine || 0, afresh));
  }

  /** @param {ReadFields} fields @returns {Promise<ReadResult|null>} */
  async read(fields) {
    try {
      const r = await this.askRows({...fields, attributes: true});
      this.failed = '';
      return r;
    } catch (e) {
      this.failed = e.message;
      this.showPlace();
      return null;
    }
  }

  /**
   * Rows that are being read stay, unless afresh is set.
   * @param {number} oldest @param {boolean} [afresh]
   */
  setOldest(oldest, afresh) {
    const reading = this.lineInView();
    this.oldest = oldest;
    if (afresh) {
      this.first = oldest;
      for (const all of this.kept())
        for (const line of all.keys()) if (line < oldest) all.delete(line);
      for (const [line, e] of this.drawn) if (line < oldest) this.removeRow(line, e);
      this.extraSums = null;
    }
    this.first = Math.min(this.first, oldest, this.next);
    this.fitWindow(reading);
  }

  /** @param {number} line */
  extraLines(line) {
    if (!this.extraSums) {
      let sum = 0;
      this.extraSums = [...this.foldedHeights]
        .sort((a, b) => a[0] - b[0])
        .map(([at, n]) => ({at, sum: (sum += n - 1)}));
    }
    let low = 0;
    let high = this.extraSums.length;
    while (low < high) {
      const mid = (low + high) >> 1;
      if (this.extraSums[mid].at < line) low = mid + 1;
      else high = mid;
    }
    return low > 0 ? this.extraSums[low - 1].sum : 0;
  }

  /** In CSS pixels. The gap note takes two lines at the top. @param {number} line */
  topOf(line) {
    return (
      (line -
        this.first +
        this.extraLines(line) +
        (this.first > 0 && this.next > this.first ? 2 : 0)) *
      this.painter.row
    );
  }

  height() {
    return this.topOf(this.last);
  }

  /** @param {number} y */
  lineAt(y) {
    let low = this.first;
    let high = this.last;
    while (low < high) {
      const mid = Math.ceil((low + high) / 2);
      if (this.topOf(mid) <= y) low = mid;
      else high = mid - 1;
    }
    return low;
  }

  resizeRegion() {
    this.region.style.height = this.height() + 'px';
    this.region.style.width = this.painter.sheet.style.width;
  }

  firstInView() {
    const line = this.lineAt(this.box.scrollTop);
    return {line, off: this.box.scrollTop - this.topOf(line)};
  }

  /** The newest while the reader is at the screen. */
  lineInView() {
    return this.isBack ? this.firstInView().line : this.next;
  }

  /** Keeps the rows in view in place while act moves them. @param {() => void} act */
  keepInView(act) {
    const at = this.isBack ? this.firstInView() : null;
    const behind = this.box.scrollTop - this.height();
    act();
    const to = at ? this.topOf(Math.max(at.line, this.first)) + at.off : this.height() + behind;
    // Setting it would stop a finger's scrolling.
    if (Math.abs(this.box.scrollTop - to) >= 1) this.box.scrollTop = to;
    this.draw();
  }

  /** @param {() => void} act */
  refit(act) {
    this.keepInView(() => {
      act();
      this.foldedHeights.clear();
      for (const [line, text] of this.rows) this.measureRow(line, text);
      this.extraSums = null;
      for (const [line, e] of this.drawn) this.removeRow(line, e);
      this.resizeRegion();
    });
  }

  /** @param {number} line @param {string} text */
  measureRow(line, text) {
    const n = this.painter.folded
      ? foldRuns(this.painter.splitRow(text), this.painter.folded).length
      : 1;
    if (n > 1) this.foldedHeights.set(line, n);
  }

  handleScroll() {
    const back = this.last > this.first && this.box.scrollTop < this.height() - edge;
    if (back !== this.isBack) {
      this.isBack = back;
      if (back) this.askOldest(true);
      this.onMove(back);
    }
    if (!this.drawDue)
      this.drawDue = requestAnimationFrame(() => {
        this.drawDue = 0;
        this.draw();
      });
  }

  draw() {
    this.showPlace();
    if (this.slideWindow()) return; // which draws
    const low = this.lineAt(this.box.scrollTop) - margin;
    const high = this.lineAt(this.box.scrollTop + this.box.clientHeight) + margin;
    const [from, to] = this.isBack ? this.drawnRange(low, high) : [0, 0];
    for (const [line, e] of this.drawn) if (line < from || line >= to) this.removeRow(line, e);
    let lacking = -1;
    let gone = -1;
    const rows = [];
    for (let line = from; line < to; line++) {
      rows.push(this.drawRow(line));
      if (this.rows.has(line)) continue;
      if (line < this.oldest) gone = line;
      else if (lacking < 0) lacking = line;
    }
    orderChildren(this.block, rows);
    this.block.style.top = this.topOf(from) + 'px';
    const atTop = low <= this.first && this.first <= this.oldest;
    this.showGap(gone < 0 && atTop ? this.first - 1 : gone);
    if (lacking >= 0) this.fetchRows(lacking);
  }

  /**
   * Rows of a selection stay, so that it can be copied.
   * @param {number} low @param {number} high
   */
  drawnRange(low, high) {
    let from = Math.max(low, this.first);
    let to = Math.min(high, this.last);
    const s = getSelection();
    if (s && !s.isCollapsed && this.drawn.size > 0)
      for (const [line, e] of this.drawn)
        if (e.contains(s.anchorNode) || e.contains(s.focusNode)) {
          from = Math.min(from, Math.max(line, to - maxSelected));
          to = Math.max(to, Math.min(line + 1, from + maxSelected));
        }
    return [from, to];
  }

  /** A row that has not arrived yet is blank. @param {number} line */
  drawRow(line) {
    let e = this.drawn.get(line);
    if (!e) {
      e = makeRow();
      this.painter.drawRow(e, this.rows.get(line) || '');
      const wrap = this.wraps.get(line);
      if (wrap) setWrap(e, wrap);
      for (const l of this.links.get(line) || []) addLink(e, l);
      this.drawn.set(line, e);
    }
    this.markHit(line, e);
    return e;
  }

  /** @param {number} line @param {HTMLElement} e */
  removeRow(line, e) {
    this.drawn.delete(line);
    e.remove();
  }

  /** @param {number} line */
  async fetchRows(line) {
    if (this.isFetching || this.failed) return;
    this.isFetching = true;
    const cols = this.cols;
    const from = Math.max(this.oldest, line - (line % pageRows));
    const r = await this.read({fromLine: from, scrollback: pageRows});
    this.isFetching = false;
    if (cols !== this.cols) return;
    if (!r) return void this.retry();
    if (r.frame && r.frame.blackout && r.frame.blackout.reason === 'user') return;
    const text = (r.nextLine || 0) > (r.firstLine || 0) ? (r.text || '').split('\n') : [];
    if (text.length === 0) return;
    this.keepInView(() => {
      const first = r.firstLine || 0;
      for (const w of r.wraps || []) this.wraps.set(first + w.row, w);
      for (const [row, links] of Map.groupBy(r.links || [], (l) => l.row))
        this.links.set(first + row, links);
      text.forEach((row, i) => {
        const at = first + i;
        const blank = !this.rows.has(at) && this.drawn.get(at);
        if (blank) this.removeRow(at, blank);
        this.rows.set(at, row);
        this.measureRow(at, row);
      });
      this.extraSums = null;
      this.forgetFar(line);
      this.setOldest(r.oldestLine || 0);
    });
  }

  async retry() {
    await new Promise((done) => setTimeout(done, 500));
    if (!this.isEnded) await this.askOldest(false);
  }

  /** @param {number} near */
  forgetFar(near) {
    if (this.rows.size <= maxRows) return;
    for (const line of this.rows.keys()) {
      if (Math.abs(line - near) < maxRows / 4) continue;
      for (const all of this.kept()) all.delete(line);
    }
  }

  /** @param {number} last */
  showGap(last) {
    if (last < 0 || !this.isBack) return this.gap.remove();
    let from = last;
    while (last + 1 < this.oldest && last >= this.first && !this.rows.has(last + 1)) last++;
    while (from > 0 && from > this.first && !this.rows.has(from - 1)) from--;
    if (from <= this.first) from = 0;
    setText(
      this.gap,
      from === last
        ? `line ${formatNumber(last + 1)} is no longer kept`
        : `lines ${formatNumber(from + 1)} to ${formatNumber(last + 1)} are no longer kept`,
    );
    const end = this.topOf(last + 1) - 2 * this.painter.row;
    this.gap.style.top =
      Math.max(0, Math.min(end, this.box.scrollTop + this.box.clientHeight / 3)) + 'px';
    if (!this.gap.parentNode) this.region.append(this.gap);
    return undefined;
  }

  showPlace() {
    setShown(this.nowBar, this.isBack);
    if (!this.isBack) return;
    const line = this.lineAt(this.box.scrollTop);
    setText(
      this.placeLabel,
      `line ${formatNumber(line + 1)} of ${formatNumber(this.next)}` +
        (this.failed ? `: ${this.failed}` : ''),
    );
  }

  showNow() {
    this.box.scrollTop = this.height();
    this.handleScroll();
    this.failed = '';
    this.keepInView(() => this.setOldest(this.oldest, true));
  }

  /**
   * below: CSS pixels from the top of the box.
   * @param {number} line @param {number} below
   */
  showLine(line, below) {
    this.first = Math.min(this.first, this.oldest);
    this.fitWindow(line);
    this.box.scrollTop = line > this.first ? this.topOf(line) - below : 0;
    this.handleScroll();
  }

  /** @param {string} match @param {number} rows @param {number} [fromLine] */
  search(match, rows, fromLine = this.oldest) {
    return this.askRows({match, fromLine, scrollback: rows});
  }

  /** @param {FoundRow[]} hits @param {number} line */
  setHits(hits, line) {
    this.hits = new Set(
      hits.flatMap((f) => Array.from({length: f.rows || 1}, (_, i) => f.line + i)),
    );
    this.hit = line;
    for (const [at, e] of this.drawn) this.markHit(at, e);
    this.markScreen();
  }

  markScreen() {
    [...this.painter.grid.children].forEach((e, i) => this.markHit(this.next + i, e));
  }

  /** @param {number} line @param {Element} e */
  markHit(line, e) {
    e.classList.toggle('hit', this.hits.has(line));
    e.classList.toggle('now', line === this.hit);
  }

  /** A line that is still on the screen shows there. @param {number} line */
  revealLine(line) {
    if (line >= this.next) this.showNow();
    else this.showLine(line, this.box.clientHeight / 3);
  }

  /** @param {KeyboardEvent} e */
  handleKey(e) {
    const by = {PageUp: -1, PageDown: 1, Home: -Infinity, End: Infinity}[e.key];
    if (!by || e.defaultPrevented || e.ctrlKey || e.altKey || e.metaKey || this.next === this.first)
      return;
    const t = /** @type {Element} */ (e.target);
    if (
      (t !== document.body && !this.box.closest('.session')?.contains(t)) ||
      t.matches('input, textarea, select')
    )
      return;
    e.preventDefault();
    if (by === Infinity) this.showNow();
    else if (by === -Infinity) this.showLine(Math.min(this.first, this.oldest), 0);
    else
      this.box.scrollTop +=
        by * (Math.floor(this.box.clientHeight / this.painter.row) - 2) * this.painter.row;
  }

  end() {
    this.isEnded = true;
    cancelAnimationFrame(this.drawDue);
    this.box.removeEventListener('scroll', this.scrollListener);
    document.removeEventListener('keydown', this.keyListener);
  }
}
