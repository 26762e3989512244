import assert from 'node:assert/strict';
import {test} from 'node:test';
import {contrastOf, dark, leastContrast, light, makeLegible} from '../static/colors.js';
import {Painter} from '../static/painter.js';
import {plain} from '../static/sgr.js';

// painterOf is a painter without a page.
function painterOf(theme, isReversed) {
  const {foreground, background, colors} = theme;
  return Object.assign(Object.create(Painter.prototype), {
    theme,
    colors,
    isReversed,
    ownColors: {foreground, background},
  });
}

for (const [name, theme] of Object.entries({dark, light}))
  test(`every pair of the ${name} palette can be read`, () => {
    const kinds = [{}, {inverse: true}, {faint: true}, {bold: true}, {faint: true, inverse: true}];
    for (const isReversed of [false, true]) {
      const painter = painterOf(theme, isReversed);
      for (const kind of kinds)
        for (let fg = -1; fg < 256; fg += fg < 16 ? 1 : 3)
          for (let bg = -1; bg < 256; bg += bg < 16 ? 1 : 7) {
            const shown = painter.resolveColors({...plain, ...kind, fg, bg});
            const is = contrastOf(shown.fg, shown.bg);
            assert.ok(is >= leastContrast, `${fg} on ${bg} ${JSON.stringify(kind)}: ${is}`);
          }
    }
  });

test('colours that can be read stay, and the others keep their hue where that is possible', () => {
  assert.equal(makeLegible('#a3d065', '#0a0c0e', 3), '#a3d065');
  assert.equal(makeLegible('#123456', '#123456', 3) === '#123456', false);
  const lifted = makeLegible('#0000cd', '#000000', 3);
  const [r, g, b] = [1, 3, 5].map((i) => parseInt(lifted.slice(i, i + 2), 16));
  assert.ok(b > g && b > r, 'blue stays blue');
});

test('a picture of blocks keeps its colours', () => {
  const painter = painterOf(dark, false);
  assert.equal(painter.resolveColors({...plain, fg: 4, bg: 4}, true).fg, dark.colors[4]);
});
