// The page's key: it signs decisions, and cannot be exported. IndexedDB keeps it across a reload.

/** @param {string} s */
export const encodeText = (s) => new TextEncoder().encode(s);
/** @param {string} [s] */
export const countedText = (s = '') => `${encodeText(s).length}:${s}`;
/** @param {ArrayBuffer|Uint8Array} raw */
export const toHex = (raw) =>
  Array.from(new Uint8Array(raw), (b) => b.toString(16).padStart(2, '0')).join('');
/** @param {ArrayBuffer|Uint8Array} raw */
export const toBase64 = (raw) => btoa(String.fromCharCode(...new Uint8Array(raw)));
/** @param {string} text */
export const fromBase64 = (text) => Uint8Array.from(atob(text), (c) => c.charCodeAt(0));

/**
 * @param {IDBTransactionMode} mode @param {(s: IDBObjectStore) => IDBRequest} use
 * @returns {Promise<any>}
 */
function usePageStore(mode, use) {
  return new Promise((resolve, reject) => {
    const open = indexedDB.open('terminal-page', 1);
    open.onupgradeneeded = () => open.result.createObjectStore('pages');
    open.onerror = () => reject(open.error);
    open.onsuccess = () => {
      const t = open.result.transaction('pages', mode);
      const wish = use(t.objectStore('pages'));
      t.oncomplete = () => resolve(wish.result);
      t.onerror = () => reject(t.error);
    };
  }).catch(() => undefined); // a private window has no IndexedDB: only this tab has the page
}

/** @param {PageIdentity} page */
export const savePage = (page) => usePageStore('readwrite', (s) => s.put(page, 'page'));
/** @returns {Promise<PageIdentity|undefined>} */
export const loadPage = () => usePageStore('readonly', (s) => s.get('page'));
export const deletePage = () => usePageStore('readwrite', (s) => s.delete('page'));

export async function makeKey() {
  const pair = await crypto.subtle.generateKey('Ed25519', false, ['sign', 'verify']);
  return {pair, raw: await crypto.subtle.exportKey('raw', pair.publicKey)};
}

/** @param {CryptoKeyPair} pair @param {BufferSource} what */
export const signBytes = (pair, what) => crypto.subtle.sign('Ed25519', pair.privateKey, what);

let lastMoment = 0;

/** Each signature has a later time than the one before. @param {PageIdentity} page */
export async function signTicket(page) {
  const at = (lastMoment = Math.max(Date.now(), lastMoment + 1));
  return {
    page: page.page,
    at,
    signature: toHex(
      await signBytes(page.pair, encodeText(`terminal-proxy.v1 ticket\n${page.page}\n${at}\n`)),
    ),
  };
}

/**
 * "The owner's word" in protocol/PROTOCOL.md.
 * @param {ControlDecide} d @param {number} startedAt
 */
export function encodeDecision(d, startedAt) {
  return encodeText(
    `terminal-proxy.v1 decide\n${countedText(d.sessionId)} ${startedAt}\n` +
      `${d.grant} ${countedText(d.level)} ${d.seconds || 0} ${countedText(d.agentName)} ` +
      `${countedText(d.hide)}\n${d.epoch || 0} ${d.at || 0}\n` +
      (d.mute || d.refuse ? `${countedText(d.mute)} ${!!d.refuse}\n` : ''),
  );
}

/** @template {ControlDecide} T @param {PageIdentity} page @param {T} d @param {number} startedAt */
export async function signDecision(page, d, startedAt) {
  return {...d, signatureB64: toBase64(await signBytes(page.pair, encodeDecision(d, startedAt)))};
}

/** @param {Keys} m @param {number} startedAt */
export function encodeKeys(m, startedAt) {
  return encodeText(
    `terminal-proxy.v1 keys\n${countedText(m.sessionId)} ${startedAt}\n` +
      `${m.keyNo} ${m.after || 0} ${m.at}\n` +
      `${countedText(m.kind)} ${!!m.more} ${countedText(m.data)}\n`,
  );
}

/** @template {Keys} T @param {PageIdentity} page @param {T} m @param {number} startedAt */
export async function signKeys(page, m, startedAt) {
  return {...m, signatureB64: toBase64(await signBytes(page.pair, encodeKeys(m, startedAt)))};
}

/**
 * @param {SecretReply} m @param {number} startedAt
 * @param {Uint8Array} key @param {Uint8Array} sealed
 */
export function encodeSecretReply(m, startedAt, key, sealed) {
  return encodeText(
    `terminal-proxy.v1 secret\n${countedText(m.sessionId)} ${startedAt}\n` +
      `${countedText(m.question)} ${countedText(m.verdict)} ${m.at}\n` +
      `${toHex(key)}\n${toHex(sealed)}\n`,
  );
}

/**
 * The signature names the key that the answer is sealed to.
 * @template {SecretReply} T @param {PageIdentity} page @param {T} m @param {number} startedAt
 * @param {Uint8Array} key @param {Uint8Array} sealed
 */
export async function signSecretReply(page, m, startedAt, key, sealed) {
  const signature = await signBytes(page.pair, encodeSecretReply(m, startedAt, key, sealed));
  return {...m, signatureB64: toBase64(signature)};
}
