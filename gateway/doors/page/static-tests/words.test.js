import assert from 'node:assert/strict';
import {pbkdf2Sync, webcrypto} from 'node:crypto';
import {readFileSync} from 'node:fs';
import {test} from 'node:test';

globalThis.crypto ??= webcrypto;
globalThis.fetch = async (url) => ({text: async () => readFileSync(url, 'utf8')});
const {deriveWords} = await import('../static/words.js');

const list = readFileSync(new URL('../static/words.txt', import.meta.url), 'utf8')
  .trim()
  .split(/\s+/);

test('there is a word for each byte, and each only once', () => {
  assert.equal(list.length, 256);
  assert.equal(new Set(list).size, 256);
});

test('the words are those of the key', async () => {
  for (const fill of [0, 1, 255]) {
    const key = new Uint8Array(32).fill(fill);
    const sum = pbkdf2Sync(key, 'terminal-proxy.v1 words', 10_000, 6, 'sha256');
    assert.deepEqual(
      await deriveWords(key),
      Array.from(sum, (b) => list[b]),
    );
  }
});
