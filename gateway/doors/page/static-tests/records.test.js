import assert from 'node:assert/strict';
import {test} from 'node:test';
import {Records} from '../static/records.js';

test('the newest recording of a session is found: the list has it first', () => {
  const recordings = [
    {recordId: 'c', sessionId: 'vim-1'},
    {recordId: 'b', sessionId: 'bash-1'},
    {recordId: 'a', sessionId: 'vim-1'},
  ];
  const records = Object.create(Records.prototype);
  records.recordings = new Map(recordings.map((r) => [r.recordId, r]));
  assert.equal(records.findBySession('vim-1').recordId, 'c');
  assert.equal(records.findBySession('psql-1'), undefined);
});
