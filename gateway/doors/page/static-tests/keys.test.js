import assert from 'node:assert/strict';
import {webcrypto} from 'node:crypto';
import {test} from 'node:test';

globalThis.crypto ??= webcrypto;
const keys = await import('../static/keys.js');

const decode = (bytes) => new TextDecoder().decode(bytes);
const fromHex = (s) => Uint8Array.from(s.match(/../g), (b) => parseInt(b, 16));
const fromBase64 = (s) => Uint8Array.from(atob(s), (c) => c.charCodeAt(0));
const isSigned = (pair, signature, bytes) =>
  crypto.subtle.verify('Ed25519', pair.publicKey, signature, bytes);

async function newPage() {
  return {page: 'page-1', words: [], ...(await keys.makeKey())};
}

test('bytes become text and back', () => {
  assert.equal(keys.toHex(Uint8Array.of(0, 10, 255)), '000aff');
  assert.equal(keys.toBase64(Uint8Array.of(0, 10, 255)), 'AAr/');
  assert.equal(keys.countedText('aé'), '3:aé', 'bytes of UTF-8 count');
  assert.equal(keys.countedText(undefined), '0:');
});

test('the private key cannot be exported', async () => {
  const {pair} = await newPage();
  assert.equal(pair.privateKey.extractable, false);
  await assert.rejects(crypto.subtle.exportKey('pkcs8', pair.privateKey));
});

test('a ticket is signed, and no moment is signed twice', async () => {
  const page = await newPage();
  const tickets = await Promise.all([1, 2, 3, 4, 5].map(() => keys.signTicket(page)));
  assert.equal(new Set(tickets.map(({at}) => at)).size, 5);
  for (const {page: id, at, signature} of tickets) {
    const bytes = keys.encodeText(`terminal-proxy.v1 ticket\n${id}\n${at}\n`);
    assert.ok(await isSigned(page.pair, fromHex(signature), bytes));
  }
});

test('a decision is signed as package protocol reads it', async () => {
  const decision = {
    sessionId: 'vim-1',
    grant: true,
    by: 'a page',
    level: 'drive',
    seconds: 600,
    agentName: 'clé',
    epoch: 7,
    at: 99,
  };
  const want = 'terminal-proxy.v1 decide\n5:vim-1 42\ntrue 5:drive 600 4:clé 0:\n7 99\n';
  assert.equal(decode(keys.encodeDecision(decision, 42)), want);
  assert.equal(
    decode(keys.encodeDecision({sessionId: 's', grant: false, by: 'a', refuse: true}, 1)),
    'terminal-proxy.v1 decide\n1:s 1\nfalse 0: 0 0: 0:\n0 0\n0: true\n',
  );
  assert.equal(
    decode(keys.encodeDecision({sessionId: 's', grant: false, by: 'a', mute: 'off'}, 1)),
    'terminal-proxy.v1 decide\n1:s 1\nfalse 0: 0 0: 0:\n0 0\n3:off false\n',
  );
  const page = await newPage();
  const signed = await keys.signDecision(page, decision, 42);
  assert.equal(signed.level, 'drive');
  assert.ok(await isSigned(page.pair, fromBase64(signed.signatureB64), keys.encodeText(want)));
});

test('keys are signed as package protocol reads them', async () => {
  const m = {sessionId: 's', keyNo: 5, after: 4, at: 99, kind: 'paste', data: 'é\n', more: true};
  const want = 'terminal-proxy.v1 keys\n1:s 42\n5 4 99\n5:paste true 3:é\n\n';
  assert.equal(decode(keys.encodeKeys(m, 42)), want);
  const first = {sessionId: 's', keyNo: 5, at: 99, kind: 'keys', data: 'enter'};
  assert.equal(
    decode(keys.encodeKeys(first, 42)),
    'terminal-proxy.v1 keys\n1:s 42\n5 0 99\n4:keys false 5:enter\n',
  );
  const page = await newPage();
  const signed = await keys.signKeys(page, m, 42);
  assert.ok(await isSigned(page.pair, fromBase64(signed.signatureB64), keys.encodeText(want)));
});
