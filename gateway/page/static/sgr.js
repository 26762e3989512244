// Rows of a screen as the wire has them, text with SGR sequences (ECMA-48 8.3.117), cut into runs of one style with their columns.
import {columns} from './width.js';

// A colour is -1 for the terminal's own, 0 to 255 for one of the palette, DIRECT + 0xRRGGBB for itself.
export const DIRECT = 1 << 24;

// plain is the style of a cell that nobody styled; styles are never changed once a run has them.
export const plain = Object.freeze({
  fg: -1, bg: -1, line: -1, underline: 0, bold: false, faint: false, italic: false, inverse: false, conceal: false, strike: false, overline: false,
});

const on = {1: 'bold', 2: 'faint', 3: 'italic', 7: 'inverse', 8: 'conceal', 9: 'strike', 53: 'overline'};
const off = {22: ['bold', 'faint'], 23: ['italic'], 27: ['inverse'], 28: ['conceal'], 29: ['strike'], 55: ['overline']};
const target = {38: 'fg', 48: 'bg', 58: 'line', 39: 'fg', 49: 'bg', 59: 'line'};

// direct makes a colour of what stands behind 38, 48 or 58: 5;N or 2;R;G;B; undefined where it is neither.
function direct(kind, v) {
  if (kind === 5 && v[0] >= 0 && v[0] < 256) return v[0];
  if (kind === 2 && v.length === 3 && v.every((n) => n >= 0 && n < 256)) return DIRECT + (v[0] << 16) + (v[1] << 8) + v[2];
  return undefined;
}

// extended reads the colour whose introducer is parameter i, and returns the index of its last parameter.
function extended(s, list, i) {
  const parts = list[i].split(':').map(Number);
  let colour, last = i;
  if (parts.length > 1) {
    colour = direct(parts[1], parts[1] === 2 ? parts.slice(-3) : parts.slice(2, 3));
  } else {
    const kind = Number(list[i + 1]), n = kind === 2 ? 3 : 1;
    colour = direct(kind, list.slice(i + 2, i + 2 + n).map(Number));
    last = i + 1 + n;
  }
  if (colour !== undefined) s[target[parts[0]]] = colour;
  return last;
}

function underline(s, n) {
  s.underline = n >= 0 && n <= 5 ? n : 1;
}

// rendition is what an SGR with these parameters makes of a style.
export function rendition(style, params) {
  let s = {...style};
  const list = params.split(';');
  for (let i = 0; i < list.length; i++) {
    const n = parseInt(list[i] || '0', 10);
    if (n === 0) s = {...plain};
    else if (n === 4) underline(s, list[i].includes(':') ? Number(list[i].split(':')[1]) : 1);
    else if (n === 21) underline(s, 2);
    else if (n === 24) s.underline = 0;
    else if (on[n]) s[on[n]] = true;
    else if (off[n]) for (const name of off[n]) s[name] = false;
    else if (n === 38 || n === 48 || n === 58) i = extended(s, list, i);
    else if (target[n]) s[target[n]] = -1;
    else if (n >= 30 && n < 38) s.fg = n - 30;
    else if (n >= 40 && n < 48) s.bg = n - 40;
    else if (n >= 90 && n < 98) s.fg = n - 82;
    else if (n >= 100 && n < 108) s.bg = n - 92;
  }
  return Object.freeze(s);
}

// styles remembers renditions: a program uses the same few again and again.
const styles = new Map();

function styled(style, params) {
  if (style !== plain) return rendition(style, params);
  let s = styles.get(params);
  if (!s) {
    if (styles.size > 2000) styles.clear();
    styles.set(params, s = rendition(style, params));
  }
  return s;
}

const sequence = /\x1b(?:\[([0-9;:]*)m)?/g;
const ascii = /^[ -~]*$/;

// runs cuts a row. Each run has its text, its columns, its style, and whether it is even: each of its characters as wide as a
// letter of the font, by what even says of a character. A run that is not is one character. Where clusters is true, grapheme
// clusters decide on columns (mode 2027).
export function runs(row, even, clusters) {
  const out = [];
  let style = plain, at = 0;
  const text = (s) => {
    if (s === '') return;
    if (ascii.test(s)) put(out, s, s.length, style, true);
    else for (const [c, n] of columns(s, clusters)) put(out, c, n, style, n === 1 && (ascii.test(c) || even(c)));
  };
  for (const m of row.matchAll(sequence)) {
    text(row.slice(at, m.index));
    if (m[1] !== undefined) style = styled(m[1] === '' || m[1][0] === '0' && !(m[1][1] >= '0') ? plain : style, m[1]);
    at = m.index + m[0].length;
  }
  text(row.slice(at));
  return out;
}

function put(out, text, cols, style, even) {
  const last = out[out.length - 1];
  if (even && last && last.even && last.style === style) {
    last.text += text;
    last.cols += cols;
  } else {
    out.push({text, cols, style, even});
  }
}

// fold cuts a row into lines of at most so many columns. Each has its runs and the column of the row with which it begins.
export function fold(list, columns) {
  const lines = [{from: 0, runs: []}];
  let at = 0;
  for (let r of list) {
    while (r) {
      const line = lines[lines.length - 1], room = line.from + columns - at;
      if (r.cols <= room || room === columns && !r.even) {
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

// cellAt is the character in a column of a row cut into runs, with where it begins; a blank where there is none.
export function cellAt(list, col) {
  let x = 0;
  for (const r of list) {
    if (col < x + r.cols) {
      return r.even ? {text: [...r.text][col - x], col, cols: 1, style: r.style} : {text: r.text, col: x, cols: r.cols, style: r.style};
    }
    x += r.cols;
  }
  return {text: ' ', col, cols: 1, style: plain};
}
