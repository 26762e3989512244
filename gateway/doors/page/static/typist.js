import {signKeys} from './keys.js';
import {sleep} from './connection.js';

const maxText = 500; // characters of a message: the gateway accepts 4 KiB from a page
const maxUnanswered = 16; // messages on their way
const maxMoves = 4; // parts that wait, beyond which turns of the wheel are left out
const pauseNeeded = 1000; // ms without a key, in which the person reads about the failure
// In ms. Programs that detect a paste by its speed would treat an immediate Enter as part of it.
const enterAfter = 250;

let lastNo = 0; // of everything that this page's key signs: numbers only grow

/** @param {number} at */
export const nextKeyNo = (at) => (lastNo = Math.max(at, lastNo + 1));

/** @param {string} text */
function splitText(text) {
  const all = [];
  for (let at = 0; at < text.length;) {
    let end = Math.min(at + maxText, text.length);
    if (end < text.length && /[\uD800-\uDBFF]/.test(text[end - 1])) end--;
    all.push(text.slice(at, end));
    at = end;
  }
  return all;
}

/**
 * Sends keys numbered, signed and in order. After a failure it drops keys until the person pauses:
 * after a gap they could mean something else.
 */
export class Typist {
  round = 0; // counts restarts of the queue; answers of an older round are ignored
  sendingRound = -1;
  /** @type {KeysPart[]} */
  queue = [];
  lastKeyNo = 0; // of the message before, 0 to begin anew
  unanswered = 0;
  dropTimer = 0; // set while keys are dropped

  /** @param {App} app @param {Session} session @param {TypistEvents} on */
  constructor(app, session, on) {
    this.app = app;
    this.session = session;
    this.events = on;
  }

  restart() {
    this.round++;
    this.queue = [];
    this.lastKeyNo = 0;
    this.unanswered = 0;
  }

  /** @param {string} text */
  typeText(text) {
    splitText(text).forEach((data) => this.queuePart({kind: 'text', data}));
  }

  /** @param {string} name */
  typeKey(name) {
    this.queuePart({kind: 'keys', data: name});
  }

  /** @param {string} data @param {boolean} [mayDrop] */
  moveMouse(data, mayDrop) {
    if (!mayDrop || this.queue.length < maxMoves) this.queuePart({kind: 'mouse', data});
  }

  /** @param {string} text */
  pasteText(text) {
    const all = splitText(text);
    all.forEach((data, i) =>
      this.queuePart(
        i < all.length - 1 ? {kind: 'paste', data, more: true} : {kind: 'paste', data},
      ),
    );
  }

  /** @param {string} text */
  typeLine(text) {
    this.typeText(text);
    this.queuePart({kind: 'keys', data: 'enter', enterAlone: text !== ''});
  }

  /** @param {KeysPart} part */
  queuePart(part) {
    if (this.dropTimer) return this.dropKeys();
    this.queue.push(part);
    return this.sendQueue();
  }

  dropKeys() {
    clearTimeout(this.dropTimer);
    this.dropTimer = setTimeout(() => this.acceptKeys(), pauseNeeded);
    this.events.showDropping(true);
  }

  acceptKeys() {
    clearTimeout(this.dropTimer);
    this.dropTimer = 0;
    this.events.showDropping(false);
  }

  nextPart() {
    const part = this.queue.shift();
    if (part?.kind !== 'text') return part;
    for (let more = this.queue[0]; more?.kind === 'text'; more = this.queue[0]) {
      if (part.data.length + more.data.length > maxText) break;
      part.data += more.data;
      this.queue.shift();
    }
    return part;
  }

  async sendQueue() {
    if (this.sendingRound === this.round) return;
    const round = (this.sendingRound = this.round);
    while (this.unanswered < maxUnanswered && !(this.queue[0]?.enterAlone && this.unanswered > 0)) {
      const next = this.nextPart();
      if (!next) break;
      const {enterAlone, ...part} = next;
      if (enterAlone) await sleep(enterAfter);
      if (round !== this.round) return;
      const at = Math.round(this.app.now());
      const {sessionId} = this.session;
      /** @type {Message<'terminal.keys'>} */
      const m = {type: 'terminal.keys', sessionId, keyNo: nextKeyNo(at), at, ...part};
      if (this.lastKeyNo > 0) m.after = this.lastKeyNo;
      this.lastKeyNo = m.keyNo;
      this.unanswered++;
      const signed = await signKeys(this.app.page, m, this.session.startedAt);
      if (round !== this.round) return;
      this.app.connection.ask(signed).then(
        () => this.handleDone(round),
        (e) => this.handleFailure(round, e),
      );
    }
    this.sendingRound = -1;
  }

  /** @param {number} round */
  handleDone(round) {
    if (round !== this.round) return;
    this.unanswered--;
    this.events.handleTyped();
    this.sendQueue();
  }

  handleLoss() {
    if (this.unanswered + this.queue.length > 0)
      this.handleFailure(this.round, new Error('the connection was lost'));
    else this.restart();
  }

  /** @param {number} round @param {GatewayError} e */
  handleFailure(round, e) {
    if (round !== this.round) return;
    this.restart();
    this.dropKeys();
    this.events.handleFailure(e);
  }
}
