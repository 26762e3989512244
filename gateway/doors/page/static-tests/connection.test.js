import assert from 'node:assert/strict';
import {webcrypto} from 'node:crypto';
import {mock, test} from 'node:test';

globalThis.crypto ??= webcrypto;
globalThis.location = {origin: 'http://page'};
const {makeKey} = await import('../static/keys.js');
const {Connection} = await import('../static/connection.js');

const sockets = [];
globalThis.fetch = async () => ({status: 200, json: async () => ({ticket: 't'})});
globalThis.WebSocket = class {
  sent = [];
  constructor() {
    sockets.push(this);
  }
  send(text) {
    this.sent.push(JSON.parse(text));
  }
  close() {}
};

// until waits for what happens without a timer.
async function until(holds) {
  while (!holds()) await new Promise((resolve) => setImmediate(resolve));
}

// connect returns a connection that a server has welcomed, and its states.
async function connect(clock) {
  sockets.length = 0;
  const states = [];
  globalThis.performance = {now: () => clock.ms};
  const connection = new Connection(
    {page: 'p', words: [], ...(await makeKey())},
    {
      setState: (name) => states.push(name),
      handleWelcome: () => {},
      handleMessage: () => {},
      setRoundTrip: () => {},
    },
  );
  await until(() => sockets.length === 1);
  sockets[0].onmessage({data: JSON.stringify({type: 'welcome', now: 1})});
  await until(() => states.length === 1);
  return {connection, states};
}

test('a server without an answer is visible after 8 seconds, and left after 8 more', async () => {
  mock.timers.enable({apis: ['setTimeout']});
  const clock = {ms: 0};
  const {connection, states} = await connect(clock);
  clock.ms = 4999;
  connection.probeWhenQuiet();
  assert.equal(sockets[0].sent.length, 0, 'a message came lately');
  clock.ms = 5000;
  connection.probeWhenQuiet();
  connection.probeWhenQuiet();
  assert.equal(sockets[0].sent.length, 1, 'one question at a time');
  mock.timers.tick(3000);
  assert.deepEqual(states, ['connected', 'stalled']);
  const {requestId} = sockets[0].sent[0];
  sockets[0].onmessage({data: JSON.stringify({type: 'sessions.list.result', requestId})});
  assert.deepEqual(states, ['connected', 'stalled', 'connected']);
  await until(() => !connection.isProbing);

  connection.probe();
  mock.timers.tick(8000);
  await until(() => states.at(-1) === 'lost');
  connection.tryAgain();
  await until(() => sockets.length === 2);
  mock.timers.reset();
});

test('a server that takes the connection and says nothing is left, too', async () => {
  mock.timers.enable({apis: ['setTimeout']});
  const {connection, states} = await connect({ms: 0});
  connection.reconnect('a test');
  await until(() => states.at(-1) === 'lost');
  connection.tryAgain();
  await until(() => sockets.length === 2);
  mock.timers.tick(8000);
  await until(() => states.filter((name) => name === 'lost').length === 2);
  connection.tryAgain(); // while it pauses
  await until(() => sockets.length === 3);
  connection.tryAgain(); // while it connects
  await until(() => sockets.length === 4);
  mock.timers.reset();
});
