import assert from 'node:assert/strict';
import {test} from 'node:test';
import {characterWidth, splitColumns} from '../static/width.js';
import {wide, zero} from '../static/widths.js';

test('the tables hold pairs of numbers of base 36', () => {
  for (const table of [wide, zero]) {
    const numbers = table.split(' ');
    assert.equal(numbers.length % 2, 0);
    assert.ok(numbers.every((n) => /^[0-9a-z]+$/.test(n)));
  }
});

test('characters have the columns of the terminal model', () => {
  for (const [c, columns] of [
    ['a', 1],
    ['é', 1],
    ['世', 2],
    ['ｱ', 1],
    ['👍', 2],
    ['\u0301', 0],
    ['\u{20000}', 2], // beyond the first two planes
    ['\u{e0100}', 0],
    ['\u{10ffff}', 1],
  ]) {
    assert.equal(characterWidth(c.codePointAt(0)), columns, c);
  }
});

test('a character that joins stays with the one before it', () => {
  assert.deepEqual(splitColumns('e\u0301x', false), [
    ['e\u0301', 1],
    ['x', 1],
  ]);
  assert.deepEqual(splitColumns('\u0301', false), [['\u0301', 1]], 'alone it has a column');
});

test('in mode 2027 a grapheme cluster decides', () => {
  const family = '👩\u200d👧';
  assert.deepEqual(splitColumns(family, true), [[family, 2]]);
  assert.equal(splitColumns(family, false).length, 2);
  assert.deepEqual(splitColumns('❤\ufe0f', true), [['❤\ufe0f', 2]]);
  assert.deepEqual(splitColumns('👍\ufe0e', true), [['👍\ufe0e', 1]]);
  assert.deepEqual(splitColumns('1\ufe0f\u20e3', true), [['1\ufe0f\u20e3', 2]]);
  assert.deepEqual(splitColumns('👍🏽', true), [['👍🏽', 2]]);
  assert.deepEqual(splitColumns('🇩🇪', true), [['🇩🇪', 2]]);
});
