import {h, setText} from './dom.js';
import {signBytes, encodeText, countedText, toBase64} from './keys.js';
import {nextKeyNo} from './typist.js';
import {Talk} from './talk.js';
import {Drawer} from './drawer.js';
import {Card} from './card.js';
import {countOpen} from './wording.js';

const wide = matchMedia('(min-width: 1100px)'); // the drawer opens beside the screen

/** @param {string} a @param {string} b */
function compareCodePoints(a, b) {
  const [x, y] = [[...a], [...b]];
  for (let i = 0; i < x.length && i < y.length; i++)
    if (x[i] !== y[i]) return Number(x[i].codePointAt(0)) - Number(y[i].codePointAt(0));
  return x.length - y.length;
}

/**
 * Must match ChatSend.Signed in package protocol, byte for byte.
 * @param {ChatSend} m @param {number} startedAt
 */
export const encodeSend = (m, startedAt) =>
  encodeText(
    `terminal-proxy.v1 chat.send\n${countedText(m.sessionId)} ${startedAt}\n` +
      `${m.keyNo} ${m.at}\n${countedText(m.text)}\n`,
  );

/** @param {ChatAnswer} m @param {number} startedAt */
export function encodeAnswer(m, startedAt) {
  const {verdict = '', words = '', replies = {}} = m.answer;
  const ids = Object.keys(replies).sort(compareCodePoints);
  return encodeText(
    `terminal-proxy.v1 chat.answer\n${countedText(m.sessionId)} ${startedAt}\n` +
      `${countedText(m.request)} ${m.at}\n` +
      `${countedText(verdict)} ${countedText(words)} ${ids.length}\n` +
      ids
        .map(
          (id) =>
            [`${countedText(id)} ${replies[id].length}`, ...replies[id].map(countedText)].join(
              ' ',
            ) + '\n',
        )
        .join(''),
  );
}

function loadStyles() {
  return new Promise((done) => {
    const link = h('link', {
      rel: 'stylesheet',
      href: new URL('./chat.css', import.meta.url).href,
      onload: done,
      onerror: done,
    });
    document.head.append(link);
  });
}

/** @param {App} app */
export async function loadChats(app) {
  await loadStyles();
  return new Chats(app);
}

export class Chats {
  /** @type {Map<string, Talk>} */
  talks = new Map();
  /** @type {Set<string>} The sessions whose records are subscribed to. */
  followed = new Set();
  /** @type {Map<string, Card>} By session and request. */
  cards = new Map();
  /** @type {Set<Card>} */
  leaving = new Set();
  isHidden = document.hidden;
  isOpen = false;
  /** @type {boolean | null} */
  isWanted = null; // whether the person opened the drawer; null before the first press
  /** @type {Drawer | null} */
  drawer = null;
  arrangement = '';
  /** @type {Drawer | null} */
  arrangedIn = null;

  /** @param {App} app */
  constructor(app) {
    this.app = app;
    this.button = h('button', {class: 'talker', onclick: () => this.setOpen(!this.isOpen)});
    document.addEventListener('visibilitychange', () => this.setHidden(document.hidden));
    wide.addEventListener('change', () => this.showRoute());
    this.update();
  }

  update() {
    for (const [id, talk] of this.talks) {
      const s = this.app.sessions.get(id);
      const runs = s && s.chat && s.state === 'running';
      if (!runs || (talk.isUnsure && countOpen(s) === 0)) talk.clearOpen();
      this.updateCards(talk, runs ? 'answered elsewhere' : 'the session has ended');
      if (!s) this.talks.delete(id);
    }
    this.showRoute();
    if (this.drawer && this.app.session) this.drawer.update(this.app.session.session);
    this.followChats();
    for (const c of this.cards.values()) c.session = this.app.sessions.get(c.talk.id) || c.session;
  }

  /** @param {string} id */
  findTalk(id) {
    let talk = this.talks.get(id);
    if (!talk) this.talks.set(id, (talk = new Talk(id)));
    return talk;
  }

  showRoute() {
    const view = this.app.session;
    const s = view?.session.chat ? view.session : null;
    if (!s) this.button.remove();
    else if (this.button.parentNode !== view?.acts) view?.acts.prepend(this.button);
    this.isOpen = !!s && (this.isWanted ?? wide.matches);
    const id = this.isOpen && s ? s.sessionId : '';
    if (this.drawer && this.drawer.talk.id !== id) {
      this.drawer.end();
      this.drawer = null;
    }
    if (id && s && !this.drawer) {
      this.drawer = new Drawer(this, s, this.findTalk(id));
      this.app.layout.append(this.drawer.element);
    }
    this.app.layout.classList.toggle('talks', this.isOpen);
    this.app.placeQuestions();
    this.button.setAttribute('aria-expanded', String(this.isOpen));
    this.labelButton();
    this.followChats();
    this.arrangeCards();
  }

  /** @param {boolean} on */
  setOpen(on) {
    this.isWanted = on;
    this.showRoute();
    if (!on) this.button.focus({preventScroll: true});
    else if (this.drawer)
      (this.app.owner ? this.drawer.line : this.drawer.box).focus({preventScroll: true});
  }

  labelButton() {
    const chat = this.app.session?.session.chat;
    if (!chat) return;
    setText(this.button, 'Chat');
    this.button.title = this.isOpen
      ? 'Hide the conversation'
      : countOpen({chat}) > 0
        ? `${chat.agent} ${chat.state}`
        : 'Show the conversation';
    this.button.classList.toggle('amber', !this.isOpen && countOpen({chat}) > 0);
  }

  followChats() {
    const wanted = new Set();
    if (!this.isHidden && this.app.connectionState === 'connected') {
      if (this.drawer) wanted.add(this.drawer.talk.id);
      for (const s of this.app.sessions.values())
        if (countOpen(s) > 0 && s.state === 'running') wanted.add(s.sessionId);
      // The records say how the cards were answered.
      for (const c of this.cards.values()) wanted.add(c.talk.id);
    }
    for (const id of this.followed) {
      if (wanted.has(id)) continue;
      this.followed.delete(id);
      this.app.connection.send({type: 'chat.unsubscribe', sessionId: id});
    }
    for (const id of wanted) if (!this.followed.has(id)) this.subscribe(id);
  }

  /** @param {string} id */
  async subscribe(id) {
    this.followed.add(id);
    const talk = this.findTalk(id);
    const after = talk.last > 0 ? talk.last : undefined;
    try {
      await this.app.connection.ask({type: 'chat.subscribe', sessionId: id, after});
    } catch (e) {
      // Without a code the connection was lost: followAgain asks again.
      if (e.code && this.drawer?.talk === talk) this.drawer?.showNote(e.message);
    }
  }

  followAgain() {
    this.followed.clear();
    this.followChats();
  }

  /** @param {boolean} hidden */
  setHidden(hidden) {
    this.isHidden = hidden;
    this.followChats();
  }

  /** @param {ChatRecords} m */
  receiveRecords(m) {
    const talk = this.talks.get(m.sessionId);
    if (!talk || !this.followed.has(m.sessionId)) return;
    /** @type {Map<string, ChatClosed>} */
    const closes = new Map();
    for (const {closed} of m.records || []) if (closed) closes.set(closed.id, closed);
    talk.addRecords(m);
    this.updateCards(talk, 'answered elsewhere', closes);
    if (this.drawer && this.drawer.talk === talk) this.drawer.schedule();
    else talk.fresh.length = 0;
  }

  /** @param {Talk} talk @param {string} why @param {Map<string, ChatClosed>} [closes] */
  updateCards(talk, why, closes = new Map()) {
    for (const c of [...this.cards.values()])
      if (c.talk === talk && !talk.openRequests.has(c.request.id))
        this.closeCard(c, closes.get(c.request.id) || why);
    const session = this.app.sessions.get(talk.id);
    for (const open of talk.openRequests.values()) {
      const key = talk.id + ' ' + open.request.id;
      if (this.cards.has(key) || !session?.chat) continue;
      this.cards.set(key, new Card(this, session, talk, open));
    }
    this.arrangeCards();
  }

  /** @param {Card} card @param {string|ChatClosed} how */
  closeCard(card, how) {
    const key = card.talk.id + ' ' + card.request.id;
    if (this.cards.get(key) !== card) return;
    this.cards.delete(key);
    this.leaving.add(card);
    card.close(how, () => {
      this.leaving.delete(card);
      this.arrangeCards();
    });
    this.disarmButtons();
  }

  arrangeCards() {
    /** @type {Card[]} */
    const inside = [];
    /** @type {Card[]} */
    const outside = [];
    for (const c of [...this.leaving, ...this.cards.values()].sort(
      (a, b) => a.askedAt - b.askedAt || a.number - b.number,
    )) {
      c.isInDrawer = this.drawer?.talk === c.talk;
      (c.isInDrawer ? inside : outside).push(c);
      c.refreshTimes();
    }
    const stand = [inside, outside].map((all) => all.map((c) => c.number).join()).join('|');
    if (stand === this.arrangement && this.drawer === this.arrangedIn) return;
    this.arrangement = stand;
    this.arrangedIn = this.drawer;
    this.drawer?.arrangeCards(inside);
    this.app.list.cards = [...inside, ...outside];
    this.app.list.arrangeQuestions();
    this.app.refreshTimes();
  }

  disarmButtons() {
    this.app.list.disarmButtons();
  }

  /** The start is signed, too: a signature is valid for one session only. @param {string} id */
  startOf(id) {
    return this.app.sessions.get(id)?.startedAt || 0;
  }

  /**
   * @template {Message<'chat.send'|'chat.answer'>} T @param {T} m
   * @param {(m: T, startedAt: number) => BufferSource} toSign
   */
  async askSigned(m, toSign) {
    const {page, connection} = this.app;
    return connection.ask({
      ...m,
      signatureB64: toBase64(await signBytes(page.pair, toSign(m, this.startOf(m.sessionId)))),
    });
  }

  /** @param {string} sessionId @param {string} text */
  send(sessionId, text) {
    const at = Math.round(this.app.now());
    return this.askSigned(
      {type: 'chat.send', sessionId, text, keyNo: nextKeyNo(at), at},
      encodeSend,
    );
  }

  /** @param {string} sessionId @param {string} request @param {ChatReply} answer */
  answer(sessionId, request, answer) {
    return this.askSigned(
      {type: 'chat.answer', sessionId, request, answer, at: Math.round(this.app.now())},
      encodeAnswer,
    );
  }

  /** @param {string} sessionId */
  interrupt(sessionId) {
    return this.app.connection.ask({type: 'chat.interrupt', sessionId});
  }
}
