import { wordsOf } from './words.js';

const say = (text) => { document.getElementById('state').textContent = text; };
const hex = (bytes) => Array.from(new Uint8Array(bytes), (b) => b.toString(16).padStart(2, '0')).join('');
const post = async (path, body) => {
  const answer = await fetch(path, { method: 'POST', body: JSON.stringify(body) });
  return { status: answer.status, ...await answer.json() };
};
const pause = (ms) => new Promise((done) => setTimeout(done, ms));

async function ticket(page, pair) {
  for (;;) {
    const at = Date.now();
    const text = new TextEncoder().encode(`terminal-proxy.v1 ticket\n${page}\n${at}\n`);
    const got = await post('/v1/tickets', { page, at, signature: hex(await crypto.subtle.sign('Ed25519', pair.privateKey, text)) });
    if (!got.pending) return got;
    await pause(1000);
  }
}

async function start() {
  const code = new URLSearchParams(location.hash.slice(1)).get('c') ?? '';
  history.replaceState(null, '', location.pathname);
  const pair = await crypto.subtle.generateKey('Ed25519', false, ['sign', 'verify']);
  const key = await crypto.subtle.exportKey('raw', pair.publicKey);
  const page = await post('/v1/page/enter', { code, key: hex(key) });
  if (page.error) return say(page.error);
  if (page.pending) say(`Do both sides show these words? ${(await wordsOf(key)).join(' ')}`);
  const got = await ticket(page.page, pair);
  if (got.error) return say(got.error);
  const socket = new WebSocket(`${location.protocol === 'https:' ? 'wss' : 'ws'}://${location.host}/v1/page`, 'terminal-proxy.v1');
  socket.onopen = () => socket.send(JSON.stringify({ type: 'hello', ticket: got.ticket }));
  socket.onclose = (end) => say(end.reason || 'The connection has ended.');
  socket.onmessage = (event) => {
    const m = JSON.parse(event.data);
    if (m.type === 'welcome') {
      say(m.role === 'owner' ? 'You may answer and take back.' : 'You may look.');
      socket.send(JSON.stringify({ type: 'sessions.list', requestId: '1' }));
    }
    if (m.type === 'sessions.list.result') {
      document.getElementById('list').replaceChildren(...m.sessions.map((s) => {
        const row = document.createElement('li');
        row.textContent = `${s.command} in ${s.cwd}`;
        return row;
      }));
    }
  };
}

start().catch((err) => say(String(err)));
