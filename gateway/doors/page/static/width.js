// Counts the columns of characters as proxy/terminal/screen does; a test compares every character.
import {wide, zero} from './widths.js';

const limit = 0x20000;
const narrow = new Uint8Array(limit).fill(1);
/** @type {[from: number, to: number, columns: number][]} */
const beyond = []; // ranges beyond the first two planes

/**
 * Numbers of base 36, in turn: characters to skip, characters of this width.
 * @param {string} table @param {number} columns
 */
function readTable(table, columns) {
  let at = 0;
  table.split(' ').forEach((n, i) => {
    const end = at + parseInt(n, 36);
    if (i % 2 === 1) {
      if (at < limit) narrow.fill(columns, at, Math.min(end, limit));
      if (end > limit) beyond.push([Math.max(at, limit), end, columns]);
    }
    at = end;
  });
}
readTable(wide, 2);
readTable(zero, 0);

/** 0 for a character that joins the one before it. @param {number} code */
export function characterWidth(code) {
  if (code < limit) return narrow[code];
  const range = beyond.find(([from, to]) => code >= from && code < to);
  return range ? range[2] : 1;
}

let segmenter;
const pictograph = /^\p{Extended_Pictographic}$/u;

/** Mode 2027, as clusterColumns in proxy/screen. @param {string} cluster */
function clusterWidth(cluster) {
  let columns = 0;
  let base = '';
  for (const c of cluster) {
    const w = characterWidth(c.codePointAt(0) || 0);
    if (base === '') columns = w;
    else if (c === '\ufe0e' && pictograph.test(base)) columns = 1;
    else if (c === '\ufe0f' && (pictograph.test(base) || /[0-9#*]/.test(base))) columns = 2;
    else if (w > 0 && !/[\u{1f3fb}-\u{1f3ff}]/u.test(c)) columns = 2;
    base = c;
  }
  return columns;
}

/** @param {string} text @param {boolean} clusters @returns {[string, number][]} */
export function splitColumns(text, clusters) {
  if (clusters && Intl.Segmenter) {
    segmenter ||= new Intl.Segmenter('en', {granularity: 'grapheme'});
    return Array.from(segmenter.segment(text), ({segment}) => [
      segment,
      clusterWidth(segment) || 1,
    ]);
  }
  /** @type {[string, number][]} */
  const out = [];
  for (const c of text) {
    const w = characterWidth(c.codePointAt(0) || 0);
    if (w > 0 || out.length === 0) out.push([c, w || 1]);
    else out[out.length - 1][0] += c;
  }
  return out;
}
