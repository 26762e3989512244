// How many columns characters take, as the terminal model counts them (proxy/terminal/screen): a test compares every character.
import {wide, zero} from './widths.js';

const limit = 0x20000;
const narrow = new Uint8Array(limit).fill(1);
const rest = []; // ranges beyond the first two planes

// spread reads a table: numbers to the base 36, by turns how many characters lie between and how many follow one another.
function spread(table, columns) {
  let at = 0;
  table.split(' ').forEach((n, i) => {
    const end = at + parseInt(n, 36);
    if (i % 2 === 1) {
      if (at < limit) narrow.fill(columns, at, Math.min(end, limit));
      if (end > limit) rest.push([Math.max(at, limit), end, columns]);
    }
    at = end;
  });
}
spread(wide, 2);
spread(zero, 0);

// width is the columns of a character standing alone, 0 for one that joins the character before it.
export function width(code) {
  if (code < limit) return narrow[code];
  const range = rest.find(([from, to]) => code >= from && code < to);
  return range ? range[2] : 1;
}

let segmenter;
const pictograph = /^\p{Extended_Pictographic}$/u;

// clusterWidth is what a grapheme cluster takes in mode 2027; see clusterColumns of the model.
function clusterWidth(cluster) {
  let columns = 0, base = '';
  for (const c of cluster) {
    const w = width(c.codePointAt(0));
    if (base === '') columns = w;
    else if (c === '\ufe0e' && pictograph.test(base)) columns = 1;
    else if (c === '\ufe0f' && (pictograph.test(base) || /[0-9#*]/.test(base))) columns = 2;
    else if (w > 0 && !/[\u{1f3fb}-\u{1f3ff}]/u.test(c)) columns = 2;
    base = c;
  }
  return columns;
}

// columns cuts text into what fills one place each, with the columns of it.
export function columns(text, clusters) {
  if (clusters && Intl.Segmenter) {
    segmenter ||= new Intl.Segmenter('en', {granularity: 'grapheme'});
    return Array.from(segmenter.segment(text), ({segment}) => [segment, clusterWidth(segment) || 1]);
  }
  const out = [];
  for (const c of text) {
    const w = width(c.codePointAt(0));
    if (w > 0 || out.length === 0) out.push([c, w || 1]);
    else out[out.length - 1][0] += c;
  }
  return out;
}
