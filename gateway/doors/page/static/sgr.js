// Splits rows of a screen, which are text with SGR sequences (ECMA-48 8.3.117), into runs.
import {splitColumns} from './width.js';

// A colour is -1 for the terminal's own, 0 to 255 for the palette, or DIRECT + 0xRRGGBB.
export const DIRECT = 1 << 24;

// The style of a cell without SGR. Runs share styles, so styles never change.
export const plain = Object.freeze({
  fg: -1,
  bg: -1,
  line: -1,
  underline: 0,
  bold: false,
  faint: false,
  italic: false,
  inverse: false,
  conceal: false,
  strike: false,
  overline: false,
});

/** @type {Record<number, 'bold'|'faint'|'italic'|'inverse'|'conceal'|'strike'|'overline'>} */
const turnsOn = {
  1: 'bold',
  2: 'faint',
  3: 'italic',
  7: 'inverse',
  8: 'conceal',
  9: 'strike',
  53: 'overline',
};
/** @type {Record<number, (typeof turnsOn[0])[]>} */
const turnsOff = {
  22: ['bold', 'faint'],
  23: ['italic'],
  27: ['inverse'],
  28: ['conceal'],
  29: ['strike'],
  55: ['overline'],
};
/** @type {Record<number, 'fg'|'bg'|'line'>} */
const colorOf = {38: 'fg', 48: 'bg', 58: 'line', 39: 'fg', 49: 'bg', 59: 'line'};

/** @param {number} kind @param {number[]} v */
function parseColor(kind, v) {
  if (kind === 5 && v[0] >= 0 && v[0] < 256) return v[0];
  if (kind === 2 && v.length === 3 && v.every((n) => n >= 0 && n < 256))
    return DIRECT + (v[0] << 16) + (v[1] << 8) + v[2];
  return undefined;
}

/** @param {MutableStyle} s @param {string[]} list @param {number} i */
function readExtendedColor(s, list, i) {
  const parts = list[i].split(':').map(Number);
  let colour;
  let last = i;
  if (parts.length > 1) {
    colour = parseColor(parts[1], parts[1] === 2 ? parts.slice(-3) : parts.slice(2, 3));
  } else {
    const kind = Number(list[i + 1]);
    const n = kind === 2 ? 3 : 1;
    colour = parseColor(kind, list.slice(i + 2, i + 2 + n).map(Number));
    last = i + 1 + n;
  }
  if (colour !== undefined) s[colorOf[parts[0]]] = colour;
  return last;
}

/** @param {MutableStyle} s @param {number} n */
function setUnderline(s, n) {
  s.underline = n >= 0 && n <= 5 ? n : 1;
}

/** @param {Style} style @param {string} params @returns {Style} */
export function applySGR(style, params) {
  /** @type {MutableStyle} */
  let s = {...style};
  const list = params.split(';');
  for (let i = 0; i < list.length; i++) {
    const n = parseInt(list[i] || '0', 10);
    if (n === 0) s = {...plain};
    else if (n === 4) setUnderline(s, list[i].includes(':') ? Number(list[i].split(':')[1]) : 1);
    else if (n === 21) setUnderline(s, 2);
    else if (n === 24) s.underline = 0;
    else if (turnsOn[n]) s[turnsOn[n]] = true;
    else if (turnsOff[n]) for (const name of turnsOff[n]) s[name] = false;
    else if (n === 38 || n === 48 || n === 58) i = readExtendedColor(s, list, i);
    else if (colorOf[n]) s[colorOf[n]] = -1;
    else if (n >= 30 && n < 38) s.fg = n - 30;
    else if (n >= 40 && n < 48) s.bg = n - 40;
    else if (n >= 90 && n < 98) s.fg = n - 82;
    else if (n >= 100 && n < 108) s.bg = n - 92;
  }
  return Object.freeze(s);
}

/** @type {Map<string, Style>} */
const styles = new Map();

/** @param {Style} style @param {string} params */
function cacheStyle(style, params) {
  if (style !== plain) return applySGR(style, params);
  let s = styles.get(params);
  if (!s) {
    if (styles.size > 2000) styles.clear();
    styles.set(params, (s = applySGR(style, params)));
  }
  return s;
}

const sequence = /\x1b(?:\[([0-9;:]*)m)?/g;
const ascii = /^[ -~]*$/;

/**
 * even: whether the font draws a character one cell wide. clusters: mode 2027.
 * @param {string} row @param {(c: string) => boolean} even @param {boolean} clusters
 */
export function splitRuns(row, even, clusters) {
  /** @type {Run[]} */
  const out = [];
  /** @type {Style} */
  let style = plain;
  let at = 0;
  const text = (/** @type {string} */ s) => {
    if (s === '') return;
    if (ascii.test(s)) appendRun(out, s, s.length, style, true);
    else
      for (const [c, n] of splitColumns(s, clusters))
        appendRun(out, c, n, style, n === 1 && (ascii.test(c) || even(c)));
  };
  for (const m of row.matchAll(sequence)) {
    text(row.slice(at, m.index));
    if (m[1] !== undefined)
      style = cacheStyle(
        m[1] === '' || (m[1][0] === '0' && !(m[1][1] >= '0')) ? plain : style,
        m[1],
      );
    at = m.index + m[0].length;
  }
  text(row.slice(at));
  return out;
}

/**
 * @param {Run[]} out @param {string} text @param {number} cols @param {Style} style
 * @param {boolean} even
 */
function appendRun(out, text, cols, style, even) {
  const last = out[out.length - 1];
  if (even && last && last.even && last.style === style) {
    last.text += text;
    last.cols += cols;
  } else {
    out.push({text, cols, style, even});
  }
}

/** @param {Run[]} list @param {number} columns */
export function foldRuns(list, columns) {
  /** @type {FoldedLine[]} */
  const lines = [{from: 0, runs: []}];
  let at = 0;
  for (let r of list) {
    while (r) {
      const line = lines[lines.length - 1];
      const room = line.from + columns - at;
      if (r.cols <= room || (room === columns && !r.even)) {
        line.runs.push(r);
        at += r.cols;
        break;
      }
      if (r.even && room > 0) {
        const text = [...r.text];
        line.runs.push({...r, text: text.slice(0, room).join(''), cols: room});
        r = {...r, text: text.slice(room).join(''), cols: r.cols - room};
        at += room;
      }
      lines.push({from: at, runs: []});
    }
  }
  return lines;
}

/** A blank past the end of the row. @param {Run[]} list @param {number} col */
export function findCell(list, col) {
  let x = 0;
  for (const r of list) {
    if (col < x + r.cols) {
      return r.even
        ? {text: [...r.text][col - x], col, cols: 1, style: r.style}
        : {text: r.text, col: x, cols: r.cols, style: r.style};
    }
    x += r.cols;
  }
  return {text: ' ', col, cols: 1, style: plain};
}
