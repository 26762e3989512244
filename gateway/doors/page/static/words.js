/** @param {BufferSource} key */
export async function deriveWords(key) {
  const list = (await (await fetch(new URL('words.txt', import.meta.url))).text())
    .split(/\s+/)
    .filter(Boolean);
  const secret = await crypto.subtle.importKey('raw', key, 'PBKDF2', false, ['deriveBits']);
  const salt = new TextEncoder().encode('terminal-proxy.v1 words');
  const bits = await crypto.subtle.deriveBits(
    {name: 'PBKDF2', hash: 'SHA-256', salt, iterations: 10_000},
    secret,
    48,
  );
  return Array.from(new Uint8Array(bits), (b) => list[b]);
}
