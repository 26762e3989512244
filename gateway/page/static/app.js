// The page's start: its key, its way in, and what is shown.
import {h, put, show, order} from './dom.js';
import {hex, makeKey, remember, recall, forget, signDecision} from './keys.js';
import {Connection, post} from './connection.js';
import {Views} from './views.js';
import {List} from './list.js';
import {Records} from './records.js';
import {Session} from './session.js';
import {Notify} from './notify.js';
import {paste} from './paste.js';
import {dark, light} from './painter.js';
import {program, waits} from './wording.js';
import {wordsOf} from './words.js';

const root = document.getElementById('app');
const bright = matchMedia('(prefers-color-scheme: light)');
const refresh = 15000; // ms between two looks at the list: how long a session is quiet comes with no message

// door shows what there is to say before there is a connection.
function door(...what) {
  root.replaceChildren(h('div', {class: 'door', role: 'status'}, ...what));
}

// enter gives the page that the code of the link opens, or the one that was opened before in this browser.
async function enter() {
  const code = new URLSearchParams(location.hash.slice(1)).get('c');
  if (code !== null) history.replaceState(null, '', location.pathname);
  if (code === null) {
    const page = await recall();
    if (page && page.expires > Date.now()) return page;
    throw Object.assign(new Error('This page opens with a link: run gateway open where your programs run.'), {linkless: true});
  }
  const {pair, raw} = await makeKey().catch(() => {
    throw new Error(isSecureContext ? 'This browser cannot make Ed25519 keys: use a newer one.'
      : 'A browser makes keys only for pages of its own machine, or that come with TLS: see gateway open --host.');
  });
  const got = await post('/v1/page/enter', {code, key: hex(raw)});
  if (!got.page) throw new Error(got.error || 'the server does not answer');
  const page = {page: got.page, role: got.role, expires: got.expires, pair, words: got.pending ? await wordsOf(raw) : []};
  await remember(page);
  return page;
}

class App {
  constructor(page) {
    this.page = page;
    this.owner = page.role === 'owner';
    this.sessions = new Map();
    this.only = '';
    this.trip = h('span', {class: 'trip'});
    this.connection = new Connection(page, {
      state: (name, why) => this.state(name, why),
      welcome: (m) => this.welcome(m),
      message: (m) => this.message(m),
      trip: (ms) => { this.ms = Math.max(1, Math.round(ms)); this.states(); },
    });
    this.views = new Views(this.connection);
    this.list = new List(this);
    this.notify = new Notify(page);
    this.records = new Records(this);
    addEventListener('hashchange', () => this.route());
    bright.addEventListener('change', () => this.retheme());
    setInterval(() => this.tick(), 1000);
    setInterval(() => this.look(), refresh);
  }

  now() { return this.connection.now(); }

  theme() { return bright.matches ? light : dark; }

  state(name, why) {
    this.name = name;
    this.why = why;
    if (name === 'closed') {
      forget();
      this.tick();
    }
    if (name === 'pending') this.pending();
    if (this.session) this.session.cut(name !== 'connected');
    this.chats?.again();
    if (!this.built && name !== 'pending' && name !== 'connected') door(name === 'closed' ? `Closed: ${why}` : `${why}: trying again`);
    this.states();
  }

  // pending asks the person to compare: a server between that has put another key in this one's place would show other words.
  pending() {
    if (this.waiting) return;
    this.waiting = true;
    door(h('h1', {}, 'Are these the words in your terminal?'), h('p', {class: 'words'}, this.page.words.join(' ')),
      h('p', {}, 'If they are, answer y there: this page may then give agents your keyboard. If not, answer n.'));
  }

  states() {
    const words = {connected: this.ms ? `connected, ${this.ms} ms` : 'connected', lost: 'lost, trying again', closed: `closed: ${this.why}`}[this.name];
    put(this.trip, words || 'connecting');
    this.trip.className = 'trip ' + this.name;
    this.trip.title = this.why || '';
  }

  build() {
    this.built = true;
    this.start = h('p', {class: 'start where'}, 'Choose a session.');
    this.main = h('div', {class: 'main'}, this.list.asks, this.start);
    this.side = h('div', {class: 'side'}, h('header', {}, h('strong', {}, 'terminals'), this.trip), this.list.element, this.records.element, this.notify.element);
    root.replaceChildren(h('div', {class: 'page'}, this.side, this.main));
  }

  async welcome(m) {
    this.only = m.session;
    if (!this.built) this.build();
    this.connection.ask({type: 'sessions.watch'}, true).catch(() => {});
    this.views.again();
    this.records.look();
    this.route();
    this.notify.welcome();
  }

  message(m) {
    if (m.type === 'sessions.changed') this.changed(m);
    else if (m.type === 'terminal.rows') this.views.rows(m);
    else if (m.type === 'chat.records') this.chats?.records(m);
  }

  changed(m) {
    if (m.full) this.sessions.clear();
    for (const id of m.gone || []) this.sessions.delete(id);
    for (const s of m.sessions || []) this.sessions.set(s.sessionId, {...s, idleSince: this.now() - s.idleMs});
    if (m.more) return;
    this.list.lacks(m.incomplete);
    this.draw();
    this.listed = true;
  }

  // look asks for a part of the list now and then, the next one each time: it says how long sessions have been quiet, and that the
  // connection lives. What changes comes unasked.
  async look() {
    if (document.hidden || this.name !== 'connected') return;
    this.records.look();
    const after = this.looked || '';
    try {
      const {sessions, next = '', incomplete} = await this.connection.ask({type: 'sessions.list', paged: true, after}, true);
      this.looked = next;
      this.changed({full: after === '' && next === '', sessions, incomplete});
    } catch { /* lost: the state says so */ }
  }

  draw() {
    this.list.update(this.sessions);
    this.route();
    if (this.session && this.sessions.has(this.session.id)) this.session.update(this.sessions.get(this.session.id));
    this.talks();
    this.tick();
  }

  // talks has the conversations of coding agents shown, once there are some.
  async talks() {
    if (this.chats) return void this.chats.update();
    if (this.loading || ![...this.sessions.values()].some((s) => s.chat)) return;
    this.loading = true;
    try {
      this.chats = await (await import('./chat.js')).chats(this);
    } catch { /* not loaded: the next change of the list tries again */ }
    this.loading = false;
  }

  // route shows the session that the address names.
  route() {
    if (!this.built) return;
    const hash = new URLSearchParams(location.hash.slice(1));
    this.playback(hash.get('r') || '');
    const id = this.played ? '' : this.only || hash.get('s') || '';
    const s = this.sessions.get(id);
    if (this.session && (!s || this.session.id !== id)) {
      this.session.end();
      this.session = null;
    }
    if (s && !this.session) {
      this.session = new Session(this, s);
      this.session.cut(this.name !== 'connected');
    }
    const changed = this.shown !== (s ? id : '');
    this.shown = s ? id : '';
    const chosen = this.session || this.replay;
    show(this.start, !chosen);
    order(this.main, [this.list.asks, chosen ? chosen.element : this.start]);
    document.body.classList.toggle('one', !!chosen);
    document.body.classList.toggle('only', this.only !== '');
    if (changed && this.session && this.listed) this.session.title.focus({preventScroll: true});
    this.chats?.route();
    this.list.tick();
    this.records.tick();
  }

  // playback shows the recording that the address names.
  playback(id) {
    if (this.played === id) return;
    this.played = id;
    if (this.replay) this.replay.end();
    this.replay = null;
    put(this.start, id ? 'One moment…' : 'Choose a session.');
    if (!id) return;
    this.records.open(id).then((replay) => {
      if (this.played !== id) return void (replay && replay.end());
      this.replay = replay;
      if (!replay) put(this.start, 'This recording is not there any more.');
      this.route();
      if (replay) replay.title.focus({preventScroll: true});
      return undefined;
    }, (e) => put(this.start, e.message));
  }

  tick() {
    if (!this.built) return;
    this.list.tick();
    if (this.session) this.session.tick();
    const talks = [...this.sessions.values()].filter((s) => s.state === 'running' && waits(s));
    const n = this.list.questions.size + talks.reduce((sum, s) => sum + s.chat.open, 0), [question] = this.list.questions.values();
    const what = this.session ? program(this.session.session) : this.replay ? program(this.replay.record) : 'terminals';
    const title = n > 0 ? `(${n}) ${question ? question.agent + ' asks' : waits(talks[0])} · ${what}` : what;
    if (document.title !== title) document.title = title;
  }

  retheme() {
    this.list.retheme(this.theme());
    for (const chosen of [this.session, this.replay]) if (chosen) chosen.retheme(this.theme());
  }

  // decide is a decision for a session, signed where it gives agents more.
  async decide(session, d) {
    const m = {type: 'terminal.control.decide', sessionId: session.sessionId, grant: false, by: 'a page', ...d};
    if (!m.grant && m.hide !== 'off' && m.mute !== 'off') return this.connection.insist(m);
    const s = this.sessions.get(session.sessionId) || session;
    const full = {epoch: session.keyboard.epoch, ...m, at: this.now()};
    return this.connection.ask(await signDecision(this.page, full, s.startedAt));
  }

  // give gives the keyboard to the agent that asks, under the epoch that its question was shown with.
  give(session, level, seconds) {
    return this.decide(session, {grant: true, level, seconds, agentName: session.keyboard.asking});
  }

  takeBack(session) { return this.decide(session, {}); }

  // refuse refuses what is asked for, and takes the keyboard from nobody; an older proxy can only take it back.
  refuse(session) { return session.mutes ? this.decide(session, {refuse: true, agentName: session.keyboard.asking}) : this.takeBack(session); }

  mute(session, agentName) { return this.decide(session, {mute: 'on', agentName}); }

  unmute(session, agentName, epoch) { return this.decide(session, {mute: 'off', agentName, epoch}); }

  hide(session) { return this.decide(session, {hide: 'on'}); }

  unhide(session, epoch) { return this.decide(session, {hide: 'off', epoch}); }

  write(session, text) {
    return this.connection.ask({type: 'terminal.message', sessionId: session.sessionId, from: 'user', text});
  }
}

const start = () => enter().then((page) => new App(page), (e) => door(e.message, e.linkless && paste(start)));

start();
