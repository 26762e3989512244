import {test} from 'node:test';
import assert from 'node:assert/strict';
import {shapeOf, splitBlocks} from '../static/blocks.js';

/** @param {string} c */
const area = (c) => (shapeOf(c) || []).reduce((sum, [, , w, h]) => sum + w * h, 0);

test('blocks cover what Unicode says', () => {
  for (const [c, share] of /** @type {[string, number][]} */ ([
    ['▀', 32], ['▁', 8], ['▄', 32], ['▇', 56], ['█', 64], ['▉', 56], ['▏', 8], ['▐', 32],
    ['▔', 8], ['▕', 8], ['▖', 16], ['▙', 48], ['▚', 32], ['▟', 48],
  ]))
    assert.equal(area(c), share, c);
  for (const c of ['░', '▒', '▓', '─', 'x', ' ']) assert.equal(shapeOf(c), null, c);
  assert.deepEqual(shapeOf('▝'), [[4, 0, 4, 4]]);
  assert.deepEqual(shapeOf('▞'), [[4, 0, 4, 4], [0, 4, 4, 4]]);
});

test('a run is divided at its blocks', () => {
  const run = /** @type {any} */ ({text: 'a█▀▀ b', cols: 6, style: {}, even: true});
  const all = splitBlocks([run]);
  assert.deepEqual(all.map((r) => [r.text, r.cols]), [['a', 1], ['█', 1], ['▀▀', 2], [' b', 2]]);
  const plain = [{...run, text: 'ab'}];
  assert.equal(splitBlocks(plain), plain);
});
