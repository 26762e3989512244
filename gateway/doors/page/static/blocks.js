// Block elements (U+2580 to U+259F, without the shades) as rectangles: a font's letters would leave
// hairlines between the cells.

/** @typedef {[x: number, y: number, width: number, height: number]} Eighths Of a cell. */

const quarters = [4, 8, 1, 13, 9, 7, 11, 2, 6, 14]; // of U+2596 on: 1 and 2 above, 4 and 8 below

/** Returns null for a character that is no block. @param {string} c @returns {Eighths[] | null} */
export function shapeOf(c) {
  const n = (c.codePointAt(0) || 0) - 0x2580;
  if (n === 0) return [[0, 0, 8, 4]];
  if (n >= 1 && n <= 8) return [[0, 8 - n, 8, n]];
  if (n >= 9 && n <= 15) return [[0, 0, 16 - n, 8]];
  if (n === 16) return [[4, 0, 4, 8]];
  if (n === 20) return [[0, 0, 8, 1]];
  if (n === 21) return [[7, 0, 1, 8]];
  if (n < 22 || n > 31) return null;
  const bits = quarters[n - 22];
  return [1, 2, 4, 8]
    .filter((bit) => bits & bit)
    .map((bit) => [bit === 2 || bit === 8 ? 4 : 0, bit >= 4 ? 4 : 0, 4, 4]);
}

const block = /[\u2580-\u2590\u2594-\u259f]/u;
const sameBlocks = /([\u2580-\u2590\u2594-\u259f])\1*|[^\u2580-\u2590\u2594-\u259f]+/gu;

/** Makes runs of one repeated block character each. @param {Run[]} runs */
export function splitBlocks(runs) {
  if (!runs.some((r) => block.test(r.text))) return runs;
  return runs.flatMap((r) => {
    const parts = r.even ? r.text.match(sameBlocks) : null;
    if (!parts || parts.length < 2) return r;
    return parts.map((text) => ({...r, text, cols: [...text].length}));
  });
}

/** Draws a run of one block in its colour. @param {HTMLElement} span @param {Eighths[]} shape */
export function drawBlock(span, shape) {
  const percent = (/** @type {number} */ n) => n * 12.5 + '%';
  const {style} = span;
  style.backgroundImage = shape
    .map(([x, , w]) => {
      const [from, to] = [percent(x), percent(x + w)];
      return `linear-gradient(90deg, #0000 ${from}, currentColor ${from} ${to}, #0000 ${to})`;
    })
    .join(', ');
  style.backgroundSize = shape.map(([, , , h]) => `var(--cw) ${percent(h)}`).join(', ');
  style.backgroundPosition = shape
    .map(([, y, , h]) => `0 ${h === 8 ? '0' : (y / (8 - h)) * 100 + '%'}`)
    .join(', ');
  style.backgroundRepeat = 'repeat-x';
  style.setProperty('-webkit-text-fill-color', 'transparent');
}
