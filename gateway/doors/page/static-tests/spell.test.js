import assert from 'node:assert/strict';
import {test} from 'node:test';
import {cutHead, cutTail, spellExactly, spellText} from '../static/spell.js';

test('an approval spells out everything that cannot be seen', () => {
  for (const [text, want] of [
    ['rm -rf build\n\tls', 'rm -rf build\n\tls'],
    ['a\u202eb', 'a\\u{202e}b'],
    ['a\u200bb', 'a\\u{200b}b'],
    ['a\rb', 'a\\u{d}b'],
    ['a\x1b[8mb', 'a\\u{1b}[8mb'],
    ['a\u2800b', 'a\\u{2800}b'],
    ['a\u2028b', 'a\\u{2028}b'],
    ['👩\u200d👧', '👩\\u{200d}👧'],
    ['a\u0301\u0301\u0301', 'a\u0301\u0301\\u{301}'],
    ['\u{e0041}', '\\u{e0041}'],
    ['\ud800', '\\u{d800}'],
    [undefined, ''],
  ]) {
    assert.equal(spellExactly(text), want);
  }
});

test('text that is only read keeps its emoji', () => {
  for (const text of ['👩\u200d👧', '❤\ufe0f', '❤\ufe0e']) assert.equal(spellText(text), text);
  assert.equal(spellText('a\u200db'), 'a\\u{200d}b', 'a joiner between letters shows');
  assert.equal(spellText('a\u202eb'), 'a\\u{202e}b');
});

test('no text can bring in the stand-ins for joiners', () => {
  assert.equal(spellText('\ue000\ue001\ue002'), '\\u{e000}\\u{e001}\\u{e002}');
});

test('texts are never cut within a character', () => {
  assert.equal(cutHead('abc', 3), 'abc');
  assert.equal(cutHead('abcd', 3), 'abc');
  assert.equal(cutHead('ab👍', 3), 'ab');
  assert.equal(cutHead('ab👍', 4), 'ab👍');
  assert.equal(cutTail('abcd', 3), 'bcd');
  assert.equal(cutTail('👍ab', 3), 'ab');
  assert.equal(cutTail('👍ab', 4), '👍ab');
});
