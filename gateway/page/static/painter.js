// A screen as rows of spans on a grid of cells. Program text only ever becomes text nodes; looks are set through CSSOM, which the
// page's policy allows, and nothing here knows where rows come from.
import {runs, fold, cellAt, plain, DIRECT} from './sgr.js';

const hex = (n) => '#' + n.toString(16).padStart(6, '0');
const cube = [0, 95, 135, 175, 215, 255];

// palette is the 256 colours whose first 16 are given.
export function palette(first) {
  const all = [...first];
  for (let i = 0; i < 216; i++) all.push(hex(cube[Math.floor(i / 36)] << 16 | cube[Math.floor(i / 6) % 6] << 8 | cube[i % 6]));
  for (let i = 0; i < 24; i++) all.push(hex((8 + 10 * i) * 0x10101));
  return all;
}

export const dark = {
  foreground: '#e6e9ec', background: '#0a0c0e', light: false,
  colors: palette(['#2a3036', '#ef6b73', '#a3d065', '#e2b45a', '#7aa2f7', '#c792ea', '#5cc8d7', '#c9d1d9',
    '#7d8790', '#ff8f96', '#bde88a', '#ffd27d', '#9dbbff', '#dcb3ff', '#86e1ec', '#ffffff']),
};
export const light = {
  foreground: '#1b1e22', background: '#fdfdfb', light: true,
  colors: palette(['#1b1e22', '#b3261e', '#3d7a1f', '#8a5a00', '#2456b8', '#8b2fa8', '#0b7080', '#d0d4d8',
    '#6b727a', '#c8322a', '#4a8a28', '#9a6700', '#2f67d4', '#9d3dbd', '#0d8091', '#ffffff']),
};

const parts = (c) => [1, 3, 5].map((i) => parseInt(c.slice(i, i + 2), 16));
const mix = (a, b, share) => {
  const [x, y] = [parts(a), parts(b)];
  return hex(x.reduce((n, v, i) => n * 256 + Math.trunc(share * v + (1 - share) * y[i] + 1e-9), 0));
};
// luminance and contrast are those of WCAG 2.
const luminance = (c) => {
  const [r, g, b] = parts(c).map((v) => (v /= 255) <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
};
export const contrast = (a, b) => {
  const [x, y] = [luminance(a), luminance(b)];
  return (Math.max(x, y) + 0.05) / (Math.min(x, y) + 0.05);
};

// legible darkens a colour that a program chose for a black terminal until it can be read on a light page.
function legible(fg, bg) {
  for (let share = 1; share > 0.1; share -= 0.1) {
    const c = mix(fg, '#000000', share);
    if (contrast(c, bg) >= 4.5) return c;
  }
  return '#000000';
}

const lines = ['none', 'solid', 'double', 'wavy', 'dotted', 'dashed'];

// measured are characters beyond ASCII and whether the font draws them as wide as a letter; scripts that shape their letters or run
// from right to left are never asked about.
const steady = /^[\u00a1-\u024f\u0370-\u0482\u048a-\u052f\u2010-\u2027\u2030-\u205e\u2070-\u23ff\u2500-\u27bf\u27f0-\u2bff]$/;

export class Painter {
  // root is the element that becomes the grid. theme is dark, light or one like them.
  constructor(root, theme) {
    this.root = root;
    this.theme = theme;
    this.lines = [];
    this.state = {};
    this.cols = this.rows = 0;
    this.folded = 0; // columns after which rows go on in another line; 0 for never
    this.sheet = document.createElement('div');
    this.sheet.className = 'sheet';
    this.grid = document.createElement('div');
    this.cursor = document.createElement('span');
    this.cursor.setAttribute('aria-hidden', 'true');
    this.sheet.append(this.grid);
    root.replaceChildren(this.sheet);
    this.looks = new Map();
    this.even = new Map();
    this.pen = document.createElement('canvas').getContext('2d');
    this.painted = 0; // rows drawn so far: tests ask
  }

  // size makes the letters so many CSS pixels high. A cell gets a whole number of 64ths of a pixel, in which browsers lay out, so that
  // no column drifts; the letters are spaced by what is lacking.
  size(px) {
    const style = this.root.style;
    style.setProperty('--font', px + 'px');
    // The root need not be in the page yet.
    const probe = document.createElement('span'), host = document.createElement('div');
    host.className = 'screen probe';
    host.style.setProperty('--font', px + 'px');
    probe.textContent = '0'.repeat(100);
    host.append(probe);
    document.body.append(host);
    const box = probe.getBoundingClientRect();
    const css = getComputedStyle(probe), font = `${css.fontSize} ${css.fontFamily}`;
    host.remove();
    const letter = box.width / 100;
    this.cell = Math.floor(letter * 64) / 64;
    this.row = Math.round(Math.min(Math.max(box.height, px * 1.1), px * 1.4));
    this.letter = letter;
    style.setProperty('--cw', this.cell + 'px');
    style.setProperty('--rh', this.row + 'px');
    style.setProperty('--gap', this.cell - letter + 'px');
    if (this.pen.font !== font) {
      this.pen.font = font;
      this.even.clear();
    }
    this.px = px;
    this.measure();
  }

  measure() {
    this.sheet.style.width = (this.folded || this.cols) * this.cell + 'px';
    this.sheet.style.height = this.folded ? '' : this.rows * this.row + 'px';
    this.place();
  }

  // foldAt has rows go on in another line after so many columns; 0 has them not.
  foldAt(columns) {
    if (columns === this.folded) return;
    this.folded = columns;
    this.root.classList.toggle('folded', columns > 0);
    this.lines.forEach((_, i) => this.paint(i));
    this.measure();
  }

  // fits is the size of letters with which so many columns are as wide as that.
  fits(width) {
    return this.cell ? this.px * width / (this.cols * this.letter) : 13;
  }

  isEven(c) {
    if (!steady.test(c)) return false;
    let even = this.even.get(c);
    if (even === undefined) {
      even = Math.abs(this.pen.measureText(c).width - this.pen.measureText('0').width) < 0.01;
      this.even.set(c, even);
    }
    return even;
  }

  // show takes a terminal.rows message. It returns false for a difference to something that is not there.
  show(m) {
    if (m.since && (m.since !== this.seq || m.cols !== this.cols)) return false;
    const state = m.state || this.state;
    const repaint = this.differs(state);
    this.state = state;
    let next = m.since ? moved(this.lines, m.moved || 0) : (m.lines || []).slice();
    for (const {row, text} of m.changed || []) next[row] = text;
    next = Array.from({length: m.rows}, (_, i) => next[i] || '');
    if (m.since && m.moved && !repaint) this.move(m.moved);
    if (m.cols !== this.cols || m.rows !== this.rows) {
      [this.cols, this.rows] = [m.cols, m.rows];
      while (this.grid.children.length > m.rows) this.grid.lastChild.remove();
      while (this.grid.children.length < m.rows) this.grid.append(rowElement());
      this.measure();
    }
    const was = this.lines;
    this.lines = next;
    next.forEach((text, i) => {
      if (repaint || text !== was[i]) this.paint(i);
    });
    this.seq = m.seq;
    this.at = m.cursor;
    this.place();
    return true;
  }

  // differs takes over what the program made of the palette, and says whether that changes rows which stand.
  differs(state) {
    const now = JSON.stringify([state.palette || [], !!state.clusters, !!state.reverse]);
    if (now === this.known) return false;
    this.known = now;
    this.recolour(state);
    return true;
  }

  recolour({palette: changes = [], reverse = false}) {
    this.reverse = reverse;
    this.own = {foreground: this.theme.foreground, background: this.theme.background};
    this.colors = [...this.theme.colors];
    for (const {name, rgb} of changes) {
      if (!/^#[0-9a-f]{6}$/.test(rgb)) continue;
      if (name in this.own) this.own[name] = rgb;
      else if (/^\d{1,3}$/.test(name) && name < 256) this.colors[name] = rgb;
    }
    this.looks.clear();
    this.root.style.color = reverse ? this.own.background : this.own.foreground;
    this.root.style.backgroundColor = reverse ? this.own.foreground : this.own.background;
  }

  // retheme draws everything anew in another theme.
  retheme(theme) {
    this.theme = theme;
    this.recolour(this.state);
    this.lines.forEach((_, i) => this.paint(i));
    this.place();
  }

  // move brings rows up by n, down if it is negative; what comes in is blank.
  move(n) {
    this.lines = moved(this.lines, n);
    for (let i = 0; i < Math.min(Math.abs(n), this.rows); i++) {
      const gone = n > 0 ? this.grid.firstChild : this.grid.lastChild;
      gone.replaceChildren();
      if (n > 0) this.grid.append(gone);
      else this.grid.prepend(gone);
    }
  }

  runs(text) {
    return runs(text || '', (c) => this.isEven(c), !!this.state.clusters);
  }

  paint(i) {
    this.painted++;
    this.draw(this.grid.children[i], this.lines[i]);
  }

  // draw fills a row's element, and returns how many lines it takes.
  draw(row, text) {
    const all = this.runs(text);
    if (!this.folded) {
      row.replaceChildren(...all.map((r) => this.piece(r)));
      return 1;
    }
    const lines = fold(all, this.folded);
    row.replaceChildren(...lines.map((line) => {
      const e = document.createElement('div');
      e.className = 'line';
      e.append(...line.runs.map((r) => this.piece(r)));
      return e;
    }));
    return lines.length;
  }

  piece(r) {
    const text = r.style.conceal ? ' '.repeat(r.cols) : r.text;
    if (r.style === plain && r.even) return document.createTextNode(text);
    const span = document.createElement('span');
    this.dress(span, r.style, r.even, r.cols);
    span.textContent = text;
    return span;
  }

  dress(span, style, even, cols) {
    // Letters of the plain face have their columns by themselves, and that is quick. A bold one may be of another width, and a
    // background fills its cells only in a box.
    if (!even || style.bold || style.italic || this.filled(style)) {
      span.className = even ? 'run' : 'run one';
      span.style.setProperty('--n', cols);
    }
    for (const [name, value] of this.look(style)) span.style[name] = value;
  }

  // filled says whether a style has another background than the screen.
  filled(s) { return s.bg >= 0 || s.inverse || this.reverse && s.fg >= 0; }

  // colour is that of a style's foreground, background or line.
  colour(c, own) {
    if (c < 0) return own;
    return c >= DIRECT ? hex(c - DIRECT) : this.colors[c];
  }

  // resolve says in which colours a style is drawn: inverse, bold as bright and faint are decided here.
  resolve(s) {
    let fg = this.colour(s.bold && s.fg >= 0 && s.fg < 8 ? s.fg + 8 : s.fg, this.own.foreground);
    let bg = this.colour(s.bg, this.own.background);
    if (this.theme.light && s.fg >= 0 && s.bg < 0) fg = legible(fg, bg);
    if (this.theme.light && s.fg < 0 && s.bg >= 0 && contrast(fg, bg) < 4.5 && contrast('#ffffff', bg) > contrast(fg, bg)) fg = '#ffffff';
    if (s.inverse !== this.reverse) [fg, bg] = [bg, fg];
    if (s.faint) fg = mix(fg, bg, 0.6);
    return {fg, bg, line: this.colour(s.line, fg)};
  }

  // look is a style as CSS.
  look(s) {
    let css = this.looks.get(s);
    if (css) return css;
    const c = this.resolve(s);
    css = [['color', c.fg]];
    if (this.filled(s)) css.push(['backgroundColor', c.bg]);
    if (s.bold) css.push(['fontWeight', 'bold']);
    if (s.italic) css.push(['fontStyle', 'italic']);
    const drawn = s.conceal ? [] : [s.underline && 'underline', s.strike && 'line-through', s.overline && 'overline'].filter(Boolean);
    if (drawn.length > 0) css.push(['textDecorationLine', drawn.join(' ')]);
    if (s.underline && !s.conceal) css.push(['textDecorationStyle', lines[s.underline]], ['textDecorationColor', c.line]);
    this.looks.set(s, css);
    return css;
  }

  // spot is where a cell begins, in pixels of the sheet.
  spot(row, col) {
    if (!this.folded) return {x: col * this.cell, y: row * this.row};
    const lines = fold(this.runs(this.lines[row]), this.folded), i = lines.findLastIndex((line) => line.from <= col);
    const more = Math.floor((col - lines[i].from) / this.folded); // behind the end of the text
    return {x: (col - lines[i].from - more * this.folded) * this.cell, y: this.grid.children[row].offsetTop + i * this.row};
  }

  // place puts the cursor over its cell, of which a block shows the text.
  place() {
    const at = this.at;
    if (!at || !at.visible || !this.cell) {
      this.cursor.remove();
      return;
    }
    const cell = cellAt(this.runs(this.lines[at.row]), at.col), c = this.resolve(cell.style), place = this.spot(at.row, cell.col);
    const own = this.reverse ? this.own.background : this.own.foreground, style = this.cursor.style;
    this.cursor.className = 'cursor ' + (at.shape || 'block');
    style.left = place.x + 'px';
    style.top = place.y + 'px';
    style.setProperty('--n', cell.cols);
    this.cursor.textContent = at.shape || cell.style.conceal ? '' : cell.text;
    style.backgroundColor = at.shape || c.fg === c.bg ? own : c.fg;
    style.color = c.bg;
    style.fontWeight = cell.style.bold ? 'bold' : '';
    style.fontStyle = cell.style.italic ? 'italic' : '';
    if (!this.cursor.parentNode) this.sheet.append(this.cursor);
  }
}

export function rowElement() {
  const row = document.createElement('div');
  row.className = 'row';
  return row;
}

// moved is lines brought up by n, down if it is negative.
function moved(lines, n) {
  if (!n) return lines.slice();
  const blank = Array(Math.min(Math.abs(n), lines.length)).fill('');
  return n > 0 ? [...lines.slice(n), ...blank] : [...blank, ...lines.slice(0, n)];
}
