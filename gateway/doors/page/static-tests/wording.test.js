import assert from 'node:assert/strict';
import {test} from 'node:test';
import * as wording from '../static/wording.js';

const now = 1_000_000;
const keyboard = {holder: 'user', epoch: 1};
const session = {
  sessionId: 's',
  command: '/usr/bin/vim',
  args: ['main.go'],
  cwd: '/home/ada/src',
  state: 'running',
  idleSince: now,
  keyboard,
};

test('foreign text cannot hide or turn the words around it', () => {
  for (const [text, want] of [
    ['claude', 'claude'],
    ['cla\u200bude', 'cla\ufffdude'],
    ['cla\u202e\u202eude', 'cla\ufffdude'],
    ['a\u0301\u0301\u0301\u0301', 'a\u0301\u0301'],
    ['שלום', '\u2068שלום\u2069'],
    ['👩\u200d👧', '👩👧'],
    [undefined, ''],
  ]) {
    assert.equal(wording.cleanText(text), want);
  }
});

test('a session is called by its program and directory', () => {
  assert.equal(wording.programLabel(session), 'vim main.go');
  assert.equal(wording.programLabel({command: '/'}), '/');
  assert.equal(wording.programLabel({name: 'bash', command: '/bin/bash'}), 'bash');
  assert.equal(wording.programLabel({name: 'deploy', command: '/bin/bash'}), 'deploy: bash');
  const program = {name: 'a\nb', command: 'vim', args: ['x']};
  assert.equal(wording.programLabel(program), 'a\ufffdb: vim x');
  assert.equal(wording.programLabel({command: 'a\u202eb'}), 'a\ufffdb');
  for (const [cwd, want] of [
    ['/home/ada', '~'],
    ['/home/ada/src', '~/src'],
    ['/Users/ada/src', '~/src'],
    ['/root', '~'],
    ['/rootless', '/rootless'],
    ['/home', '/home'],
    [undefined, ''],
  ]) {
    assert.equal(wording.directoryLabel({cwd}), want);
  }
});

test('a long directory keeps both ends, in whole characters', () => {
  for (const [cwd, want] of [
    ['/home/ada/src', '~/src'],
    [`/srv/${'a'.repeat(35)}`, `/srv/${'a'.repeat(35)}`],
    [`/srv/${'a'.repeat(40)}/web`, `/srv/aaaaaaa…${'a'.repeat(23)}/web`],
    [`/srv/${'👩'.repeat(40)}`, `/srv/${'👩'.repeat(7)}…${'👩'.repeat(27)}`],
    [undefined, ''],
  ]) {
    assert.equal(wording.shortDirectoryLabel({cwd}), want);
  }
});

test('sessions that look alike are told apart by their start, or their ids', () => {
  const start = new Date(2026, 10, 24, 10, 20, 5).getTime();
  const make = (id, change) => ({...session, sessionId: id, startedAt: start, ...change});
  for (const [name, others, want] of [
    ['alone', [], ''],
    ['of another name', [make('b', {name: 'deploy'})], ''],
    ['elsewhere', [make('b', {cwd: '/home/ada/src/shop'})], ''],
    ['an hour later', [make('b', {startedAt: start + 3_600_000})], 'since 10:20'],
    ['in the same minute', [make('b', {startedAt: start + 5000})], 'since 10:20:05'],
    ['at once', [make('b', {startedAt: start + 5})], 'since 10:20:05 · a'],
  ]) {
    const all = [make('a'), ...others];
    assert.equal(wording.distinguishByStart(all, start + 60_000)(all[0]), want, name);
  }
  const all = [make('a'), make('b', {startedAt: start + 86_400_000})];
  const tomorrow = wording.distinguishByStart(all, start + 86_400_000);
  assert.deepEqual(all.map(tomorrow), ['since 24 Nov 10:20', 'since 10:20']);
  assert.equal(tomorrow(make('c', {command: 'make'})), '', 'of a session that is in no row');
});

test('durations are rounded, and the rest of a grant is rounded up', () => {
  for (const [ms, want] of [
    [-5, '0 s'],
    [89_000, '89 s'],
    [90_000, '2 min'],
    [89 * 60_000, '89 min'],
    [90 * 60_000, '2 h'],
    [36 * 3_600_000, '2 days'],
  ]) {
    assert.equal(wording.formatDuration(ms), want);
  }
  assert.equal(wording.formatTimeLeft(now, now), 'time is up');
  assert.equal(wording.formatTimeLeft(now + 1, now), '1 s left');
  assert.equal(wording.formatTimeLeft(now + 60_001, now), '2 min left');
});

test('the agent with the keyboard is named with what it does', () => {
  const held = {holder: 'agent', epoch: 2, agentName: 'claude', level: 'drive'};
  for (const [k, want] of [
    [undefined, ''],
    [keyboard, ''],
    [held, 'claude drives'],
    [{...held, level: 'type'}, 'claude types'],
    [{...held, expiresAt: now + 60_000}, 'claude drives 1 min left'],
    [{...held, agentName: ''}, 'an agent drives'],
    [{...held, paused: true}, 'claude is paused while a person types'],
    [{...held, away: true, program: 'vim'}, 'claude waits for vim'],
  ]) {
    assert.equal(wording.describeDriver(k, now), want);
  }
});

test('the most urgent state of a session is shown', () => {
  const chat = {agent: 'codex', state: 'wants approval', open: 1};
  const agent = {holder: 'agent', epoch: 2, agentName: 'claude', level: 'drive'};
  for (const [fields, want] of [
    [{state: 'exited'}, ['quiet', 'exited']],
    [{state: 'exited', exitCode: 2}, ['quiet', 'exited 2']],
    [{state: 'exited', signal: 'KILL', exitCode: 2}, ['quiet', 'ended by KILL']],
    [{state: 'lost'}, ['quiet', 'lost']],
    [{state: 'lost', moving: true}, ['quiet', 'moving to another gateway']],
    [{keyboard: {...keyboard, asking: 'codex'}, chat}, ['ask', 'codex asks']],
    [{chat, keyboard: {...agent, held: true}}, ['ask', 'codex wants approval']],
    [{keyboard: {...agent, held: true}}, ['ask', 'waiting for you']],
    [{keyboard: {...agent, held: true, heldWhy: 'line'}}, ['ask', 'waits for your line']],
    [{blackout: {reason: 'password'}, keyboard: agent}, ['quiet', 'password asked']],
    [{blackout: {reason: 'user'}, keyboard: agent}, ['agent', 'claude drives']],
    [{blackout: {reason: 'user'}}, ['quiet', 'hidden from agents']],
    [{chat: {agent: 'codex', state: 'working'}}, ['quiet', 'codex works']],
    [{}, ['quiet', 'active']],
    [{idleSince: now - 9999}, ['quiet', 'active']],
    [{idleSince: now - 10_000}, ['quiet', 'quiet']],
    [{idleSince: now - 59_999}, ['quiet', 'quiet']],
    [{idleSince: now - 60_000}, ['quiet', 'quiet 1 min']],
    [{idleSince: now - 89_000}, ['quiet', 'quiet 1 min']],
    [{idleSince: now - 90 * 60_000}, ['quiet', 'quiet 2 h']],
  ]) {
    assert.deepEqual(wording.describeState({...session, ...fields}, now), want);
  }
});

test('requests of a coding agent are counted; the wire leaves out a zero', () => {
  assert.equal(wording.countOpen({}), 0);
  assert.equal(wording.countOpen({chat: {agent: 'codex', state: 'asks'}}), 0);
  assert.equal(wording.countOpen({chat: {agent: 'codex', state: 'asks', open: 2}}), 2);
});

test('a decision says who made it', () => {
  const granted = {agentName: 'claude', granted: true, at: 1};
  assert.equal(wording.describeAnswer(granted), 'answered elsewhere: claude may type');
  assert.equal(
    wording.describeAnswer({...granted, by: 'the terminal'}),
    'answered at the terminal: claude may type',
  );
  assert.equal(wording.describeAnswer({reason: 'refused', by: 'Ada', at: 1}), 'refused by Ada');
  assert.equal(wording.describeAnswer({reason: 'new', at: 1}), 'answered elsewhere');
  assert.equal(
    wording.describeDecision({...granted, by: 'Ada'}),
    'claude got the keyboard, given by Ada',
  );
  assert.equal(
    wording.describeDecision({agentName: 'claude', reason: 'reclaimed', by: 'the terminal', at: 1}),
    'the keyboard was taken back from claude at the terminal',
  );
  assert.equal(wording.describeDecision({reason: 'new', at: 1}), '');
});
