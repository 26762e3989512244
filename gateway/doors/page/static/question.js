import {h, setText, setShown, announce} from './dom.js';
import {
  programLabel,
  directoryLabel,
  formatDuration,
  describeWish,
  describeAnswer,
  cleanText,
} from './wording.js';
import {Painter} from './painter.js';
import {makeFold} from './fold.js';

const lastRows = 6;
const disarmFor = 300; // ms: a button that moved may be under a finger that meant another one
const defaultSeconds = 600;

/** @param {Session} session */
const wishKey = ({keyboard: k}) =>
  JSON.stringify([k.asking, k.askingLevel, k.askingReason, k.askingSeconds, k.epoch]);

export class Question {
  /** @param {App} app @param {Session} session */
  constructor(app, session) {
    this.app = app;
    this.session = session;
    this.wish = wishKey(session);
    this.agent = cleanText(session.keyboard.asking);
    this.askedAt = session.keyboard.askingSince || app.now();
    this.lastDecision = session.decided ? session.decided.at : 0; // before this question
    this.head = h('h3', {id: 'q-' + session.sessionId});
    this.where = h('p', {class: 'where'});
    this.reason = h('p', {class: 'reason'});
    this.screen = h('div', {
      class: 'screen glance',
      tabIndex: 0,
      'aria-label': 'the last rows of its screen',
      role: 'group',
    });
    this.buttons = h('div', {class: 'buttons'});
    this.fold = makeFold(this, app.owner);
    this.result = h('p', {class: 'result', role: 'status'});
    this.element = h(
      'section',
      {class: 'question', role: 'alertdialog', 'aria-labelledby': this.head.id},
      this.head,
      this.fold.open,
      this.fold.close,
      this.where,
      this.reason,
      this.screen,
      this.buttons,
      this.result,
    );
    this.painter = new Painter(this.screen, app.theme());
    this.painter.setSize(12);
    this.closeView = app.views.open(session.sessionId, (m, lines) => this.showLastRows(m, lines));
    this.addButtons();
    this.update(session);
    announce(`${this.agent} asks to ${describeWish(session.keyboard)} ${programLabel(session)}`);
  }

  addButtons() {
    if (!this.app.owner) {
      this.buttons.append(h('p', {class: 'where'}, 'A person who may decide must answer this.'));
      return;
    }
    const seconds = this.session.keyboard.askingSeconds || defaultSeconds;
    const length = formatDuration(seconds * 1000);
    const give = (/** @type {Level} */ level) => () =>
      this.answer(
        () => this.app.giveKeyboard(this.session, level, seconds),
        `you gave ${this.agent} ${length}`,
      );
    const typeOnly = this.session.keyboard.askingLevel === 'type';
    this.buttons.append(
      h(
        'button',
        {class: 'amber', onclick: give(typeOnly ? 'type' : 'drive')},
        `Let it ${typeOnly ? 'write' : 'drive'} ${length}`,
      ),
      ...(typeOnly
        ? []
        : [
            h(
              'button',
              {onclick: give('type'), title: 'It may type text; Enter and the like wait for you'},
              'Text only',
            ),
          ]),
      (this.refuseButton = h(
        'button',
        {onclick: () => this.answer(() => this.app.refuseRequest(this.session), 'you refused')},
        'Refuse',
      )),
    );
    this.buttons.append(
        h(
          'button',
          {
            onclick: () =>
              this.answer(
                () => this.app.muteAgent(this.session, this.session.keyboard.asking),
                `you muted ${this.agent}`,
              ),
            title: 'Refuse, and let it ask and write nothing more in this session',
          },
          'Mute',
        ),
      );
    this.disarmButtons();
  }

  allButtons() {
    return this.element.querySelectorAll('button');
  }

  /** Disables the buttons for a moment: they have just appeared or moved. */
  disarmButtons() {
    if (this.answered || !this.app.owner) return;
    clearTimeout(this.armTimer);
    for (const b of this.allButtons()) b.disabled = true;
    this.armTimer = setTimeout(() => {
      if (!this.answered) for (const b of this.allButtons()) b.disabled = false;
    }, disarmFor);
  }

  /** @param {() => Promise<unknown>} act @param {string} words */
  async answer(act, words) {
    this.answered = words;
    for (const b of this.allButtons()) b.disabled = true;
    setText(this.result, 'one moment…');
    try {
      await act();
      setText(this.result, words);
    } catch (e) {
      this.answered = '';
      setText(this.result, e.message);
      this.disarmButtons();
    }
  }

  /** @param {Rows} m @param {string[]} lines */
  showLastRows(m, lines) {
    const isWritten = (/** @type {string} */ text) =>
      text.replace(/\x1b\[[0-9;:]*m/g, '').trim() !== '';
    const written = lines.findLastIndex(isWritten);
    // The last rows of a program that fills the screen seldom say what it does.
    const last = m.state?.alt
      ? Math.max(lastRows - 1, Math.min(written, m.cursor.row + lastRows / 2 - 1))
      : written;
    const rows = lines.slice(Math.max(0, last - lastRows + 1), last + 1);
    this.painter.show({
      ...m,
      since: 0,
      moved: 0,
      changed: undefined,
      lines: rows,
      rows: Math.max(1, rows.length),
      cursor: null,
    });
  }

  /** @param {Session} session */
  isOpen(session) {
    return session.state === 'running' && wishKey(session) === this.wish;
  }

  /** @param {Session} session */
  update(session) {
    this.session = session;
    const k = session.keyboard;
    if (this.head.childNodes.length === 0) {
      this.head.append(
        h('strong', {}, this.agent),
        ' asks',
        h('span', {class: 'wish'}, ' to ', h('strong', {}, describeWish(k) + ' ')),
        h('span', {class: 'place'}, ' in '),
        h('strong', {}, programLabel(session)),
      );
    }
    setText(
      this.reason,
      k.askingReason
        ? `“${cleanText(k.askingReason).replace(/[“”]/g, '"')}”`
        : 'It gives no reason.',
    );
    this.refreshTimes();
  }

  /** Returns whether its buttons moved. */
  refreshTimes() {
    const since = formatDuration(this.app.now() - this.askedAt);
    const place = [directoryLabel(this.session), this.app.list.describeStart(this.session)];
    setText(this.where, [...place, `asked ${since} ago`].filter(Boolean).join(' · '));
    const below = this.app.shownID === this.session.sessionId; // the page shows the whole screen
    const moved = this.screen.hidden !== below;
    setShown(this.screen, !below);
    return moved;
  }

  /** @param {Session|undefined} session @param {() => void} remove */
  close(session, remove) {
    this.closeView();
    clearTimeout(this.armTimer);
    for (const b of this.allButtons()) b.disabled = true;
    const k = session && session.keyboard;
    const d = session && session.decided;
    const told = d && d.at !== this.lastDecision && cleanText(d.agentName) === this.agent;
    const muted =
      session && (session.muted || []).some((name) => cleanText(name) === this.agent)
        ? ', and muted'
        : '';
    const elsewhere = told
      ? describeAnswer(d) + muted
      : !session || session.state === 'exited'
        ? 'the program has ended'
        : cleanText(session.keyboard.asking) === this.agent
          ? 'asked anew'
          : k?.holder === 'agent' && cleanText(k.agentName) === this.agent
            ? `answered elsewhere: ${this.agent} may type`
            : 'answered elsewhere: refused, or taken back by the agent';
    setText(this.result, this.answered || elsewhere);
    announce(this.answered || elsewhere);
    for (const e of [this.buttons, this.reason, this.screen]) setShown(e, false);
    this.element.classList.add('answered');
    setTimeout(remove, 4000);
  }

  /** @param {Theme} theme */
  setTheme(theme) {
    this.painter.setTheme(theme);
  }
}
