import assert from 'node:assert/strict';
import {webcrypto} from 'node:crypto';
import {readFileSync} from 'node:fs';
import {test} from 'node:test';

globalThis.crypto ??= webcrypto;
const {sealText} = await import('../static/seal.js');
const keys = await import('../static/keys.js');
const {encodeText, fromBase64, toBase64, makeKey, encodeSecretReply, signSecretReply} = keys;

const vector = JSON.parse(readFileSync(new URL('seal.json', import.meta.url), 'utf8'));

// TestTheProgramOpensWhatThePageSealed opens the same bytes by Go's own HPKE.
test('an answer is sealed as the program that asks opens it', async () => {
  const jwk = vector.sender;
  const curve = {name: 'ECDH', namedCurve: 'P-256'};
  const privateKey = await crypto.subtle.importKey('jwk', jwk, curve, true, ['deriveBits']);
  const open = {...jwk, d: undefined};
  const publicKey = await crypto.subtle.importKey('jwk', open, curve, true, []);
  const sealed = await sealText(
    fromBase64(vector.publicKeyB64),
    encodeText(vector.info),
    encodeText(vector.text),
    {privateKey, publicKey},
  );
  assert.equal(toBase64(sealed), vector.sealedB64);
});

test('each answer is sealed anew, and tells no more than its length', async () => {
  const seal = () => sealText(fromBase64(vector.publicKeyB64), encodeText('i'), encodeText('yes'));
  const [first, second] = [await seal(), await seal()];
  assert.equal(first.length, 65 + 3 + 16);
  assert.notEqual(toBase64(first), toBase64(second));
});

test('a key that is no point of the curve takes no answer', async () => {
  for (const key of [new Uint8Array(65).fill(4), new Uint8Array(0), fromBase64('BHh5')])
    await assert.rejects(sealText(key, encodeText('i'), encodeText('yes')));
});

test('a signature covers the question, the key and the sealed bytes', async () => {
  const m = {sessionId: 's', question: 'v-1:2', verdict: 'answer', at: 7};
  const key = Uint8Array.of(4, 255);
  const sealed = Uint8Array.of(0, 16);
  assert.equal(
    new TextDecoder().decode(encodeSecretReply(m, 5, key, sealed)),
    'terminal-proxy.v1 secret\n1:s 5\n5:v-1:2 6:answer 7\n04ff\n0010\n',
  );
  const {pair} = await makeKey();
  const signed = await signSecretReply({pair}, m, 5, key, sealed);
  assert.ok(
    await crypto.subtle.verify(
      'Ed25519',
      pair.publicKey,
      fromBase64(signed.signatureB64),
      encodeSecretReply(m, 5, key, sealed),
    ),
  );
});
