import {h, setText, setShown, orderChildren} from './dom.js';
import {
  programLabel,
  shortDirectoryLabel,
  directoryLabel,
  describeState,
  describeDriver,
  describeQuiet,
  cleanText,
  countOpen,
  distinguishByStart,
  formatNumber,
} from './wording.js';
import {Question} from './question.js';

const maxRows = 200; // more would be slow to draw
const putAwayKey = 'ended sessions that were put away';

/** @param {Session} s */
const isOver = (s) => s.state === 'exited';

/** @param {Session} session */
function makeRow(session) {
  const title = h('strong', {});
  const tag = h('span', {class: 'tag'});
  const where = h('span', {class: 'where'});
  const says = h('code', {});
  const href = '#s=' + encodeURIComponent(session.sessionId);
  const link = h('a', {href}, title, where, tag, says);
  return {session, start: '', title, tag, where, says, link, item: h('li', {}, link)};
}

export class List {
  /** @param {App} app */
  constructor(app) {
    this.app = app;
    /** @type {Map<string, ReturnType<typeof makeRow>>} The rows that are shown. */
    this.rows = new Map();
    /** @type {Session[]} */
    this.all = [];
    /** @type {Set<string>} Ended sessions that the person removed from the list. */
    this.putAway = new Set(JSON.parse(sessionStorage.getItem(putAwayKey) || '[]'));
    /** @type {(s: Session) => string} */
    this.describeStart = () => '';
    /** @type {Map<string, Question>} */
    this.questions = new Map();
    /** @type {Map<string, SecretQuestion>} Those of programs, by their ids. */
    this.secrets = new Map();
    /** @type {(Question|SecretQuestion)[]} */
    this.leaving = [];
    /** @type {Card[]} */
    this.cards = []; // those in a drawer are shown there
    this.questionBox = h('div', {class: 'questions'});
    this.sessionList = h('ul', {class: 'sessions'});
    this.emptyNote = h(
      'p',
      {class: 'where none'},
      'No sessions. Start a program with: ',
      h('code', {}, 'proxy --agent PROGRAM'),
    );
    this.incompleteNote = h('p', {class: 'where missing', role: 'status'});
    this.putAwayButton = h('button', {
      class: 'plain put-away',
      hidden: true,
      onclick: () => this.putAwayEnded(),
    });
    this.element = h(
      'nav',
      {'aria-label': 'sessions'},
      h('h2', {}, 'Sessions'),
      this.incompleteNote,
      this.sessionList,
      this.putAwayButton,
      this.emptyNote,
    );
    this.showIncomplete();
  }

  /** @param {Incomplete} [incomplete] */
  showIncomplete(incomplete) {
    const at = incomplete && new Date(incomplete.since).toLocaleTimeString();
    setText(
      this.incompleteNote,
      incomplete ? `Incomplete: since ${at} ${cleanText(incomplete.why)}.` : '',
    );
    setShown(this.incompleteNote, Boolean(incomplete));
  }

  /** @param {Map<string, Session>} sessions */
  update(sessions) {
    for (const [id, q] of this.questions) {
      const s = sessions.get(id);
      if (s && q.isOpen(s)) q.update(s);
      else this.removeQuestion(id, q, s);
    }
    let more = false;
    for (const s of sessions.values()) {
      if (s.state === 'running' && s.keyboard.asking && !this.questions.has(s.sessionId)) {
        this.questions.set(s.sessionId, new Question(this.app, s));
        more = true;
      }
    }
    if (more) this.arrangeQuestions();
    this.all = [...sessions.values()].filter((s) => !isOver(s) || !this.putAway.has(s.sessionId));
    const ended = this.all.filter(isOver).length;
    setShown(this.putAwayButton, ended > 0);
    setText(this.putAwayButton, `Put away ${formatNumber(ended)} ended`);
    this.all.sort(compareSessions(this.all.length > maxRows));
    this.drawRows();
    setShown(this.emptyNote, this.all.length === 0);
    if (sessions.size > 10 && !this.isLoading) this.loadSearch();
  }

  /** Removes ended sessions until the tab is closed. Other pages still show them. */
  putAwayEnded() {
    for (const s of this.all) if (isOver(s)) this.putAway.add(s.sessionId);
    sessionStorage.setItem(putAwayKey, JSON.stringify([...this.putAway]));
    this.update(this.app.sessions);
    this.element.querySelector('a')?.focus();
  }

  async loadSearch() {
    this.isLoading = true;
    try {
      const {Search} = await import('./find.js');
      this.searchBox = new Search(this, maxRows);
      this.drawRows();
    } catch {
      this.isLoading = false; // the next change of the list retries
    }
  }

  /** @param {number} [from] */
  drawRows(from) {
    this.describeStart = distinguishByStart(this.all, this.app.now());
    const shown = this.searchBox
      ? this.searchBox.selectShown(this.all)
      : this.all.slice(0, maxRows);
    const ids = new Set(shown.map((s) => s.sessionId));
    for (const id of [...this.rows.keys()]) if (!ids.has(id)) this.rows.delete(id);
    orderChildren(
      this.sessionList,
      shown.map((s) => this.drawRow(s).item),
    );
    if (from) this.sessionList.children[from]?.querySelector('a')?.focus();
    this.refreshTimes();
  }

  /** @param {string} id @param {Question} q @param {Session|undefined} session */
  removeQuestion(id, q, session) {
    this.questions.delete(id);
    this.leaving.push(q);
    q.close(session, () => {
      this.leaving = this.leaving.filter((l) => l !== q);
      this.arrangeQuestions();
    });
    this.disarmButtons();
  }

  /** @param {SecretQuestion} q @param {SecretEnded} m */
  removeSecret(q, m) {
    this.leaving.push(q);
    q.close(m, () => {
      this.leaving = this.leaving.filter((l) => l !== q);
      this.arrangeQuestions();
    });
    this.disarmButtons();
  }

  disarmButtons() {
    const all = [...this.secrets.values(), ...this.questions.values(), ...this.cards];
    for (const q of all) q.disarmButtons();
  }

  arrangeQuestions() {
    const all = [
      ...this.leaving,
      ...this.secrets.values(),
      ...this.questions.values(),
      ...this.cards.filter((c) => !c.isInDrawer),
    ].sort((a, b) => a.askedAt - b.askedAt);
    orderChildren(
      this.questionBox,
      all.map((q) => q.element),
    );
    this.disarmButtons();
  }

  /** @param {Session} s */
  drawRow(s) {
    let r = this.rows.get(s.sessionId);
    if (!r) {
      r = makeRow(s);
      this.rows.set(s.sessionId, r);
    }
    r.session = s;
    r.start = this.describeStart(s);
    r.where.title = directoryLabel(s);
    setText(r.title, programLabel(s));
    const title =
      s.title !== s.command && cleanText(s.title) !== programLabel(s) ? cleanText(s.title) : '';
    const says = cleanText(s.lastLine) || title;
    setText(r.says, says);
    setShown(r.says, says !== '');
    return r;
  }

  refreshTimes() {
    const now = this.app.now();
    for (const q of this.secrets.values()) q.refreshTimes();
    if ([...this.questions.values(), ...this.cards].filter((q) => q.refreshTimes()).length > 0)
      this.disarmButtons();
    for (const r of this.rows.values()) {
      const [kind, words] = describeState(r.session, now);
      const {muted} = r.session;
      setText(
        r.where,
        [
          shortDirectoryLabel(r.session),
          r.start,
          kind === 'agent' && describeQuiet(r.session, now),
          muted && `${cleanText(muted.join(', '))} muted`,
        ]
          .filter(Boolean)
          .join(' · '),
      );
      r.tag.className = 'tag ' + kind;
      setText(r.tag, words);
      const shown = this.app.shownID === r.session.sessionId;
      if (shown) r.link.setAttribute('aria-current', 'page');
      else r.link.removeAttribute('aria-current');
      r.item.classList.toggle('over', r.session.state !== 'running');
      r.item.classList.toggle('driven', describeDriver(r.session.keyboard, now) !== '');
    }
  }

  /** @param {Theme} theme */
  setTheme(theme) {
    for (const q of [...this.questions.values(), ...this.leaving]) q.setTheme(theme);
  }
}

/**
 * Newest first, ended ones last, those that wait for a person on top. In a long list, those that an
 * agent drives are on top, too: rows beyond maxRows are hidden.
 * @param {boolean} long @returns {(a: Session, b: Session) => number}
 */
function compareSessions(long) {
  const first = (/** @type {Session} */ s) =>
    countOpen(s) > 0 || (long && (s.keyboard.asking || s.keyboard.holder === 'agent'));
  const place = (/** @type {Session} */ s) => (s.state !== 'running' ? 2 : first(s) ? 0 : 1);
  return (a, b) =>
    place(a) - place(b) || b.startedAt - a.startedAt || (a.sessionId < b.sessionId ? -1 : 1);
}
