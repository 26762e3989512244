// The list: questions first, then the sessions, told by program and directory.
import {h, put, show, order} from './dom.js';
import {program, directory, state, drives, rest, clean} from './wording.js';
import {Question} from './question.js';

const most = 200; // rows: thousands would be slow to draw, and nobody reads them

export class List {
  constructor(app) {
    this.app = app;
    this.rows = new Map(); // those that are shown
    this.all = [];
    this.questions = new Map();
    this.leaving = [];
    this.cards = []; // of coding agents: chat.js shows those that are within a drawer
    this.asks = h('div', {class: 'questions'});
    this.sessions = h('ul', {class: 'sessions'});
    this.none = h('p', {class: 'where none'}, 'No sessions. Start a program with: proxy --agent PROGRAM');
    this.missing = h('p', {class: 'where missing', role: 'status'});
    this.element = h('nav', {'aria-label': 'sessions'}, h('h2', {}, 'Sessions'), this.missing, this.sessions, this.none);
    this.lacks();
  }

  // lacks says that the list misses sessions of other gateways, or no longer.
  lacks(incomplete) {
    const at = incomplete && new Date(incomplete.since).toLocaleTimeString();
    put(this.missing, incomplete ? `Incomplete: since ${at} ${clean(incomplete.why)}.` : '');
    show(this.missing, Boolean(incomplete));
  }

  // update takes the sessions as they are now, by id.
  update(sessions) {
    for (const [id, q] of this.questions) {
      const s = sessions.get(id);
      if (q.stands(s)) q.update(s);
      else this.drop(id, q, s);
    }
    let more = false;
    for (const s of sessions.values()) {
      if (s.state === 'running' && s.keyboard.asking && !this.questions.has(s.sessionId)) {
        this.questions.set(s.sessionId, new Question(this.app, s));
        more = true;
      }
    }
    if (more) this.arrange();
    this.all = [...sessions.values()];
    this.all.sort(newest(this.all.length > most));
    this.list();
    show(this.none, sessions.size === 0);
    if (sessions.size > 10 && !this.loading) this.search();
  }

  // search has sessions found by words, once there are so many that somebody has to search.
  async search() {
    this.loading = true;
    try {
      const {Find} = await import('./find.js');
      this.find = new Find(this, most);
      this.list();
    } catch {
      this.loading = false; // the next change of the list tries again
    }
  }

  // list shows the sessions that are looked for; the row from gets the focus.
  list(from) {
    const shown = this.find ? this.find.of(this.all) : this.all.slice(0, most), ids = new Set(shown.map((s) => s.sessionId));
    for (const id of [...this.rows.keys()]) if (!ids.has(id)) this.rows.delete(id);
    for (const s of shown) this.row(s);
    order(this.sessions, shown.map((s) => this.rows.get(s.sessionId).item));
    if (from) this.sessions.children[from]?.firstChild.focus();
    this.tick();
  }

  // drop takes a question away that has its answer.
  drop(id, q, session) {
    this.questions.delete(id);
    this.leaving.push(q);
    q.gone(session, () => {
      this.leaving = this.leaving.filter((l) => l !== q);
      this.arrange();
    });
    this.calm();
  }

  // calm is for when buttons may have moved.
  calm() {
    for (const q of [...this.questions.values(), ...this.cards]) q.calm();
  }

  // arrange shows the questions.
  arrange() {
    const all = [...this.leaving, ...this.questions.values(), ...this.cards.filter((c) => !c.within)].sort((a, b) => a.began - b.began);
    order(this.asks, all.map((q) => q.element));
    this.calm();
  }

  row(s) {
    let r = this.rows.get(s.sessionId);
    if (!r) {
      r = {title: h('strong', {}), tag: h('span', {class: 'tag'}), where: h('span', {class: 'where'}), says: h('code', {})};
      r.link = h('a', {href: '#s=' + encodeURIComponent(s.sessionId)}, r.title, r.where, r.tag, r.says);
      r.item = h('li', {}, r.link);
      this.rows.set(s.sessionId, r);
    }
    r.session = s;
    put(r.title, program(s));
    const title = s.title !== s.command && clean(s.title) !== program(s) ? clean(s.title) : '';
    const says = clean(s.lastLine) || title;
    put(r.says, says);
    show(r.says, says !== '');
  }

  // tick says anew what time changes.
  tick() {
    const now = this.app.now();
    if ([...this.questions.values(), ...this.cards].filter((q) => q.tick()).length > 0) this.calm();
    for (const r of this.rows.values()) {
      const [kind, words] = state(r.session, now);
      const {muted} = r.session;
      put(r.where, [directory(r.session), kind === 'agent' && rest(r.session, now), muted && `${clean(muted.join(', '))} muted`].filter(Boolean).join(' · '));
      r.tag.className = 'tag ' + kind;
      put(r.tag, words);
      const shown = this.app.shown === r.session.sessionId;
      if (shown) r.link.setAttribute('aria-current', 'page');
      else r.link.removeAttribute('aria-current');
      r.item.classList.toggle('over', r.session.state !== 'running');
      r.item.classList.toggle('driven', drives(r.session.keyboard, now) !== '');
    }
  }

  retheme(theme) {
    for (const q of [...this.questions.values(), ...this.leaving]) q.retheme(theme);
  }
}

// newest first, behind those whose coding agent waits for somebody, and what has ended behind what runs. Of a list that is too long to be
// shown whole, those that an agent asks for or drives come first, too. Else the order does not change while somebody looks for a line.
function newest(long) {
  const first = (s) => s.chat?.open > 0 || long && (s.keyboard.asking || s.keyboard.holder === 'agent');
  const place = (s) => (s.state !== 'running' ? 2 : first(s) ? 0 : 1);
  return (a, b) => place(a) - place(b) || b.startedAt - a.startedAt || (a.sessionId < b.sessionId ? -1 : 1);
}
