import assert from 'node:assert/strict';
import {webcrypto} from 'node:crypto';
import {test} from 'node:test';

globalThis.crypto ??= webcrypto;
const {makeKey} = await import('../static/keys.js');
const {Typist, nextKeyNo} = await import('../static/typist.js');

// setUp returns a typist whose messages wait in sent for an answer.
async function setUp() {
  const sent = [];
  const told = [];
  const page = {page: 'p', words: [], ...(await makeKey())};
  const ask = (m) =>
    new Promise((resolve, reject) => {
      sent.push({m, resolve, reject});
      wake();
    });
  let wake = () => {};
  const typist = new Typist(
    {page, connection: {ask}, now: () => 1000},
    {sessionId: 's', startedAt: 1},
    {
      handleFailure: (e) => told.push(e.message),
      handleTyped: () => told.push('typed'),
      showDropping: (on) => told.push(on),
    },
  );
  // next waits for the message with that index.
  const next = async (i) => {
    while (sent.length <= i) await new Promise((resolve) => (wake = resolve));
    return sent[i];
  };
  return {typist, sent, told, next};
}

test('numbers of keys only grow, also within one millisecond', () => {
  const first = nextKeyNo(5);
  assert.ok(nextKeyNo(5) > first);
  assert.ok(nextKeyNo(first + 100) === first + 100);
});

test('each message names the one before it, and text that waits goes together', async () => {
  const {typist, next, sent} = await setUp();
  typist.typeText('a');
  typist.typeText('b');
  typist.typeText('c');
  typist.typeKey('up');
  const [first, second, third] = [await next(0), await next(1), await next(2)];
  assert.deepEqual(
    [first, second, third].map(({m}) => [m.kind, m.data]),
    [
      ['text', 'a'],
      ['text', 'bc'],
      ['keys', 'up'],
    ],
  );
  assert.equal(first.m.after, undefined);
  assert.equal(second.m.after, first.m.keyNo);
  assert.equal(third.m.after, second.m.keyNo);
  assert.equal(sent.length, 3);
});

test('a paste is split between characters, and all pieces but the last say more', async () => {
  const {typist, next} = await setUp();
  typist.pasteText('x'.repeat(499) + '👍y');
  const parts = [(await next(0)).m, (await next(1)).m];
  assert.deepEqual(
    parts.map((m) => [m.data.length, m.more]),
    [
      [499, true],
      [3, undefined],
    ],
  );
});

test('a failure drops what waits, and keys until the person pauses', async () => {
  const {typist, next, sent, told} = await setUp();
  typist.typeText('a');
  (await next(0)).reject(new Error('gone'));
  await new Promise((resolve) => setImmediate(resolve));
  assert.deepEqual(told, [true, 'gone']);
  typist.typeText('b');
  assert.equal(typist.queue.length, 0);
  typist.acceptKeys();
  typist.typeText('c');
  const {m} = await next(1);
  assert.deepEqual([m.data, m.after], ['c', undefined], 'the count begins anew');
  assert.equal(sent.length, 2);
});

test('a message that was being signed as the connection went is not sent', async () => {
  const {typist, next, told} = await setUp();
  typist.typeText('a');
  typist.handleLoss();
  assert.deepEqual(told, [true, 'the connection was lost']);
  typist.acceptKeys();
  typist.typeText('b');
  assert.equal((await next(0)).m.data, 'b');
});

test('Enter after a line waits for the answers to it', async () => {
  const {typist, next, sent} = await setUp();
  typist.typeLine('ls');
  const line = await next(0);
  await new Promise((resolve) => setImmediate(resolve));
  assert.deepEqual([sent.length, typist.queue.length], [1, 1]);
  line.resolve({});
  const {m} = await next(1);
  assert.deepEqual([m.kind, m.data], ['keys', 'enter']);
});
