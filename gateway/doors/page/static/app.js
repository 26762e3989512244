import {h, setText, setShown, orderChildren} from './dom.js';
import {toHex, makeKey, savePage, loadPage, deletePage, signDecision} from './keys.js';
import {Connection, postJSON} from './connection.js';
import {watchNetwork} from './network.js';
import {Views} from './views.js';
import {List} from './list.js';
import {Records} from './records.js';
import {SessionView} from './session.js';
import {SecretWatch} from './secretwatch.js';
import {pasteForm} from './paste.js';
import {dark, light} from './colors.js';
import {programLabel, describeChatWait, countOpen, setOwnName} from './wording.js';
import {deriveWords} from './words.js';

const root = /** @type {HTMLElement} */ (document.getElementById('app'));
const bright = matchMedia('(prefers-color-scheme: light)');
// One thing at a time: the list, a session, or its conversation. The styles have the same query.
const narrow = matchMedia('(max-width: 700px), (pointer: coarse) and (max-height: 500px)');
const refreshEvery = 15000; // ms between two requests for the list

/** @param {...Child} what */
function showDoor(...what) {
  root.replaceChildren(h('div', {class: 'door', role: 'status'}, ...what));
}

/** @returns {Promise<PageIdentity>} */
async function enterPage() {
  const code = new URLSearchParams(location.hash.slice(1)).get('c');
  if (code !== null) history.replaceState(null, '', location.pathname);
  const known = await loadPage();
  const remembered = known && (known.expires || 0) > Date.now() ? known : null;
  if (code === null) {
    if (remembered) return remembered;
    throw Object.assign(
      new Error('This page opens with a link: run gateway open where your programs run.'),
      {linkless: true},
    );
  }
  const {pair, raw} = await makeKey().catch(() => {
    throw new Error(
      isSecureContext
        ? 'This browser cannot make Ed25519 keys: use a newer one.'
        : 'A browser makes keys only for pages of its own machine, or that come with TLS: ' +
            'see gateway open --host.',
    );
  });
  const got = await postJSON('/v1/page/enter', {code, key: toHex(raw)});
  // A link opens only once; after that the browser is recognised by its key.
  if (got.status === 403 && remembered) return remembered;
  if (!got.page) throw new Error(got.error || 'the server does not answer');
  const page = {
    page: got.page,
    role: got.role,
    expires: got.expires,
    pair,
    words: got.pending ? await deriveWords(raw) : [],
  };
  await savePage(page);
  return page;
}

export class App {
  /** @type {Map<string, Session>} */
  sessions = new Map();
  only = ''; // the only session that this page may see, '' for all
  stateLabel = h('span', {class: 'trip'});
  startNote = h('p', {class: 'start where', role: 'status'});
  recordNote = ''; // why a recording is not shown
  main = h('main', {class: 'main', id: 'main', tabIndex: -1});
  skipLink = h(
    'a',
    {class: 'skip', href: '#main', onclick: (e) => this.skipToMain(e)},
    'Skip to the session',
  );
  side = h('div', {class: 'side'});
  /** @type {HTMLElement[]} */
  sideParts = [];
  layout = h('div', {class: 'page'});
  roundTrip = 0; // ms, of the newest answer; 0 before the first
  /** @type {ConnectionState | ''} */
  connectionState = '';
  stateReason = '';
  isComparing = false;
  isBuilt = false;
  isListed = false;
  listedUpTo = ''; // the id after which the next part of the list begins
  isLoading = false;
  /** @type {Chats | null} */
  chats = null;
  /** @type {SessionView | null} */
  session = null;
  /** @type {Replay | null} */
  replay = null;
  recordID = '';
  shownID = '';
  wantedID = ''; // the session that the address names
  listTop = 0; // pixels that a phone's list is scrolled by
  startID = ''; // the session that is shown before the person chooses one
  /** @type {Map<string, {draft: string, mode: FitMode, log: Element[]}>} */
  keptBySession = new Map();

  /** @param {PageIdentity} page */
  constructor(page) {
    this.page = page;
    this.owner = page.role === 'owner';
    setOwnName(page.page);
    this.connection = new Connection(page, {
      setState: (name, why) => this.setState(name, why),
      handleWelcome: (m) => this.handleWelcome(m),
      handleMessage: (m) => this.handleMessage(m),
      setRoundTrip: (ms) => {
        this.roundTrip = Math.max(1, Math.round(ms));
        this.showState();
      },
    });
    watchNetwork(this.connection);
    this.views = new Views(this.connection);
    this.list = new List(this);
    this.secretWatch = new SecretWatch(this);
    this.records = new Records(this);
    addEventListener('hashchange', () => this.showRoute());
    bright.addEventListener('change', () => this.updateTheme());
    narrow.addEventListener('change', () => this.showRoute());
    setInterval(() => this.refreshTimes(), 1000);
    setInterval(() => this.refreshList(), refreshEvery);
  }

  now() {
    return this.connection.now();
  }

  theme() {
    return bright.matches ? light : dark;
  }

  /** @param {ConnectionState} name @param {string} [why] */
  setState(name, why = '') {
    const isPause = name === 'stalled' || this.connectionState === 'stalled';
    this.connectionState = name;
    this.stateReason = why;
    if (name === 'closed') {
      deletePage();
      this.refreshTimes();
    }
    if (name === 'pending') this.showWords();
    this.showStale();
    if (!isPause || name === 'lost') this.chats?.followAgain();
    if (!this.isBuilt && name !== 'stalled' && name !== 'pending' && name !== 'connected')
      showDoor(name === 'closed' ? `Closed: ${why}` : `${why}: trying again`);
    this.showState();
  }

  showStale() {
    const {session, connectionState: state} = this;
    if (session) session.setStale(state !== 'connected', state !== 'stalled');
  }

  /** If a server in between replaced the key, the words would differ. */
  showWords() {
    if (this.isComparing) return;
    this.isComparing = true;
    showDoor(
      h('h1', {}, 'Are these the words in your terminal?'),
      h('p', {class: 'words'}, this.page.words.join(' ')),
      h(
        'p',
        {},
        'If they are, answer y there: this page may then give agents your keyboard. ' +
          'If not, answer n.',
      ),
    );
  }

  showState() {
    const words = {
      connected: this.roundTrip ? `connected, ${this.roundTrip} ms` : 'connected',
      stalled: 'no answer, trying again',
      lost: 'lost, trying again',
      closed: `closed: ${this.stateReason}`,
      pending: 'connecting',
      '': 'connecting',
    };
    setText(this.stateLabel, words[this.connectionState]);
    this.stateLabel.className = 'trip ' + this.connectionState;
    this.stateLabel.title = this.stateReason || '';
  }

  buildPage() {
    this.isBuilt = true;
    this.main.append(this.list.questionBox, this.startNote);
    this.sideParts = [
      h('header', {}, h('h1', {}, 'terminals'), this.stateLabel),
      h(
        'div',
        {class: 'lists'},
        this.list.element,
        this.records.element,
      ),
    ];
    this.side.append(...this.sideParts);
    this.layout.append(this.skipLink, this.side, this.main);
    root.replaceChildren(this.layout);
  }

  /** @param {Welcome} m */
  async handleWelcome(m) {
    this.only = m.session;
    if (!this.isBuilt) this.buildPage();
    this.connection.ask({type: 'sessions.watch'}, true).catch(() => {});
    this.views.requestAll();
    this.secretWatch.start();
    this.records.refresh();
    this.showRoute();
  }

  /** @param {Incoming} m */
  handleMessage(m) {
    if (m.type === 'sessions.changed') this.applyChanges(m);
    else if (m.type === 'terminal.rows') this.views.receiveRows(m);
    else if (m.type === 'chat.records') this.chats?.receiveRecords(m);
    else if (m.type === 'secret.ask' || m.type === 'secret.ended') this.secretWatch.receive(m);
  }

  /** @param {SessionsChanged} m */
  applyChanges(m) {
    const known = this.sessions;
    if (m.full) this.sessions = new Map();
    for (const id of m.gone || []) this.sessions.delete(id);
    let isNews = false;
    for (const s of m.sessions || []) {
      isNews ||= known.get(s.sessionId)?.state !== s.state;
      this.sessions.set(s.sessionId, {...s, idleSince: this.now() - s.idleMs});
    }
    if (isNews && this.isListed) this.records.refreshSoon();
    if (m.more) return;
    this.list.showIncomplete(m.incomplete);
    this.draw();
    this.isListed = true;
    setText(this.startNote, this.describeStart());
  }

  /** Quiet times are sent only on request, and the answer proves that the connection works. */
  async refreshList() {
    if (document.hidden || this.connectionState !== 'connected') return;
    this.records.refresh();
    const after = this.listedUpTo || '';
    try {
      const {
        sessions,
        next = '',
        incomplete,
      } = await this.connection.ask({type: 'sessions.list', paged: true, after}, true);
      this.listedUpTo = next;
      this.applyChanges({full: after === '' && next === '', sessions, incomplete});
    } catch {
      /* lost: the state says so */
    }
  }

  draw() {
    this.list.update(this.sessions);
    this.showRoute();
    const shown = this.session && this.sessions.get(this.session.id);
    if (shown) this.session?.update(shown);
    this.loadChats();
    this.refreshTimes();
  }

  async loadChats() {
    if (this.chats) return void this.chats.update();
    if (this.isLoading || ![...this.sessions.values()].some((s) => s.chat)) return;
    this.isLoading = true;
    try {
      this.chats = await (await import('./chat.js')).loadChats(this);
    } catch {
      /* not loaded: the next change of the list tries again */
    }
    this.isLoading = false;
  }

  showRoute() {
    if (!this.isBuilt) return;
    const place = this.notePlaceInList();
    const hash = new URLSearchParams(location.hash.slice(1));
    this.showRecording(hash.get('r') || '');
    const wasWanted = this.wantedID;
    this.wantedID = this.only || hash.get('s') || '';
    const id = this.recordID ? '' : this.wantedID || this.chooseStart();
    setText(this.startNote, this.describeStart());
    const s = this.sessions.get(id);
    if (this.session && (!s || this.session.id !== id)) {
      this.session.end();
      this.session = null;
    }
    if (s && !this.session) {
      this.session = new SessionView(this, s);
      this.showStale();
    }
    const changed = this.shownID !== (s ? id : '');
    const isList = narrow.matches && !this.wantedID && !this.recordID;
    this.shownID = s ? id : '';
    const chosen = this.session || this.replay;
    setShown(this.startNote, !chosen && !isList);
    setShown(this.skipLink, !narrow.matches && !this.only); // elsewhere no list comes first
    this.placeQuestions();
    const {questionBox} = this.list;
    orderChildren(this.main, [
      ...(questionBox.parentNode === this.main ? [questionBox] : []),
      chosen ? chosen.element : this.startNote,
    ]);
    const {messages} = this.session || {};
    const isBeside = messages && this.owner && !this.only;
    orderChildren(this.side, [...this.sideParts, ...(isBeside ? [messages] : [])]);
    document.body.classList.toggle('one', !!chosen);
    document.body.classList.toggle('only', this.only !== '');
    if (!chosen) this.returnToList(place);
    const isChosen = this.wantedID !== '' && (changed || this.wantedID !== wasWanted);
    if (isChosen && this.session && this.isListed)
      this.session.title.focus({preventScroll: true});
    this.chats?.showRoute();
    this.list.refreshTimes();
    this.records.markCurrent();
  }

  /** Where a phone's list is scrolled to, or the session opened from it. @returns {string} */
  notePlaceInList() {
    if (!narrow.matches) return '';
    if (document.body.classList.contains('one')) return this.shownID || this.recordID;
    this.listTop = scrollY;
    return '';
  }

  /** Scrolls a phone's list back to where it was. @param {string} from */
  returnToList(from) {
    if (!from) return;
    scrollTo(0, this.listTop);
    const row = this.list.rows.get(from) || this.records.rows.get(from);
    row?.link.focus({preventScroll: true});
  }

  /** Over the screen, if one is shown. */
  placeQuestions() {
    const {questionBox} = this.list;
    const isCovered = narrow.matches && this.layout.classList.contains('talks');
    const place = (!isCovered && (this.session || this.replay)?.stage) || this.main;
    if (questionBox.parentNode === place) return;
    if (place === this.main) place.prepend(questionBox);
    else place.append(questionBox);
    this.list.disarmButtons();
  }

  /** The session whose agent has waited longest, or else the newest. A phone shows the list. */
  chooseStart() {
    if (narrow.matches) return '';
    if (this.sessions.has(this.startID)) return this.startID;
    const waiting = [...this.list.questions.values()].sort((a, b) => a.askedAt - b.askedAt);
    this.startID = (waiting[0]?.session || this.list.all[0])?.sessionId || '';
    return this.startID;
  }

  describeStart() {
    if (this.recordID) return this.recordNote;
    if (!this.isListed) return 'One moment…';
    if (this.wantedID) return 'This session is not here: it has ended, or runs on another machine.';
    return this.sessions.size > 0 ? 'Choose a session.' : 'No session is here.';
  }

  /** Keeps the address, which names what the page shows. @param {Event} e */
  skipToMain(e) {
    e.preventDefault();
    const view = this.session || this.replay;
    (view ? view.title : this.main).focus();
  }

  /** @param {string} id */
  showRecording(id) {
    if (this.recordID === id) return;
    this.recordID = id;
    if (this.replay) this.replay.end();
    this.replay = null;
    if (!id) return;
    this.recordNote = 'One moment…';
    this.records.open(id).then(
      (replay) => {
        if (this.recordID !== id) return void (replay && replay.end());
        this.replay = replay;
        if (!replay) this.recordNote = 'This recording no longer exists.';
        this.showRoute();
        if (replay) replay.title.focus({preventScroll: true});
        return undefined;
      },
      (e) => {
        this.recordNote = e.message;
        this.showRoute();
      },
    );
  }

  refreshTimes() {
    if (!this.isBuilt) return;
    this.list.refreshTimes();
    if (this.session) this.session.refreshTimes();
    const talks = [...this.sessions.values()].filter(
      (s) => s.state === 'running' && describeChatWait(s),
    );
    const asking = [...this.list.secrets.values(), ...this.list.questions.values()];
    const n = asking.length + talks.reduce((sum, s) => sum + countOpen(s), 0);
    const what = this.session
      ? programLabel(this.session.session)
      : this.replay
        ? programLabel(this.replay.record)
        : 'terminals';
    const title =
      n > 0
        ? `(${n}) ${asking[0] ? asking[0].agent + ' asks' : describeChatWait(talks[0])} · ${what}`
        : what;
    if (document.title !== title) document.title = title;
  }

  updateTheme() {
    this.list.setTheme(this.theme());
    for (const chosen of [this.session, this.replay]) if (chosen) chosen.setTheme(this.theme());
  }

  /** @param {Session} session @param {Partial<ControlDecide>} d */
  async sendDecision(session, d) {
    /** @type {Message<'terminal.control.decide'>} */
    const m = {
      type: 'terminal.control.decide',
      sessionId: session.sessionId,
      grant: false,
      by: 'a page',
      ...d,
    };
    if (!m.grant && m.hide !== 'off' && m.mute !== 'off') return this.connection.askUrgently(m);
    const s = this.sessions.get(session.sessionId) || session;
    const full = {epoch: session.keyboard.epoch, ...m, at: this.now()};
    return this.connection.ask(await signDecision(this.page, full, s.startedAt));
  }

  /**
   * Uses the epoch that the question was shown with.
   * @param {Session} session @param {Level} level @param {number} seconds
   */
  giveKeyboard(session, level, seconds) {
    return this.sendDecision(session, {
      grant: true,
      level,
      seconds,
      agentName: session.keyboard.asking,
    });
  }

  /** @param {Session} session */
  takeKeyboardBack(session) {
    return this.sendDecision(session, {});
  }

  /**
   * Leaves the keyboard as it is.
   * @param {Session} session
   */
  refuseRequest(session) {
    return this.sendDecision(session, {refuse: true, agentName: session.keyboard.asking});
  }

  /** @param {Session} session @param {string|undefined} agentName */
  muteAgent(session, agentName) {
    return this.sendDecision(session, {mute: 'on', agentName});
  }

  /** @param {Session} session @param {string} agentName @param {number} epoch */
  unmuteAgent(session, agentName, epoch) {
    return this.sendDecision(session, {mute: 'off', agentName, epoch});
  }

  /** @param {Session} session */
  hideScreen(session) {
    return this.sendDecision(session, {hide: 'on'});
  }

  /** @param {Session} session @param {number} epoch */
  unhideScreen(session, epoch) {
    return this.sendDecision(session, {hide: 'off', epoch});
  }

  /** @param {Session} session @param {string} text */
  sendMessage(session, text) {
    return this.connection.ask({
      type: 'terminal.message',
      sessionId: session.sessionId,
      from: 'user',
      text,
    });
  }
}

const startPage = () =>
  enterPage().then(
    (page) => new App(page),
    (e) => showDoor(e.message, e.linkless && pasteForm(startPage)),
  );

startPage();
