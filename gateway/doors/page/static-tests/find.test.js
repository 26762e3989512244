import assert from 'node:assert/strict';
import {test} from 'node:test';
import {describeShown} from '../static/find.js';

test('a list says how much of it is shown', () => {
  for (const [shown, found, all, want] of [
    [0, 0, 0, ''],
    [50, 50, 50, ''],
    [200, 10_000, 10_000, 'The first 200 of 10,000 sessions. Find searches all of them.'],
    [200, 373, 10_000, 'The first 200 of 373 matches in 10,000 sessions.'],
    [5, 5, 10_000, '5 of 10,000 sessions match.'],
    [1, 1, 10_000, '1 of 10,000 sessions matches.'],
    [0, 0, 10_000, 'None of the 10,000 sessions matches.'],
  ]) {
    assert.equal(describeShown(shown, found, all), want);
  }
});
