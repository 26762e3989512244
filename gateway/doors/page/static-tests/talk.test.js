import assert from 'node:assert/strict';
import {test} from 'node:test';
import {Talk} from '../static/talk.js';

const kinds = (talk) => talk.entries.map((e) => e.kind);
const request = {id: 'r', tool: 'Bash', input: {command: 'ls'}};

test('records are added once, in order', () => {
  const talk = new Talk('s');
  const records = [2, 3].map((number) => ({number, at: 1, item: {kind: 'user', text: 'hello'}}));
  talk.addRecords({records});
  talk.addRecords({records});
  assert.deepEqual(kinds(talk), ['user', 'user']);
  assert.equal(talk.last, 3);
});

test('pieces grow a text until the whole text comes', () => {
  const talk = new Talk('s');
  talk.addRecords({
    records: [
      {number: 1, at: 1, piece: {id: 't', text: 'he'}},
      {number: 2, at: 1, piece: {id: 't', text: 'llo'}},
    ],
  });
  assert.deepEqual([talk.entries[0].text, talk.entries[0].writing], ['hello', true]);
  assert.deepEqual(talk.fresh, [], 'a screen reader gets only whole texts');
  talk.addRecords({records: [{number: 3, at: 2, item: {kind: 'text', id: 't', text: 'hello!'}}]});
  assert.deepEqual([talk.entries.length, talk.entries[0].text], [1, 'hello!']);
  assert.equal(talk.entries[0].writing, false);
  assert.equal(talk.fresh[0].text, 'hello!');
});

test('a request is open until it is closed', () => {
  const talk = new Talk('s');
  talk.addRecords({records: [{number: 1, at: 7, request}]});
  assert.deepEqual(talk.openRequests.get('r'), {request, at: 7});
  talk.addRecords({records: [{number: 2, at: 8, closed: {id: 'r', by: 'Ada'}}]});
  assert.equal(talk.openRequests.size, 0);
  assert.equal(talk.entries[0].request, request);
});

test('the end of the agent, and a loss, leave no request certain', () => {
  const talk = new Talk('s');
  talk.addRecords({records: [{number: 1, at: 7, request}], lost: 3});
  assert.equal(talk.isUnsure, true);
  assert.equal(talk.openRequests.size, 1);
  talk.addRecords({records: [{number: 2, at: 8, state: 'ended'}]});
  assert.deepEqual([talk.isUnsure, talk.openRequests.size, talk.state], [false, 0, 'ended']);
  assert.deepEqual(kinds(talk), ['lost', 'end']);
});

test('an agent that started again begins a new conversation', () => {
  const talk = new Talk('s');
  const item = {kind: 'user', text: 'hello'};
  talk.addRecords({
    records: [
      {number: 1, at: 1, item},
      {number: 2, at: 1, request},
    ],
  });
  talk.addRecords({records: [{number: 1, at: 2, item}]});
  assert.deepEqual([kinds(talk), talk.last, talk.openRequests.size], [['user'], 1, 0]);
});

test('a result is named after its call', () => {
  const talk = new Talk('s');
  talk.addRecords({
    records: [
      {number: 1, at: 1, item: {kind: 'tool call', id: 'c', tool: 'Bash', input: {}}},
      {number: 2, at: 1, item: {kind: 'tool result', id: 'c', text: 'ok'}},
    ],
  });
  assert.equal(talk.entries[1].tool, 'Bash');
  assert.equal(talk.tools.size, 0);
});

test('the oldest entries are dropped and counted', () => {
  const talk = new Talk('s');
  for (let number = 1; number <= 10_005; number++) {
    talk.addRecords({records: [{number, at: 1, item: {kind: 'user', text: 'x'}}]});
  }
  assert.deepEqual([talk.entries.length, talk.lost], [10_000, 5]);
  talk.addRecords({
    records: [{number: 20_000, at: 1, item: {kind: 'user', text: 'x'.repeat(1 << 24)}}],
  });
  assert.deepEqual([talk.entries.length, talk.lost], [1, 10_005], 'also by their size');
});
