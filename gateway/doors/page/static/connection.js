import {signTicket} from './keys.js';

/** @param {number} ms @returns {Promise<void>} */
export const sleep = (ms) => new Promise((done) => setTimeout(done, ms));

/** @param {string} path @param {object} body @returns {Promise<PostAnswer>} */
export async function postJSON(path, body) {
  const answer = await fetch(path, {
    method: 'POST',
    headers: {'Content-Type': 'application/json'},
    body: JSON.stringify(body),
  });
  let says = {};
  try {
    says = await answer.json();
  } catch {
    /* no sentence came with it */
  }
  return {...says, status: answer.status};
}

// All in ms.
const probeEvery = 5000; // without a message, while the page is visible
const patience = 3000; // after which an answer is late, and the screen shows as old
const lostAfter = 8000; // and after which the page connects again

/** The page has ended, so it must not reconnect. */
class PageOver extends Error {}

/** @param {PageIdentity} page */
export async function requestTicket(page) {
  const got = await postJSON('/v1/tickets', await signTicket(page));
  if (got.ticket) return got.ticket;
  if (got.status === 403) throw new PageOver(got.error || 'the page is over');
  /** @type {GatewayError} */
  const e = new Error(got.error || 'the server does not answer');
  e.pending = got.pending;
  throw e;
}

/**
 * @param {PageIdentity} page @param {(m: Incoming|Reply) => void} take
 * @param {(ws: WebSocket, why: Error) => void} ended
 * @returns {Promise<{ws: WebSocket, welcome: Welcome}>}
 */
async function openSocket(page, take, ended) {
  const name = await requestTicket(page);
  const ws = new WebSocket(
    location.origin.replace(/^http/, 'ws') + '/v1/page',
    'terminal-proxy.v1',
  );
  return new Promise((resolve, reject) => {
    ws.onopen = () => ws.send(JSON.stringify({type: 'hello', ticket: name}));
    ws.onclose = (e) => {
      const why =
        e.code === 1008
          ? new PageOver(e.reason || 'the page is over')
          : new Error(e.reason || 'the connection ended');
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

/**
 * @template {OutgoingType} T @param {PageIdentity} page @param {Message<T>} m
 * @returns {Promise<Answer<T>>}
 */
export async function askAside(page, m) {
  /** @type {(m: Answer<T>) => void} */
  let answer = () => {};
  /** @type {(e: Error) => void} */
  let failed = () => {};
  const answered = /** @type {Promise<Answer<T>>} */ (
    new Promise((resolve, reject) => {
      [answer, failed] = [resolve, reject];
    })
  );
  answered.catch(() => {});
  const {ws} = await openSocket(
    page,
    (reply) => {
      if (reply.requestId !== 'aside') return;
      if (reply.type === 'error') failed(new Error(reply.message));
      else answer(/** @type {Answer<T>} */ (reply));
    },
    (_, why) => failed(why),
  );
  ws.send(JSON.stringify({...m, requestId: 'aside'}));
  try {
    return await answered;
  } finally {
    ws.close();
  }
}

export class Connection {
  heardAt = 0; // ms of performance.now: the newest message
  isStalled = false;
  isProbing = false;
  isHurried = false; // the pause before the next reconnect is left out

  /** @param {PageIdentity} page @param {ConnectionEvents} on */
  constructor(page, on) {
    this.page = page;
    this.events = on;
    /** @type {Map<string, PendingRequest>} By request id. */
    this.pending = new Map();
    this.count = 0;
    /** @type {WebSocket | null} */
    this.ws = null;
    /** @type {(why: Error) => void} */
    this.failSocket = () => {};
    this.retryNow = () => {}; // ends the pause before a reconnect
    this.skew = 0; // ms that the server's clock is ahead
    this.keepConnected();
  }

  async keepConnected() {
    for (let wait = 250; ;) {
      this.isHurried = false;
      try {
        await this.stayConnected(() => {
          wait = 250;
        });
      } catch (e) {
        this.dropSocket(e);
        if (e instanceof PageOver) return this.events.setState('closed', e.message);
        this.events.setState(e.pending ? 'pending' : 'lost', e.message);
        if (this.isHurried) continue;
        const jitter = e.pending ? 1000 : wait * (0.5 + Math.random());
        await Promise.race([
          sleep(Math.min(jitter, 5000)),
          new Promise((resolve) => {
            this.retryNow = () => resolve(undefined);
          }),
        ]);
        wait = Math.min(wait * 2, 5000);
      }
    }
  }

  /**
   * Connects, and returns only by an error.
   * @param {() => void} connected
   * @returns {Promise<never>}
   */
  stayConnected(connected) {
    return new Promise((_, reject) => {
      let isOver = false;
      /** @param {Error} why */
      const fail = (why) => {
        isOver = true;
        clearTimeout(late);
        reject(why);
      };
      const late = setTimeout(() => fail(new Error('the server does not answer')), lostAfter);
      this.failSocket = fail;
      openSocket(
        this.page,
        (m) => this.receive(m),
        (_ws, why) => fail(why),
      ).then(({ws, welcome}) => {
        if (isOver) return ws.close();
        clearTimeout(late);
        this.ws = ws;
        this.heardAt = performance.now();
        this.skew = welcome.now - Date.now();
        connected();
        this.events.handleWelcome(welcome);
        this.events.setState('connected');
        return undefined;
      }, fail);
    });
  }

  /** Called when the network or the person is back. */
  tryAgain() {
    if (this.ws) return void this.probe();
    this.isHurried = true;
    this.failSocket(new Error('connecting anew'));
    return this.retryNow();
  }

  probeWhenQuiet() {
    const quiet = performance.now() - this.heardAt;
    if (this.ws && quiet >= probeEvery) this.probe();
  }

  /** Asks for a part of the list beyond its end, which the gateway answers at once. */
  async probe() {
    if (this.isProbing) return;
    this.isProbing = true;
    const late = setTimeout(() => this.setStalled(true), patience);
    const after = Number.MAX_SAFE_INTEGER + '.';
    await this.ask({type: 'sessions.list', paged: true, after}, true).catch(() => {});
    clearTimeout(late);
    this.isProbing = false;
  }

  /** @param {boolean} on */
  setStalled(on) {
    if (on === this.isStalled || !this.ws) return;
    this.isStalled = on;
    this.events.setState(on ? 'stalled' : 'connected', on ? 'no answer' : '');
  }

  /** @param {Error} why */
  dropSocket(why) {
    if (this.ws) {
      this.ws.onclose = this.ws.onmessage = null;
      this.ws.close();
    }
    this.ws = null;
    this.isStalled = false;
    for (const {reject} of this.pending.values()) reject(why);
    this.pending.clear();
  }

  /** @param {string} why */
  reconnect(why) {
    if (this.ws) this.failSocket(new Error(why));
    else this.retryNow();
  }

  now() {
    return Date.now() + this.skew;
  }

  /** @param {Incoming|Reply} m */
  receive(m) {
    this.heardAt = performance.now();
    this.setStalled(false);
    const wish = m.requestId && this.pending.get(m.requestId);
    if (!wish || !m.requestId) return this.events.handleMessage(/** @type {Incoming} */ (m));
    this.pending.delete(m.requestId);
    clearTimeout(wish.late);
    if (wish.quick) this.events.setRoundTrip(performance.now() - wish.began);
    if (m.type === 'error') wish.reject(Object.assign(new Error(m.message), {code: m.code}));
    else wish.resolve(m);
    return undefined;
  }

  /** Returns false without a connection. @param {Message} m */
  send(m) {
    if (this.ws) this.ws.send(JSON.stringify(m));
    return !!this.ws;
  }

  /**
   * quick: the gateway itself answers, so a late answer means a lost connection.
   * @template {OutgoingType} T @param {Message<T>} m @param {boolean} [quick]
   * @returns {Promise<Answer<T>>}
   */
  ask(m, quick = false) {
    const requestId = 'q' + ++this.count;
    return new Promise((resolve, reject) => {
      if (!this.send(/** @type {Message} */ (/** @type {object} */ ({...m, requestId}))))
        return reject(new Error('not connected'));
      const late = quick ? setTimeout(() => this.reconnect('no answer'), lostAfter) : 0;
      this.pending.set(requestId, {resolve, reject, quick, late, began: performance.now()});
      return undefined;
    });
  }

  /**
   * Asks again over a second connection after soon ms without an answer.
   * @template {OutgoingType} T @param {Message<T>} m @param {number} [soon]
   * @returns {Promise<Answer<T>>}
   */
  async askUrgently(m, soon = 1500) {
    const first = this.ask(m);
    const late = sleep(soon).then(() => {
      throw new Error('late');
    });
    try {
      return await Promise.race([first, late]);
    } catch (e) {
      if (this.ws && e.message !== 'late') throw e;
    }
    return Promise.any([first, askAside(this.page, m)]).catch((e) => {
      throw e.errors[e.errors.length - 1];
    });
  }
}
