// The page's own key, with which it comes back and signs what it gives. It cannot be exported; IndexedDB keeps it for a reload.

export const bytes = (s) => new TextEncoder().encode(s);
export const hex = (raw) => Array.from(new Uint8Array(raw), (b) => b.toString(16).padStart(2, '0')).join('');
export const base64 = (raw) => btoa(String.fromCharCode(...new Uint8Array(raw)));

function store(mode, use) {
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
  }).catch(() => undefined); // a private window keeps nothing: the link is good for this tab
}

export const remember = (page) => store('readwrite', (s) => s.put(page, 'page'));
export const recall = () => store('readonly', (s) => s.get('page'));
export const forget = () => store('readwrite', (s) => s.delete('page'));

export async function makeKey() {
  const pair = await crypto.subtle.generateKey('Ed25519', false, ['sign', 'verify']);
  return {pair, raw: await crypto.subtle.exportKey('raw', pair.publicKey)};
}

export const sign = (pair, what) => crypto.subtle.sign('Ed25519', pair.privateKey, what);

let lastMoment = 0;

// signTicket is the body of a request for a ticket. No moment is signed twice.
export async function signTicket(page) {
  const at = lastMoment = Math.max(Date.now(), lastMoment + 1);
  return {page: page.page, at, signature: hex(await sign(page.pair, bytes(`terminal-proxy.v1 ticket\n${page.page}\n${at}\n`)))};
}

// decisionBytes are what a decision's signature is over; see "The owner's word" in protocol/PROTOCOL.md.
export function decisionBytes(d, startedAt) {
  const s = (v) => `${bytes(v || '').length}:${v || ''}`;
  return bytes(`terminal-proxy.v1 decide\n${s(d.sessionId)} ${startedAt}\n` +
    `${d.grant} ${s(d.level)} ${d.seconds || 0} ${s(d.agentName)} ${s(d.hide)}\n${d.epoch || 0} ${d.at || 0}\n` +
    (d.mute || d.refuse ? `${s(d.mute)} ${!!d.refuse}\n` : ''));
}

export async function signDecision(page, d, startedAt) {
  return {...d, signatureB64: base64(await sign(page.pair, decisionBytes(d, startedAt)))};
}

// keyBytes are what the signature of keys is over, as decisionBytes.
export function keyBytes(m, startedAt) {
  const s = (v) => `${bytes(v).length}:${v}`;
  return bytes(`terminal-proxy.v1 keys\n${s(m.sessionId)} ${startedAt}\n${m.keyNo} ${m.after || 0} ${m.at}\n${s(m.kind)} ${!!m.more} ${s(m.data)}\n`);
}

export async function signKeys(page, m, startedAt) {
  return {...m, signatureB64: base64(await sign(page.pair, keyBytes(m, startedAt)))};
}
