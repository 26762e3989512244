// What a person types, on its way to a session: numbered, signed, in order. After a failure everything that waits is dropped, and so is
// what comes before the person has paused: what follows a gap could mean something else.
import {signKeys} from './keys.js';
import {pause} from './connection.js';

const most = 500; // characters of a message: a gateway takes 4 KiB from a page
const abreast = 16; // messages without an answer
const rest = 1000; // ms without a key in which somebody who types reads that something was not typed
const enterAfter = 250; // ms: a program that tells a paste from typing by its speed takes an Enter that comes at once for a part of it

let lastNo = 0; // of all that this page's key signed: of no two messages the same

export const nextNo = (at) => lastNo = Math.max(at, lastNo + 1);

// pieces cuts text between characters.
function pieces(text) {
  const all = [];
  for (let at = 0; at < text.length;) {
    let end = Math.min(at + most, text.length);
    if (end < text.length && /[\uD800-\uDBFF]/.test(text[end - 1])) end--;
    all.push(text.slice(at, end));
    at = end;
  }
  return all;
}

export class Typist {
  // app has the page, its connection and the time. on.failed is told why nothing more is typed, on.deaf whether keys are dropped for that,
  // and on.typed that something was typed.
  constructor(app, session, on) {
    Object.assign(this, {app, session, on});
    this.anew();
  }

  // anew drops what waits.
  anew() {
    this.round = (this.round || 0) + 1;
    this.queue = [];
    this.after = 0; // the number of the message before
    this.open = 0; // messages without an answer
  }

  text(text) { pieces(text).forEach((data) => this.put({kind: 'text', data})); }

  key(name) { this.put({kind: 'keys', data: name}); }

  paste(text) {
    const all = pieces(text);
    all.forEach((data, i) => this.put(i < all.length - 1 ? {kind: 'paste', data, more: true} : {kind: 'paste', data}));
  }

  // line types a line and ends it.
  line(text) {
    this.text(text);
    this.put({kind: 'keys', data: 'enter', rest: text !== ''});
  }

  put(part) {
    if (this.deaf) return this.hush();
    this.queue.push(part);
    return this.run();
  }

  // hush drops keys until none has come for a moment.
  hush() {
    clearTimeout(this.deaf);
    this.deaf = setTimeout(() => this.heed(), rest);
    this.on.deaf(true);
  }

  // heed takes keys again.
  heed() {
    clearTimeout(this.deaf);
    this.deaf = 0;
    this.on.deaf(false);
  }

  // next takes what goes into one message: text that has come in the meantime goes together.
  next() {
    const part = this.queue.shift();
    while (part.kind === 'text' && this.queue[0]?.kind === 'text' && part.data.length + this.queue[0].data.length <= most) {
      part.data += this.queue.shift().data;
    }
    return part;
  }

  async run() {
    if (this.running === this.round) return;
    const round = this.running = this.round;
    while (this.queue.length > 0 && this.open < abreast && !(this.queue[0].rest && this.open > 0)) {
      const {rest, ...part} = this.next();
      if (rest) await pause(enterAfter);
      if (round !== this.round) return;
      const at = Math.round(this.app.now()), m = {type: 'terminal.keys', sessionId: this.session.sessionId, keyNo: nextNo(at), at, ...part};
      if (this.after > 0) m.after = this.after;
      this.after = m.keyNo;
      this.open++;
      const signed = await signKeys(this.app.page, m, this.session.startedAt);
      if (round !== this.round) return;
      this.app.connection.ask(signed).then(() => this.done(round), (e) => this.fail(round, e));
    }
    this.running = 0;
  }

  done(round) {
    if (round !== this.round) return;
    this.open--;
    this.on.typed();
    this.run();
  }

  // lost says that the connection was, and with it the answers.
  lost() {
    if (this.open + this.queue.length > 0) this.fail(this.round, new Error('the connection was lost'));
    else this.anew();
  }

  fail(round, e) {
    if (round !== this.round) return;
    this.anew();
    this.hush();
    this.on.failed(e);
  }
}
