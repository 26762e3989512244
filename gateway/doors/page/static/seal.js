// Seals a text to a key: HPKE (RFC 9180) in base mode with DHKEM(P-256, HKDF-SHA256), HKDF-SHA256
// and AES-128-GCM. Only the private key opens it.
import {encodeText} from './keys.js';

const curve = {name: 'ECDH', namedCurve: 'P-256'};
const kemSuite = [...encodeText('KEM'), 0, 0x10];
const suite = [...encodeText('HPKE'), 0, 0x10, 0, 1, 0, 1];
/** @typedef {Iterable<number>} Bytes */

/** @param {...Bytes} parts */
const joinBytes = (...parts) => Uint8Array.from(parts.flatMap((part) => [...part]));

/** @param {Uint8Array} key @param {Uint8Array<ArrayBuffer>} message */
async function computeMAC(key, message) {
  // An empty key means zeros, and WebCrypto rejects an empty one.
  const raw = key.length > 0 ? Uint8Array.from(key) : new Uint8Array(32);
  const hmac = {name: 'HMAC', hash: 'SHA-256'};
  const imported = await crypto.subtle.importKey('raw', raw, hmac, false, ['sign']);
  return new Uint8Array(await crypto.subtle.sign('HMAC', imported, message));
}

/**
 * LabeledExtract.
 * @param {Bytes} of @param {Uint8Array} salt @param {string} label @param {Bytes} key
 */
const extract = (of, salt, label, key) =>
  computeMAC(salt, joinBytes(encodeText('HPKE-v1'), of, encodeText(label), key));

/**
 * LabeledExpand to at most 32 bytes: the first block.
 * @param {Bytes} of @param {Uint8Array} key @param {string} label @param {Bytes} info
 * @param {number} n
 */
const expand = async (of, key, label, info, n) =>
  (
    await computeMAC(
      key,
      joinBytes([0, n], encodeText('HPKE-v1'), of, encodeText(label), info, [1]),
    )
  ).slice(0, n);

/**
 * Returns the encapsulated key and the ciphertext. pair is the sender's, for this text alone.
 * @param {BufferSource} publicKey a point of P-256, uncompressed
 * @param {Uint8Array} info @param {Uint8Array<ArrayBuffer>} text @param {CryptoKeyPair} [pair]
 */
export async function sealText(publicKey, info, text, pair) {
  const {subtle} = crypto;
  const own = pair || (await subtle.generateKey(curve, false, ['deriveBits']));
  const to = await subtle.importKey('raw', publicKey, curve, true, []);
  const shared = await subtle.deriveBits({name: 'ECDH', public: to}, own.privateKey, 256);
  const sent = new Uint8Array(await subtle.exportKey('raw', own.publicKey));
  const recipient = new Uint8Array(await subtle.exportKey('raw', to));
  const none = new Uint8Array();
  const prk = await extract(kemSuite, none, 'eae_prk', new Uint8Array(shared));
  const secret = await expand(kemSuite, prk, 'shared_secret', joinBytes(sent, recipient), 32);
  const context = joinBytes(
    [0],
    await extract(suite, none, 'psk_id_hash', none),
    await extract(suite, none, 'info_hash', info),
  );
  const root = await extract(suite, secret, 'secret', none);
  const raw = await expand(suite, root, 'key', context, 16);
  const iv = await expand(suite, root, 'base_nonce', context, 12);
  const key = await subtle.importKey('raw', raw, 'AES-GCM', false, ['encrypt']);
  const sealed = await subtle.encrypt({name: 'AES-GCM', iv}, key, text);
  return joinBytes(sent, new Uint8Array(sealed));
}
