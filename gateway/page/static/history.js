// What was printed before the screen that is shown: it stands above it, and whoever scrolls up comes to it. Rows are told by their
// lasting line numbers and fetched in pages as they come into view, so that a place is kept while the program prints on.
import {h, put, show} from './dom.js';
import {rowElement} from './painter.js';
import {fold} from './sgr.js';

const page = 200; // rows of one request
const beyond = 30; // rows that are drawn above and below those in view
const most = 6000; // rows that are kept, before those far away are forgotten
const edge = 2; // pixels

const number = (n) => n.toLocaleString('en');

export class History {
  // box scrolls and holds painter's sheet; ask sends a terminal.read with these fields. moved is called as the reader goes back from now, and returns.
  constructor(box, painter, ask, moved) {
    Object.assign(this, {box, painter, ask, moved});
    this.first = this.next = this.oldest = 0; // lines: of the region, after its last one, the oldest that is kept
    this.rows = new Map(); // text by line
    this.tall = new Map(); // how many lines a row takes that is folded, where it is more than one
    this.drawn = new Map(); // elements by line
    this.back = false;
    this.region = h('div', {class: 'past'});
    this.gap = h('p', {class: 'gap'});
    this.where = h('span', {});
    this.bar = h('p', {class: 'back', hidden: true}, this.where, h('button', {onclick: () => this.now()}, 'Back to now'));
    box.prepend(this.region);
    this.scrolled = () => this.look();
    this.pressed = (e) => this.press(e);
    box.addEventListener('scroll', this.scrolled, {passive: true});
    document.addEventListener('keydown', this.pressed);
  }

  // update takes what a terminal.rows message says. The screen itself has been drawn.
  update(m) {
    const line = m.line || 0;
    if (line === 0) return this.clear(0);
    if (this.cols !== m.cols) { // all rows are others now
      const ago = this.back ? this.next - this.place().line : 0;
      this.clear(line);
      this.cols = m.cols;
      this.learn(true).then(() => { if (ago > 0) this.box.scrollTop = this.top(Math.max(this.first, this.next - ago)); });
    }
    this.grow(line);
    return undefined;
  }

  // grow makes room for lines that have left the screen.
  grow(next) {
    if (next === this.next) return;
    const was = this.height();
    this.next = Math.max(next, this.first);
    this.resize();
    if (!this.back) this.box.scrollTop += this.height() - was;
    this.draw();
  }

  clear(line) {
    this.back = false;
    this.first = this.next = this.oldest = line;
    this.cols = 0;
    for (const all of [this.rows, this.tall, this.drawn]) all.clear();
    this.bumps = null;
    this.region.replaceChildren();
    this.resize();
    this.tell();
  }

  // learn asks which lines there are.
  async learn(afresh) {
    const was = this.cols;
    const r = await this.read({scrollback: 1});
    if (r && was === this.cols) this.keeping(() => this.begin(r.oldestLine || 0, afresh));
  }

  // read asks for rows; a failure is said where the rows would stand.
  async read(fields) {
    try {
      const r = await this.ask({...fields, attributes: true});
      this.failed = '';
      return r;
    } catch (e) {
      this.failed = e.message;
      this.tell();
      return null;
    }
  }

  // begin takes over which line is the oldest one. What somebody has come to read stays, unless afresh is set.
  begin(oldest, afresh) {
    this.oldest = oldest;
    if (afresh) {
      this.first = oldest;
      for (const all of [this.rows, this.tall]) for (const line of all.keys()) if (line < oldest) all.delete(line);
      for (const [line, e] of this.drawn) if (line < oldest) this.undraw(line, e);
      this.bumps = null;
    }
    this.first = Math.min(this.first, oldest, this.next);
    this.resize();
  }

  // extra is how many lines more than one each the rows before a line take.
  extra(line) {
    if (!this.bumps) {
      let sum = 0;
      this.bumps = [...this.tall].sort((a, b) => a[0] - b[0]).map(([at, n]) => ({at, sum: sum += n - 1}));
    }
    let low = 0, high = this.bumps.length;
    while (low < high) {
      const mid = (low + high) >> 1;
      if (this.bumps[mid].at < line) low = mid + 1;
      else high = mid;
    }
    return low > 0 ? this.bumps[low - 1].sum : 0;
  }

  // top is where a line stands. Over the first one it is said what is not kept any more.
  top(line) { return (line - this.first + this.extra(line) + (this.first > 0 && this.next > this.first ? 2 : 0)) * this.painter.row; }

  height() { return this.top(this.next); }

  lineAt(y) {
    let low = this.first, high = this.next;
    while (low < high) {
      const mid = Math.ceil((low + high) / 2);
      if (this.top(mid) <= y) low = mid;
      else high = mid - 1;
    }
    return low;
  }

  resize() {
    this.region.style.height = this.height() + 'px';
    this.region.style.width = this.painter.sheet.style.width;
  }

  // place is the first line in view, and how much of it is not.
  place() {
    const line = this.lineAt(this.box.scrollTop);
    return {line, off: this.box.scrollTop - this.top(line)};
  }

  // keeping does something that moves rows, and brings back what stood in view. Behind the history that is the screen.
  keeping(act) {
    const at = this.back ? this.place() : null, behind = this.box.scrollTop - this.height();
    act();
    this.box.scrollTop = at ? this.top(Math.max(at.line, this.first)) + at.off : this.height() + behind;
    this.draw();
  }

  // refit is for letters of another size, and rows that are folded otherwise.
  refit(act) {
    this.keeping(() => {
      act();
      this.tall.clear();
      for (const [line, text] of this.rows) this.measure(line, text);
      this.bumps = null;
      for (const [line, e] of this.drawn) this.undraw(line, e);
      this.resize();
    });
  }

  measure(line, text) {
    const n = this.painter.folded ? fold(this.painter.runs(text), this.painter.folded).length : 1;
    if (n > 1) this.tall.set(line, n);
  }

  look() {
    const back = this.next > this.first && this.box.scrollTop < this.height() - edge;
    if (back !== this.back) {
      this.back = back;
      if (back) this.learn(true);
      this.moved(back);
    }
    if (!this.due) this.due = requestAnimationFrame(() => { this.due = 0; this.draw(); });
  }

  // draw shows the rows in view, and asks for those that are not here.
  draw() {
    this.tell();
    const low = this.lineAt(this.box.scrollTop) - beyond, high = this.lineAt(this.box.scrollTop + this.box.clientHeight) + beyond;
    const inView = this.back ? [Math.max(low, this.first), Math.min(high, this.next)] : [0, 0];
    for (const [line, e] of this.drawn) if (line < inView[0] || line >= inView[1]) this.undraw(line, e);
    let lacking = -1, gone = -1;
    for (let line = inView[0]; line < inView[1]; line++) {
      if (this.rows.has(line)) this.put(line);
      else if (line < this.oldest) gone = line;
      else if (lacking < 0) lacking = line;
    }
    this.sayGap(gone < 0 && low <= this.first ? this.first - 1 : gone);
    if (lacking >= 0) this.fetch(lacking);
  }

  put(line) {
    let e = this.drawn.get(line);
    if (!e) {
      e = rowElement();
      this.painter.draw(e, this.rows.get(line));
      this.drawn.set(line, e);
      this.region.append(e);
    }
    e.style.top = this.top(line) + 'px';
  }

  undraw(line, e) {
    this.drawn.delete(line);
    e.remove();
  }

  async fetch(line) {
    if (this.busy || this.failed) return;
    this.busy = true;
    const cols = this.cols, from = Math.max(this.oldest, line - line % page);
    const r = await this.read({fromLine: from, scrollback: page});
    this.busy = false;
    if (cols !== this.cols) return;
    if (!r) return void this.retry();
    if (r.frame && r.frame.blackout && r.frame.blackout.reason === 'user') return;
    const text = r.nextLine > (r.firstLine || 0) ? (r.text || '').split('\n') : [];
    if (text.length === 0) return;
    this.keeping(() => {
      text.forEach((row, i) => {
        this.rows.set((r.firstLine || 0) + i, row);
        this.measure((r.firstLine || 0) + i, row);
      });
      this.bumps = null;
      this.forget(line);
      this.begin(r.oldestLine || 0);
    });
  }

  // retry looks again after a failure: most often the rows asked for were no longer kept.
  async retry() {
    await new Promise((done) => setTimeout(done, 500));
    if (!this.ended) await this.learn(false);
  }

  forget(near) {
    if (this.rows.size <= most) return;
    for (const line of this.rows.keys()) {
      if (Math.abs(line - near) < most / 4) continue;
      this.rows.delete(line);
      this.tall.delete(line);
    }
  }

  // sayGap says in view which lines are not kept any more; one of them is given.
  sayGap(last) {
    if (last < 0 || !this.back) return this.gap.remove();
    let from = last;
    while (last + 1 < this.oldest && last >= this.first && !this.rows.has(last + 1)) last++;
    while (from > 0 && from > this.first && !this.rows.has(from - 1)) from--;
    if (from <= this.first) from = 0;
    put(this.gap, from === last ? `line ${number(last + 1)} is no longer kept` : `lines ${number(from + 1)} to ${number(last + 1)} are no longer kept`);
    const end = this.top(last + 1) - 2 * this.painter.row;
    this.gap.style.top = Math.max(0, Math.min(end, this.box.scrollTop + this.box.clientHeight / 3)) + 'px';
    if (!this.gap.parentNode) this.region.append(this.gap);
    return undefined;
  }

  // tell says where the reader is.
  tell() {
    show(this.bar, this.back);
    if (!this.back) return;
    const line = this.lineAt(this.box.scrollTop);
    put(this.where, `line ${number(line + 1)} of ${number(this.next)}` + (this.failed ? `: ${this.failed}` : ''));
  }

  // now goes back to the screen.
  now() {
    this.box.scrollTop = this.height();
    this.look();
    this.failed = '';
    this.keeping(() => this.begin(this.oldest, true));
  }

  // press is for keys that nobody else takes.
  press(e) {
    const by = {PageUp: -1, PageDown: 1, Home: -Infinity, End: Infinity}[e.key];
    if (!by || e.defaultPrevented || e.ctrlKey || e.altKey || e.metaKey || this.next === this.first) return;
    const t = e.target;
    if (t !== document.body && !this.box.closest('.session').contains(t) || t.matches('input, textarea, select')) return;
    e.preventDefault();
    if (by === Infinity) this.now();
    else if (by === -Infinity) this.box.scrollTop = 0;
    else this.box.scrollTop += by * (Math.floor(this.box.clientHeight / this.painter.row) - 2) * this.painter.row;
  }

  end() {
    this.ended = true;
    cancelAnimationFrame(this.due);
    this.box.removeEventListener('scroll', this.scrolled);
    document.removeEventListener('keydown', this.pressed);
  }
}
