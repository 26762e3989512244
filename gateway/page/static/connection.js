// The way to the gateway: tickets, the socket, coming back. It knows messages only by their ids.
import {signTicket} from './keys.js';

export const pause = (ms) => new Promise((done) => setTimeout(done, ms));

export async function post(path, body) {
  const answer = await fetch(path, {method: 'POST', headers: {'Content-Type': 'application/json'}, body: JSON.stringify(body)});
  let says = {};
  try {
    says = await answer.json();
  } catch { /* no sentence came with it */ }
  return {...says, status: answer.status};
}

// Over is the end of the page: coming back is of no use.
class Over extends Error {}

// ticket asks for what opens one connection, or makes one request.
export async function ticket(page) {
  const got = await post('/v1/tickets', await signTicket(page));
  if (got.ticket) return got.ticket;
  if (got.status === 403) throw new Over(got.error || 'the page is over');
  const e = new Error(got.error || 'the server does not answer');
  e.pending = got.pending;
  throw e;
}

// socket opens a WebSocket and says hello. It resolves with the welcome.
async function socket(page, take, ended) {
  const name = await ticket(page);
  const ws = new WebSocket(location.origin.replace(/^http/, 'ws') + '/v1/page', 'terminal-proxy.v1');
  return new Promise((resolve, reject) => {
    ws.onopen = () => ws.send(JSON.stringify({type: 'hello', ticket: name}));
    ws.onclose = (e) => {
      const why = e.code === 1008 ? new Over(e.reason || 'the page is over') : new Error(e.reason || 'the connection ended');
      reject(why);
      ended(ws, why);
    };
    ws.onmessage = (e) => {
      const m = JSON.parse(e.data);
      if (m.type === 'welcome') resolve({ws, welcome: m});
      else take(m);
    };
  });
}

// aside asks by a connection of its own, which ends then.
export async function aside(page, m) {
  let answer, failed;
  const answered = new Promise((resolve, reject) => { [answer, failed] = [resolve, reject]; });
  answered.catch(() => {});
  const {ws} = await socket(page, (reply) => {
    if (reply.requestId !== 'aside') return;
    if (reply.type === 'error') failed(new Error(reply.message));
    else answer(reply);
  }, (_, why) => failed(why));
  ws.send(JSON.stringify({...m, requestId: 'aside'}));
  try {
    return await answered;
  } finally {
    ws.close();
  }
}

// Connection is one that comes back by itself. It calls on.state(name, why), on.welcome(m), on.message(m) and on.trip(ms).
export class Connection {
  constructor(page, on) {
    this.page = page;
    this.on = on;
    this.asked = new Map(); // by request id
    this.count = 0;
    this.ws = null;
    this.skew = 0; // of the server's clock to ours
    this.run();
  }

  async run() {
    for (let wait = 250; ;) {
      try {
        await new Promise((resolve, reject) => {
          this.wake = reject;
          socket(this.page, (m) => this.take(m), (_, why) => reject(why)).then(({ws, welcome}) => {
            this.ws = ws;
            this.skew = welcome.now - Date.now();
            wait = 250;
            this.on.welcome(welcome);
            this.on.state('connected');
          }, reject);
        });
      } catch (e) {
        this.drop(e);
        if (e instanceof Over) return this.on.state('closed', e.message);
        this.on.state(e.pending ? 'pending' : 'lost', e.message);
        const jitter = e.pending ? 1000 : wait * (0.5 + Math.random());
        await Promise.race([pause(Math.min(jitter, 5000)), new Promise((go) => { this.hurry = go; })]);
        wait = Math.min(wait * 2, 5000);
      }
    }
  }

  drop(why) {
    if (this.ws) {
      this.ws.onclose = this.ws.onmessage = null;
      this.ws.close();
    }
    this.ws = null;
    for (const {reject} of this.asked.values()) reject(why);
    this.asked.clear();
  }

  // again gives this connection up for a new one.
  again(why) {
    if (this.ws) this.wake(new Error(why));
    else if (this.hurry) this.hurry();
  }

  now() { return Date.now() + this.skew; }

  take(m) {
    const wish = m.requestId && this.asked.get(m.requestId);
    if (!wish) return this.on.message(m);
    this.asked.delete(m.requestId);
    clearTimeout(wish.late);
    if (wish.quick) this.on.trip(performance.now() - wish.began);
    if (m.type === 'error') wish.reject(Object.assign(new Error(m.message), {code: m.code}));
    else wish.resolve(m);
    return undefined;
  }

  // send sends what nobody answers.
  send(m) {
    if (this.ws) this.ws.send(JSON.stringify(m));
    return !!this.ws;
  }

  // ask sends a request and resolves with its answer. quick is for what a gateway answers by itself: it measures the way.
  ask(m, quick = false) {
    const requestId = 'q' + ++this.count;
    return new Promise((resolve, reject) => {
      if (!this.send({...m, requestId})) return reject(new Error('not connected'));
      const late = quick && setTimeout(() => this.again('no answer'), 8000);
      this.asked.set(requestId, {resolve, reject, quick, late, began: performance.now()});
      return undefined;
    });
  }

  // insist is for what must arrive: it goes out at once, and by a second connection where the first does not answer soon.
  async insist(m, soon = 1500) {
    const first = this.ask(m);
    const late = pause(soon).then(() => { throw new Error('late'); });
    try {
      return await Promise.race([first, late]);
    } catch (e) {
      if (this.ws && e.message !== 'late') throw e;
    }
    return Promise.any([first, aside(this.page, m)]).catch((e) => { throw e.errors[e.errors.length - 1]; });
  }
}
