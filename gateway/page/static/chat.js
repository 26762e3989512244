// The conversations of coding agents: which of them the page follows, their cards, and the drawer beside the session that is shown. The
// page loads this when a session has a conversation.
import {h, put, show} from './dom.js';
import {sign, bytes, base64} from './keys.js';
import {nextNo} from './typist.js';
import {Talk} from './talk.js';
import {Drawer} from './drawer.js';
import {Card} from './card.js';
import {upload} from './images.js';

const wide = matchMedia('(min-width: 1100px)'); // the drawer stands beside the screen by itself

// counted is a string behind its length in bytes.
const counted = (s) => `${bytes(s).length}:${s}`;

// byPoints orders strings as their bytes in UTF-8 are ordered.
function byPoints(a, b) {
  const [x, y] = [[...a], [...b]];
  for (let i = 0; i < x.length && i < y.length; i++) if (x[i] !== y[i]) return x[i].codePointAt(0) - y[i].codePointAt(0);
  return x.length - y.length;
}

// sendBytes and answerBytes are what the signatures are over, as decisionBytes in keys.js.
export const sendBytes = (m, startedAt) => bytes(`terminal-proxy.v1 chat.send\n${counted(m.sessionId)} ${startedAt}\n${m.keyNo} ${m.at}\n${counted(m.text)}\n` +
  (m.images || []).map((i) => `${counted(i.id)} ${counted(i.name)} ${counted(i.sha256)}\n`).join(''));

export function answerBytes(m, startedAt) {
  const {verdict = '', words = '', replies = {}} = m.answer, ids = Object.keys(replies).sort(byPoints);
  return bytes(`terminal-proxy.v1 chat.answer\n${counted(m.sessionId)} ${startedAt}\n${counted(m.request)} ${m.at}\n` +
    `${counted(verdict)} ${counted(words)} ${ids.length}\n` + ids.map((id) => [`${counted(id)} ${replies[id].length}`, ...replies[id].map(counted)].join(' ') + '\n').join(''));
}

// styled has the page's style sheet for conversations loaded.
function styled() {
  return new Promise((done) => {
    const link = h('link', {rel: 'stylesheet', href: new URL('./chat.css', import.meta.url).href, onload: done, onerror: done});
    document.head.append(link);
  });
}

export async function chats(app) {
  await styled();
  return new Chats(app);
}

class Chats {
  constructor(app) {
    this.app = app;
    this.talks = new Map(); // by session
    this.followed = new Set(); // sessions whose records come
    this.cards = new Map(); // by session and request
    this.leaving = new Set();
    this.hidden = document.hidden;
    this.wanted = null; // whether somebody wants the drawer; null while nobody has said
    this.button = h('button', {class: 'talker', onclick: () => this.turn(!this.open)});
    document.addEventListener('visibilitychange', () => this.turned(document.hidden));
    wide.addEventListener('change', () => this.route());
    this.update();
  }

  // update takes the sessions as they are now.
  update() {
    for (const [id, talk] of this.talks) {
      const s = this.app.sessions.get(id);
      const runs = s && s.chat && s.state === 'running';
      if (!runs || talk.unsure && s.chat.open === 0) talk.none();
      this.deal(talk, runs ? 'answered elsewhere' : 'the session has ended');
      if (!s) this.talks.delete(id);
    }
    this.route();
    if (this.drawer) this.drawer.update(this.app.session.session);
    this.label();
    this.follow();
    for (const c of this.cards.values()) c.session = this.app.sessions.get(c.talk.id) || c.session;
  }

  talk(id) {
    let talk = this.talks.get(id);
    if (!talk) this.talks.set(id, talk = new Talk(id));
    return talk;
  }

  // route shows the drawer of the session that is shown, where it has a conversation.
  route() {
    const view = this.app.session, s = view && view.session, chat = s && s.chat;
    const page = document.querySelector('.page');
    if (chat && this.button.parentNode !== view.acts) view.acts.prepend(this.button);
    if (!chat) this.button.remove();
    this.open = !!chat && (this.wanted ?? wide.matches);
    const id = this.open ? s.sessionId : '';
    if (this.drawer && this.drawer.talk.id !== id) {
      this.drawer.end();
      this.drawer = null;
    }
    if (id && !this.drawer) {
      this.drawer = new Drawer(this, s, this.talk(id));
      page.append(this.drawer.element);
    }
    page.classList.toggle('talks', this.open);
    this.button.setAttribute('aria-expanded', String(this.open));
    this.follow();
    this.arrange();
  }

  // turn opens the drawer, or closes it.
  turn(on) {
    this.wanted = on;
    this.route();
    this.label();
    if (!on) this.button.focus({preventScroll: true});
    else if (this.drawer) (this.drawer.line || this.drawer.box).focus({preventScroll: true});
  }

  // label says on the button what waits behind it.
  label() {
    const chat = this.app.session?.session.chat;
    if (!chat) return;
    put(this.button, 'Chat');
    this.button.title = this.open ? 'Hide the conversation' : chat.open > 0 ? `${chat.agent} ${chat.state}` : 'Show the conversation';
    this.button.classList.toggle('amber', !this.open && chat.open > 0);
  }

  // follow asks for the records of what is looked at: the conversation beside the screen, and those in which something waits.
  follow() {
    const wanted = new Set();
    if (!this.hidden && this.app.name === 'connected') {
      if (this.drawer) wanted.add(this.drawer.talk.id);
      for (const s of this.app.sessions.values()) if (s.chat && s.chat.open > 0 && s.state === 'running') wanted.add(s.sessionId);
      for (const c of this.cards.values()) wanted.add(c.talk.id); // until it is known how they are answered
    }
    for (const id of this.followed) {
      if (wanted.has(id)) continue;
      this.followed.delete(id);
      this.app.connection.send({type: 'chat.unsubscribe', sessionId: id});
    }
    for (const id of wanted) if (!this.followed.has(id)) this.subscribe(id);
  }

  async subscribe(id) {
    this.followed.add(id);
    const talk = this.talk(id), m = {type: 'chat.subscribe', sessionId: id};
    if (talk.last > 0) m.after = talk.last;
    try {
      await this.app.connection.ask(m);
    } catch (e) {
      if (e.code) this.drawer?.talk === talk && this.drawer.tell(e.message); // else the connection is lost: it comes back
    }
  }

  // again follows anew, behind a new connection.
  again() {
    this.followed.clear();
    this.follow();
  }

  turned(hidden) {
    this.hidden = hidden;
    this.follow();
  }

  // records takes the next records of a conversation.
  records(m) {
    const talk = this.talks.get(m.sessionId);
    if (!talk || !this.followed.has(m.sessionId)) return;
    const closes = new Map((m.records || []).filter((r) => r.closed).map((r) => [r.closed.id, r.closed]));
    talk.take(m);
    this.deal(talk, 'answered elsewhere', closes);
    if (this.drawer && this.drawer.talk === talk) this.drawer.changed();
    else talk.fresh.length = 0;
  }

  // deal has a card for each request that is open, and none for the others: how those were closed is said.
  deal(talk, why, closes = new Map()) {
    for (const c of [...this.cards.values()]) if (c.talk === talk && !talk.open.has(c.request.id)) this.closed(c, closes.get(c.request.id) || why);
    const session = this.app.sessions.get(talk.id);
    for (const open of talk.open.values()) {
      const key = talk.id + ' ' + open.request.id;
      if (this.cards.has(key) || !session?.chat) continue;
      this.cards.set(key, new Card(this, session, talk, open));
    }
    this.arrange();
  }

  // closed has a card leave.
  closed(card, how) {
    const key = card.talk.id + ' ' + card.request.id;
    if (this.cards.get(key) !== card) return;
    this.cards.delete(key);
    this.leaving.add(card);
    card.gone(how, () => {
      this.leaving.delete(card);
      this.arrange();
    });
    this.calm();
  }

  // arrange puts the cards where they belong: into the drawer of their session, or before everything else, with other agents' questions.
  arrange() {
    const inside = [], outside = [];
    for (const c of [...this.leaving, ...this.cards.values()].sort((a, b) => a.began - b.began || a.no - b.no)) {
      c.within = this.drawer?.talk === c.talk;
      (c.within ? inside : outside).push(c);
      c.tick();
    }
    const stand = [inside, outside].map((all) => all.map((c) => c.no).join()).join('|');
    if (stand === this.stand && this.drawer === this.into) return;
    this.stand = stand;
    this.into = this.drawer;
    this.drawer?.arrange(inside);
    this.app.list.cards = [...inside, ...outside];
    this.app.list.arrange();
    this.app.tick();
  }

  calm() { this.app.list.calm(); }

  // started is part of what is signed: the signature is good for this session alone.
  started(id) { return this.app.sessions.get(id)?.startedAt; }

  async signed(m, toSign) {
    const {page, connection} = this.app;
    return connection.ask({...m, signatureB64: base64(await sign(page.pair, toSign(m, this.started(m.sessionId))))});
  }

  // send says something, with images that are files of the browser's.
  async send(sessionId, text, files = []) {
    const images = [];
    for (const f of files) images.push(await upload(this.app.connection, sessionId, f));
    const at = Math.round(this.app.now()), m = {type: 'chat.send', sessionId, text, keyNo: nextNo(at), at};
    if (images.length > 0) m.images = images;
    return this.signed(m, sendBytes);
  }

  answer(sessionId, request, answer) {
    return this.signed({type: 'chat.answer', sessionId, request, answer, at: Math.round(this.app.now())}, answerBytes);
  }

  interrupt(sessionId) { return this.app.connection.ask({type: 'chat.interrupt', sessionId}); }
}
