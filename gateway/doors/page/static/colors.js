// Colours of the terminal, as #rrggbb, and how well they can be read.

/** The least contrast of a letter to its background (WCAG 2.2, 1.4.11). */
export const leastContrast = 3;

/** @param {number} n */
export const toHexColor = (n) => '#' + n.toString(16).padStart(6, '0');
const cube = [0, 95, 135, 175, 215, 255];

/** @param {string[]} first */
export function makePalette(first) {
  const all = [...first];
  for (let i = 0; i < 216; i++)
    all.push(
      toHexColor(
        (cube[Math.floor(i / 36)] << 16) | (cube[Math.floor(i / 6) % 6] << 8) | cube[i % 6],
      ),
    );
  for (let i = 0; i < 24; i++) all.push(toHexColor((8 + 10 * i) * 0x10101));
  return all;
}

export const dark = {
  foreground: '#e6e9ec',
  background: '#0a0c0e',
  light: false,
  legible: true,
  colors: makePalette([
    '#2a3036',
    '#ef6b73',
    '#a3d065',
    '#e2b45a',
    '#7aa2f7',
    '#c792ea',
    '#5cc8d7',
    '#c9d1d9',
    '#7d8790',
    '#ff8f96',
    '#bde88a',
    '#ffd27d',
    '#9dbbff',
    '#dcb3ff',
    '#86e1ec',
    '#ffffff',
  ]),
};
export const light = {
  foreground: '#1b1e22',
  background: '#fdfdfb',
  light: true,
  legible: true,
  colors: makePalette([
    '#1b1e22',
    '#b3261e',
    '#3d7a1f',
    '#8a5a00',
    '#2456b8',
    '#8b2fa8',
    '#0b7080',
    '#d0d4d8',
    '#6b727a',
    '#c8322a',
    '#4a8a28',
    '#9a6700',
    '#2f67d4',
    '#9d3dbd',
    '#0d8091',
    '#ffffff',
  ]),
};

/** @param {string} c */
const parseHexColor = (c) => [1, 3, 5].map((i) => parseInt(c.slice(i, i + 2), 16));
/** @param {string} a @param {string} b @param {number} share */
export const mixColors = (a, b, share) => {
  const [x, y] = [parseHexColor(a), parseHexColor(b)];
  return toHexColor(
    x.reduce((n, v, i) => n * 256 + Math.trunc(share * v + (1 - share) * y[i] + 1e-9), 0),
  );
};
/** @param {string} c */
const luminance = (c) => {
  const [r, g, b] = parseHexColor(c).map((v) =>
    (v /= 255) <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4,
  );
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
};
/** @param {string} a @param {string} b */
export const contrastOf = (a, b) => {
  const [x, y] = [luminance(a), luminance(b)];
  return (Math.max(x, y) + 0.05) / (Math.min(x, y) + 0.05);
};

/** Programs choose colours for a black terminal. @param {string} fg @param {string} bg */
export function darkenToRead(fg, bg) {
  for (let share = 1; share > 0.1; share -= 0.1) {
    const c = mixColors(fg, '#000000', share);
    if (contrastOf(c, bg) >= 4.5) return c;
  }
  return '#000000';
}

/**
 * Returns fg, or the nearest colour on its way to white or black that can be read on bg.
 * @param {string} fg @param {string} bg @param {number} least
 */
export function makeLegible(fg, bg, least) {
  if (contrastOf(fg, bg) >= least) return fg;
  const isLighter = luminance(fg) > luminance(bg);
  const ends = isLighter ? ['#ffffff', '#000000'] : ['#000000', '#ffffff'];
  const end = contrastOf(ends[0], bg) >= least ? ends[0] : ends[1];
  for (let share = 0.9; share > 0.05; share -= 0.1) {
    const c = mixColors(fg, end, share);
    if (contrastOf(c, bg) >= least) return c;
  }
  return end;
}
