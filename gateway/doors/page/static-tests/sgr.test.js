import assert from 'node:assert/strict';
import {test} from 'node:test';
import {applySGR, DIRECT, findCell, foldRuns, plain, splitRuns} from '../static/sgr.js';

const always = () => true;
const never = () => false;

// changes returns how a style differs from the plain one.
const changes = (style) =>
  Object.fromEntries(Object.entries(style).filter(([name, value]) => value !== plain[name]));

test('SGR parameters make styles', () => {
  for (const [params, want] of [
    ['', {}],
    ['0', {}],
    ['1', {bold: true}],
    ['1;2', {bold: true, faint: true}],
    ['1;2;22', {}],
    ['3;23', {}],
    ['4', {underline: 1}],
    ['4:3', {underline: 3}],
    ['4:9', {underline: 1}],
    ['4:0', {}],
    ['21', {underline: 2}],
    ['21;24', {}],
    ['7;8;9;53', {inverse: true, conceal: true, strike: true, overline: true}],
    ['7;8;9;53;27;28;29;55', {}],
    ['31;42', {fg: 1, bg: 2}],
    ['91;102', {fg: 9, bg: 10}],
    ['31;39', {}],
    ['42;49', {}],
    ['38;5;200', {fg: 200}],
    ['38;5;256', {}],
    ['38;5;200;1', {fg: 200, bold: true}],
    ['48;2;1;2;3', {bg: DIRECT + 0x010203}],
    ['48;2;1;2;3;4', {bg: DIRECT + 0x010203, underline: 1}],
    ['48;2;1;2;256', {}],
    ['58:2::1:2:3', {line: DIRECT + 0x010203}],
    ['58:5:9', {line: 9}],
    ['58:5:9;59', {}],
    ['1;0;3', {italic: true}],
    ['999', {}],
  ]) {
    assert.deepEqual(changes(applySGR(plain, params)), want, JSON.stringify(params));
  }
});

test('styles cannot be changed: runs share them', () => {
  assert.ok(Object.isFrozen(plain));
  assert.ok(Object.isFrozen(applySGR(plain, '1')));
});

test('a row becomes runs of one style', () => {
  const runs = splitRuns('ab\x1b[1mc\x1b[md', always, false);
  assert.deepEqual(
    runs.map((r) => [r.text, r.cols, r.style.bold, r.even]),
    [
      ['ab', 2, false, true],
      ['c', 1, true, true],
      ['d', 1, false, true],
    ],
  );
});

test('a sequence that begins with 0 resets the style', () => {
  const [, b] = splitRuns('\x1b[1ma\x1b[0;3mb', always, false);
  assert.deepEqual(changes(b.style), {italic: true});
  const [, c] = splitRuns('\x1b[1ma\x1b[3mb', always, false);
  assert.deepEqual(changes(c.style), {bold: true, italic: true});
});

test('other sequences are dropped, and no text is', () => {
  const runs = splitRuns('a\x1bb', always, false);
  assert.equal(runs.map((r) => r.text).join(''), 'ab');
});

test('characters that the font draws otherwise are runs of their own', () => {
  const shape = (even) => splitRuns('a世─b', even, false).map((r) => [r.text, r.cols, r.even]);
  assert.deepEqual(shape(never), [
    ['a', 1, true],
    ['世', 2, false],
    ['─', 1, false],
    ['b', 1, true],
  ]);
  assert.deepEqual(shape(always), [
    ['a', 1, true],
    ['世', 2, false],
    ['─b', 2, true],
  ]);
});

test('rows fold at a column, and never within a wide character', () => {
  const fold = (row, columns) =>
    foldRuns(splitRuns(row, always, false), columns).map((line) => [
      line.from,
      line.runs.map((r) => r.text).join(''),
    ]);
  assert.deepEqual(fold('', 10), [[0, '']]);
  assert.deepEqual(fold('abcdef', 4), [
    [0, 'abcd'],
    [4, 'ef'],
  ]);
  assert.deepEqual(fold('abc世d', 4), [
    [0, 'abc'],
    [3, '世d'],
  ]);
  assert.deepEqual(fold('世', 1), [[0, '世']], 'a line has at least one character');
});

test('a cell is found by its column', () => {
  const runs = splitRuns('a世b', always, false);
  const at = (col) => {
    const {text, col: from, cols} = findCell(runs, col);
    return [text, from, cols];
  };
  assert.deepEqual(at(0), ['a', 0, 1]);
  assert.deepEqual(at(1), ['世', 1, 2]);
  assert.deepEqual(at(2), ['世', 1, 2]);
  assert.deepEqual(at(3), ['b', 3, 1]);
  assert.deepEqual(at(4), [' ', 4, 1], 'a blank past the end');
});
