import {addLink, clearLinks, clearWrap, setWrap, enableCopying} from './copy.js';
import {
  toHexColor,
  mixColors,
  contrastOf,
  darkenToRead,
  makeLegible,
  leastContrast,
} from './colors.js';
import {shapeOf, splitBlocks, drawBlock} from './blocks.js';
import {splitRuns, foldRuns, findCell, plain, DIRECT} from './sgr.js';

const underlines = ['none', 'solid', 'double', 'wavy', 'dotted', 'dashed'];

// Characters whose width in the font can be measured one by one: scripts that shape their letters
// or run from right to left are left out.
const measurable = new RegExp(
  '^[\u00a1-\u024f\u0370-\u0482\u048a-\u052f\u2010-\u2027\u2030-\u205e' +
    '\u2070-\u23ff\u2500-\u27bf\u27f0-\u2bff]$',
);

// Lines, blocks and Powerline's shapes, which programs use for pictures in colours of their own.
const drawing = /^[\u2500-\u259f\ue0a0-\ue0d7\u{1fb00}-\u{1fbaf} ]+$/u;

/** Program text becomes text nodes only. */
export class Painter {
  /** @type {string[]} */
  lines = [];
  /** @type {Partial<ViewState>} */
  state = {};
  cols = 0;
  rows = 0;
  folded = 0; // columns after which rows fold; 0 for never
  cell = 0; // CSS pixels: a cell's width and height, a letter's width, the font's size
  row = 0;
  letter = 0;
  px = 0;
  seq = 0;
  /** @type {Cursor | null} */
  cursorAt = null;
  paletteKey = '';
  isReversed = false;
  /** @type {{[name: string]: string}} The terminal's own foreground and background. */
  ownColors = {};
  /** @type {string[]} */
  colors = [];
  /** @type {Map<Style, Partial<CSSStyleDeclaration>>} */
  cssByStyle = new Map();
  /** @type {Map<Style, Partial<CSSStyleDeclaration>>} Of runs that only draw. */
  cssOfDrawings = new Map();
  /** @type {Map<string, boolean>} Whether the font draws a character as wide as a letter. */
  evenCharacters = new Map();
  measurer = /** @type {CanvasRenderingContext2D} */ (
    document.createElement('canvas').getContext('2d')
  );
  /** @type {Map<string, number>} How much of its cells the font needs for a character. */
  shareOfCells = new Map();
  painted = 0; // rows drawn so far, for tests

  /** @param {HTMLElement} root @param {Theme} theme */
  constructor(root, theme) {
    this.root = root;
    this.theme = theme;
    this.sheet = document.createElement('div');
    this.sheet.className = 'sheet';
    this.grid = document.createElement('div');
    this.cursor = document.createElement('span');
    this.cursor.setAttribute('aria-hidden', 'true');
    this.sheet.append(this.grid);
    root.replaceChildren(this.sheet);
    enableCopying(root);
  }

  /**
   * px: CSS pixels. Browsers lay out in 64ths of a pixel, so a cell is a whole number of them and
   * letter spacing makes up the rest: no column drifts.
   * @param {number} px
   */
  setSize(px) {
    const style = this.root.style;
    style.setProperty('--font', px + 'px');
    // Measured outside the root, which may not be in the page yet.
    const probe = document.createElement('span');
    const host = document.createElement('div');
    host.className = 'screen probe';
    host.style.setProperty('--font', px + 'px');
    probe.textContent = '0'.repeat(100);
    host.append(probe);
    document.body.append(host);
    const box = probe.getBoundingClientRect();
    const css = getComputedStyle(probe);
    const font = `${css.fontSize} ${css.fontFamily}`;
    host.remove();
    const letter = box.width / 100;
    this.cell = Math.floor(letter * 64) / 64;
    this.row = Math.round(Math.min(Math.max(box.height, px * 1.1), px * 1.4));
    this.letter = letter;
    style.setProperty('--cw', this.cell + 'px');
    style.setProperty('--rh', this.row + 'px');
    style.setProperty('--gap', this.cell - letter + 'px');
    if (this.measurer.font !== font) {
      this.measurer.font = font;
      this.evenCharacters.clear();
      this.shareOfCells.clear();
    }
    this.px = px;
    this.measureSheet();
  }

  measureSheet() {
    this.sheet.style.width = (this.folded || this.cols) * this.cell + 'px';
    this.sheet.style.height = this.folded ? '' : this.rows * this.row + 'px';
    this.placeCursor();
  }

  /** 0 unfolds. @param {number} columns */
  foldAt(columns) {
    if (columns === this.folded) return;
    this.folded = columns;
    this.root.classList.toggle('folded', columns > 0);
    this.lines.forEach((_, i) => this.paintRow(i));
    this.measureSheet();
  }

  /** @param {number} width */
  sizeToFit(width) {
    return this.cell ? (this.px * width) / (this.cols * this.letter) : 13;
  }

  /** @param {string} c */
  isEven(c) {
    if (!measurable.test(c)) return false;
    let even = this.evenCharacters.get(c);
    if (even === undefined) {
      even =
        Math.abs(this.measurer.measureText(c).width - this.measurer.measureText('0').width) < 0.01;
      this.evenCharacters.set(c, even);
    }
    return even;
  }

  /** Returns false for changes to a screen that the page does not have. @param {RowsToPaint} m */
  show(m) {
    if (m.since && (m.since !== this.seq || m.cols !== this.cols)) return false;
    const state = m.state || this.state;
    const repaint = this.takePalette(state);
    this.state = state;
    let next = m.since ? moveLines(this.lines, m.moved || 0) : (m.lines || []).slice();
    for (const {row, text} of m.changed || []) next[row] = text;
    next = Array.from({length: m.rows}, (_, i) => next[i] || '');
    if (m.since && m.moved && !repaint) this.moveRows(m.moved);
    if (m.cols !== this.cols || m.rows !== this.rows) {
      [this.cols, this.rows] = [m.cols, m.rows];
      while (this.grid.children.length > m.rows) this.grid.lastElementChild?.remove();
      while (this.grid.children.length < m.rows) this.grid.append(makeRow());
      this.measureSheet();
    }
    const was = this.lines;
    this.lines = next;
    next.forEach((text, i) => {
      if (repaint || text !== was[i]) this.paintRow(i);
    });
    this.markRows(state.wraps || [], state.links || []);
    this.seq = m.seq;
    this.cursorAt = m.cursor;
    this.placeCursor();
    return true;
  }

  /** @param {Wrap[]} wraps @param {Link[]} links */
  markRows(wraps, links) {
    for (const row of this.grid.children) {
      clearWrap(row);
      clearLinks(row);
    }
    for (const l of links) {
      const row = this.grid.children[l.row];
      if (row) addLink(row, l);
    }
    for (const w of wraps) {
      const row = this.grid.children[w.row];
      if (row) setWrap(row, w);
    }
  }

  /** @param {Partial<ViewState>} state */
  takePalette(state) {
    const now = JSON.stringify([state.palette || [], !!state.clusters, !!state.reverse]);
    if (now === this.paletteKey) return false;
    this.paletteKey = now;
    this.setColors(state);
    return true;
  }

  /** @param {Partial<ViewState>} state */
  setColors({palette: changes = [], reverse = false}) {
    this.isReversed = reverse;
    this.ownColors = {foreground: this.theme.foreground, background: this.theme.background};
    this.colors = [...this.theme.colors];
    for (const {name, rgb} of changes) {
      if (!/^#[0-9a-f]{6}$/.test(rgb)) continue;
      if (name in this.ownColors) this.ownColors[name] = rgb;
      else if (/^\d{1,3}$/.test(name) && Number(name) < 256) this.colors[Number(name)] = rgb;
    }
    this.cssByStyle.clear();
    this.cssOfDrawings.clear();
    this.root.style.color = reverse ? this.ownColors.background : this.ownColors.foreground;
    this.root.style.backgroundColor = reverse
      ? this.ownColors.foreground
      : this.ownColors.background;
  }

  /** @param {Theme} theme */
  setTheme(theme) {
    this.theme = theme;
    this.setColors(this.state);
    this.lines.forEach((_, i) => this.paintRow(i));
    this.placeCursor();
  }

  /** @param {number} n */
  moveRows(n) {
    this.lines = moveLines(this.lines, n);
    for (let i = 0; i < Math.min(Math.abs(n), this.rows); i++) {
      const gone = n > 0 ? this.grid.firstElementChild : this.grid.lastElementChild;
      if (!gone) return;
      gone.replaceChildren();
      if (n > 0) this.grid.append(gone);
      else this.grid.prepend(gone);
    }
  }

  /** @param {string} text */
  splitRow(text) {
    return splitRuns(text || '', (c) => this.isEven(c), !!this.state.clusters);
  }

  /** @param {number} i */
  paintRow(i) {
    this.painted++;
    this.drawRow(this.grid.children[i], this.lines[i]);
  }

  /** @param {Element} row @param {string} text */
  drawRow(row, text) {
    const all = this.splitRow(text);
    if (!this.folded) {
      row.replaceChildren(...splitBlocks(all).map((r) => this.makePiece(r)));
      return 1;
    }
    const lines = foldRuns(all, this.folded);
    row.replaceChildren(
      ...lines.map((line) => {
        const e = document.createElement('div');
        e.className = 'line';
        e.append(...splitBlocks(line.runs).map((r) => this.makePiece(r)));
        return e;
      }),
    );
    return lines.length;
  }

  /** @param {Run} r */
  makePiece(r) {
    const text = r.style.conceal ? ' '.repeat(r.cols) : r.text;
    const shape = r.style.conceal ? null : shapeOf(text);
    if (r.style === plain && r.even && !shape) return document.createTextNode(text);
    const span = document.createElement('span');
    this.applyStyle(span, r);
    if (shape) {
      span.className = 'run';
      span.style.setProperty('--n', String(r.cols));
      drawBlock(span, shape);
    } else if (!r.even) {
      this.shrinkToFit(span, text, r.cols);
    }
    span.textContent = text;
    return span;
  }

  /**
   * Fonts draw some characters of one cell, such as emoji, wider: they are made smaller, not cut.
   * @param {HTMLElement} span @param {string} text @param {number} cols
   */
  shrinkToFit(span, text, cols) {
    if (drawing.test(text)) return;
    let share = this.shareOfCells.get(text);
    if (share === undefined) {
      const width = this.measurer.measureText(text).width;
      share = width / (cols * this.measurer.measureText('0').width);
      if (this.shareOfCells.size > 5000) this.shareOfCells.clear();
      this.shareOfCells.set(text, share);
    }
    if (share > 1.05) span.style.fontSize = Math.floor(this.px / share) + 'px';
  }

  /** @param {HTMLElement} span @param {Run} run */
  applyStyle(span, {text, style, even, cols}) {
    // Plain letters keep their columns without a box, which is faster. Bold and italic ones may
    // have another width, and a background fills its cells only in a box.
    if (!even || style.bold || style.italic || this.hasFill(style)) {
      span.className = even ? 'run' : 'run one';
      span.style.setProperty('--n', String(cols));
    }
    Object.assign(span.style, this.cssOf(style, drawing.test(text)));
  }

  /** @param {Style} s */
  hasFill(s) {
    return s.bg >= 0 || s.inverse || (this.isReversed && s.fg >= 0);
  }

  /** @param {number} c @param {string} own */
  colorOf(c, own) {
    if (c < 0) return own;
    return c >= DIRECT ? toHexColor(c - DIRECT) : this.colors[c];
  }

  /** isDrawn: no letters, so colours may be close. @param {Style} s @param {boolean} [isDrawn] */
  resolveColors(s, isDrawn) {
    let fg = this.colorOf(
      s.bold && s.fg >= 0 && s.fg < 8 ? s.fg + 8 : s.fg,
      this.ownColors.foreground,
    );
    let bg = this.colorOf(s.bg, this.ownColors.background);
    if (this.theme.light && s.fg >= 0 && s.bg < 0) fg = darkenToRead(fg, bg);
    if (
      this.theme.light &&
      s.fg < 0 &&
      s.bg >= 0 &&
      contrastOf(fg, bg) < 4.5 &&
      contrastOf('#ffffff', bg) > contrastOf(fg, bg)
    )
      fg = '#ffffff';
    if (s.inverse !== this.isReversed) [fg, bg] = [bg, fg];
    if (s.faint) fg = mixColors(fg, bg, 0.6);
    if (this.theme.legible && !isDrawn) fg = makeLegible(fg, bg, leastContrast);
    return {fg, bg, line: this.colorOf(s.line, fg)};
  }

  /** @param {Style} s @param {boolean} isDrawn */
  cssOf(s, isDrawn) {
    const all = isDrawn ? this.cssOfDrawings : this.cssByStyle;
    const known = all.get(s);
    if (known) return known;
    const c = this.resolveColors(s, isDrawn);
    /** @type {Partial<CSSStyleDeclaration>} */
    const css = {color: c.fg};
    if (this.hasFill(s)) css.backgroundColor = c.bg;
    if (s.bold) css.fontWeight = 'bold';
    if (s.italic) css.fontStyle = 'italic';
    if (!s.conceal) {
      const kinds = [s.underline && 'underline', s.strike && 'line-through'];
      const drawn = [...kinds, s.overline && 'overline'].filter(Boolean);
      if (drawn.length > 0) css.textDecorationLine = drawn.join(' ');
    }
    if (s.underline && !s.conceal) {
      css.textDecorationStyle = underlines[s.underline];
      css.textDecorationColor = c.line;
    }
    all.set(s, css);
    return css;
  }

  /** In pixels of the sheet. @param {number} row @param {number} col */
  spotOf(row, col) {
    if (!this.folded) return {x: col * this.cell, y: row * this.row};
    const lines = foldRuns(this.splitRow(this.lines[row]), this.folded);
    const i = lines.findLastIndex((line) => line.from <= col);
    const more = Math.floor((col - lines[i].from) / this.folded); // past the end of the text
    return {
      x: (col - lines[i].from - more * this.folded) * this.cell,
      y: /** @type {HTMLElement} */ (this.grid.children[row]).offsetTop + i * this.row,
    };
  }

  placeCursor() {
    const at = this.cursorAt;
    if (!at || !at.visible || !this.cell) {
      this.cursor.remove();
      return;
    }
    const cell = findCell(this.splitRow(this.lines[at.row]), at.col);
    const c = this.resolveColors(cell.style);
    const place = this.spotOf(at.row, cell.col);
    const own = this.isReversed ? this.ownColors.background : this.ownColors.foreground;
    const style = this.cursor.style;
    this.cursor.className = 'cursor ' + (at.shape || 'block');
    style.left = place.x + 'px';
    style.top = place.y + 'px';
    style.setProperty('--n', String(cell.cols));
    this.cursor.textContent = at.shape || cell.style.conceal ? '' : cell.text;
    style.backgroundColor = at.shape || c.fg === c.bg ? own : c.fg;
    style.color = c.bg;
    style.fontWeight = cell.style.bold ? 'bold' : '';
    style.fontStyle = cell.style.italic ? 'italic' : '';
    if (!this.cursor.parentNode) this.sheet.append(this.cursor);
  }
}

export function makeRow() {
  const row = document.createElement('div');
  row.className = 'row';
  return row;
}

/** @param {string[]} lines @param {number} n */
function moveLines(lines, n) {
  if (!n) return lines.slice();
  const blank = Array(Math.min(Math.abs(n), lines.length)).fill('');
  return n > 0 ? [...lines.slice(n), ...blank] : [...blank, ...lines.slice(0, n)];
}
