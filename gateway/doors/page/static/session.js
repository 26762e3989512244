import {h, setText, setShown, announce} from './dom.js';
import {
  programLabel,
  directoryLabel,
  describeDriver,
  describeDecision,
  formatClock,
  cleanText,
} from './wording.js';
import {Painter} from './painter.js';
import {LiveRegion} from './live.js';
import {Scrollback} from './history.js';
import {Finder} from './finder.js';
import {Links} from './links.js';
import {ScreenFit} from './fit.js';
import {sleep} from './connection.js';
import {Typing} from './typing.js';

const typedFor = 15000; // ms for which the page shows what an agent typed

export class SessionView {
  title = h('h2', {tabIndex: -1});
  about = h('span', {class: 'where'});
  hideButton = h('button', {class: 'hider', onclick: () => this.toggleHidden()}, 'Hide');
  takeBackButton = h(
    'button',
    {class: 'take', onclick: () => this.takeKeyboardBack()},
    'Take back',
  );
  tag = h('span', {class: 'tag agent'});
  screen = h('div', {class: 'screen', role: 'group', tabIndex: 0});
  frame = h('div', {class: 'frame'}, this.screen);
  /** Questions lie over the frame, so they neither move the screen nor shrink its letters. */
  stage = h('div', {class: 'stage'}, this.frame, this.tag);
  note = h('p', {class: 'note', role: 'status'});
  mutedNote = h('p', {class: 'note muted', hidden: true});
  asOf = h('span', {});
  recording = h('a', {class: 'plain'}, 'Recording');
  typedNote = h('p', {class: 'just', role: 'status', hidden: true});
  foot = h('footer', {}, this.typedNote, this.recording, this.asOf);
  spokenLines = h('div', {
    class: 'unseen',
    'aria-live': 'polite',
    role: 'log',
    'aria-label': 'new lines',
  });
  log = h('ol', {class: 'log'});
  messages = h(
    'section',
    {class: 'messages'},
    h('h2', {}, 'Messages'),
    h('div', {class: 'newest', role: 'group', 'aria-label': 'messages', tabIndex: 0}, this.log),
  );
  messageLine = h('input', {
    'aria-label': 'message to the agent',
    placeholder: 'Write to the agent…',
    maxLength: 500,
    autocomplete: 'off',
  });
  form = h(
    'form',
    {onsubmit: (e) => this.sendMessage(e)},
    this.messageLine,
    h('button', {}, 'Send'),
  );
  acts = h('div', {class: 'acts'});
  /** @type {Typing | null} */
  typing = null;
  shownMuted = '';
  /** @type {number | undefined} */
  lastDecision; // its time, ms since 1970
  tookBackAt = NaN;
  seenAt = 0;
  typedUntil = 0;
  /** @type {number | undefined} */
  typedCount; // tells one input of an agent from the next
  lastSize = '';

  /** @param {App} app @param {Session} session */
  constructor(app, session) {
    this.app = app;
    this.id = session.sessionId;
    this.session = session;
    this.keyboard = session.keyboard;
    if (app.owner) this.acts.append(this.hideButton, this.takeBackButton);
    this.element = h(
      'section',
      {class: 'session'},
      h(
        'header',
        {},
        h('a', {class: 'up', href: '#', 'aria-label': 'all sessions'}, '‹'),
        h('div', {class: 'name'}, this.title, this.about),
        this.acts,
      ),
      this.note,
      this.mutedNote,
      this.stage,
      this.foot,
      this.spokenLines,
      app.only && this.messages, // which the side column has beside a list
      app.owner && this.form,
    );
    this.painter = new Painter(this.screen, app.theme());
    this.links = new Links(
      this.screen,
      this.painter,
      (e) => !!this.typing?.mouse.hasButtons(e),
    );
    this.frame.append(this.links.bar);
    if (app.owner) this.enableTyping();
    this.painter.setSize(13);
    this.history = new Scrollback(
      this.screen,
      this.painter,
      (m) => app.connection.ask({type: 'terminal.read', sessionId: this.id, ...m}),
      () => this.fit.showButtons(),
    );
    this.frame.append(this.history.nowBar);
    this.finder = new Finder(this.history, () => this.screen.focus({preventScroll: true}));
    this.frame.prepend(this.finder.element);
    this.findKeyListener = (/** @type {KeyboardEvent} */ e) => this.handleFindKey(e);
    document.addEventListener('keydown', this.findKeyListener);
    this.fit = new ScreenFit(this.frame, this.screen, this.painter, this.history);
    this.fit.buttons.prepend(
      h('button', {class: 'plain', onclick: () => this.finder.open()}, 'Find'),
    );
    this.foot.prepend(this.fit.buttons);
    this.live = new LiveRegion(this.spokenLines);
    this.closeView = app.views.open(this.id, (m, lines) => this.showRows(m, lines));
    this.resizeObserver = new ResizeObserver(() =>
      requestAnimationFrame(() => this.handleResize()),
    );
    this.resizeObserver.observe(this.element);
    this.restoreKept();
    this.update(session);
  }

  enableTyping() {
    this.typing = new Typing(this.app, this);
    this.acts.prepend(this.typing.button);
    this.foot.after(this.typing.element);
  }

  /** Restores what the person wrote and chose here before opening another session. */
  restoreKept() {
    const kept = this.app.keptBySession.get(this.id);
    if (!kept) return;
    this.messageLine.value = kept.draft;
    this.fit.mode = kept.mode;
    this.log.append(...kept.log);
  }

  /** @param {Session} session */
  update(session) {
    this.session = session;
    setText(this.title, programLabel(session));
    const place = [directoryLabel(session), this.app.list.describeStart(session)];
    const size = `${session.cols}×${session.rows}`;
    setText(this.about, [...place, size].filter(Boolean).join(' · '));
    this.screen.setAttribute('aria-label', `screen of ${programLabel(session)}`);
    const dark = session.blackout;
    setText(this.hideButton, dark && dark.reason === 'user' ? 'Show' : 'Hide');
    this.hideButton.title =
      dark && dark.reason === 'user'
        ? 'Let agents see this session again'
        : 'Hide this session from agents';
    const status = session.exitCode ? ` with status ${session.exitCode}` : '';
    setText(
      this.note,
      session.state === 'exited'
        ? `The program has ended${status}. This is its last screen.`
        : session.moving
          ? 'Its gateway went away, and it is moving to another one: this is what was last seen.'
          : session.state === 'lost'
            ? 'The session does not answer: this is what was last seen.'
            : !dark
              ? ''
              : dark.reason === 'user'
                ? 'Hidden: agents and pages do not see the screen.'
                : 'A password is asked: what is typed is not shown, and agents cannot type.',
    );
    setShown(this.note, this.note.textContent !== '');
    if (dark?.reason === 'user') this.live.clear();
    const over = session.state === 'exited';
    this.hideButton.disabled = over;
    if (this.typing) this.typing.update(session);
    this.linkRecording();
    this.takeBackButton.disabled = over;
    this.setKeyboard(session.keyboard);
    this.showMuted(session);
    this.logDecision(session.decided);
    const name = cleanText(session.keyboard.agentName);
    this.messageLine.placeholder = name
      ? `Write to ${name}…`
      : session.chat
        ? 'Write to an agent that looks on…'
        : 'Write to the agent…';
    this.refreshTimes();
  }

  /** @param {Session} session */
  showMuted(session) {
    const names = session.state === 'running' ? session.muted || [] : [];
    if (names.join() === this.shownMuted) return;
    this.shownMuted = names.join();
    this.mutedNote.replaceChildren(
      ...names
        .flatMap((name) => [
          h(
            'span',
            {title: 'It may ask and write nothing until the session ends'},
            `${cleanText(name)} is muted. `,
          ),
          this.app.owner &&
            h(
              'button',
              {class: 'plain', onclick: () => this.unmuteAgent(name)},
              `Unmute ${cleanText(name)}`,
            ),
        ])
        .filter((e) => e instanceof HTMLElement),
    );
    setShown(this.mutedNote, names.length > 0);
  }

  /** @param {string} name */
  async unmuteAgent(name) {
    try {
      await this.app.unmuteAgent(this.session, name, this.keyboard.epoch);
      this.reportResult(`${cleanText(name)} may ask again`);
    } catch (e) {
      this.reportResult('Not unmuted: ' + e.message);
    }
  }

  /** @param {Decision|undefined} d */
  logDecision(d) {
    const at = d ? d.at : 0;
    const isNew = this.lastDecision !== undefined && at !== this.lastDecision;
    this.lastDecision = at;
    if (!isNew || !d) return;
    const words = describeDecision(d);
    if (words && (d.granted || !(this.app.now() - this.tookBackAt < 3000)))
      this.reportResult(words);
  }

  linkRecording() {
    const r = this.app.records.findBySession(this.id);
    setShown(this.recording, !!r);
    if (r) this.recording.href = '#r=' + encodeURIComponent(r.recordId);
  }

  /**
   * The list and the screen both contain it: the later epoch counts.
   * @param {KeyboardState} keyboard
   */
  setKeyboard(keyboard) {
    if (keyboard.epoch >= this.keyboard.epoch) this.keyboard = keyboard;
  }

  refreshTimes() {
    const words = describeDriver(this.keyboard, this.app.now());
    setText(this.tag, words);
    setShown(this.tag, words !== '');
    this.frame.classList.toggle('driven', words !== '');
    setShown(this.typedNote, this.app.now() < this.typedUntil);
    this.takeBackButton.classList.toggle('green', words !== '');
  }

  /** @param {Rows} m @param {string[]} lines */
  showRows(m, lines) {
    if (m.state) {
      this.setKeyboard(m.state.keyboard);
      this.showTyped(m.state.typed);
    }
    const sized = m.cols !== this.painter.cols || m.rows !== this.painter.rows;
    if (!this.painter.show(m))
      this.painter.show({...m, since: 0, moved: 0, changed: undefined, lines});
    this.history.update(m);
    this.fit.update(m.state, sized);
    if (this.typing) this.typing.placePad();
    this.seenAt = this.app.now();
    if (m.state?.blackout?.reason === 'user') this.live.clear();
    else this.live.schedule(lines);
    this.refreshTimes();
  }

  /** @param {AgentTyped|undefined} typed */
  showTyped(typed) {
    if (typed && typed.count !== this.typedCount) {
      setText(this.typedNote, `${cleanText(typed.agentName)} typed ${cleanText(typed.text)}`);
      this.typedUntil = this.app.now() + typedFor;
    } else if (!typed) {
      this.typedUntil = 0;
    }
    this.typedCount = typed?.count;
  }

  handleResize() {
    const room = this.element.clientWidth + 'x' + this.element.clientHeight;
    if (room === this.lastSize) return;
    this.lastSize = room;
    this.fit.fitLetters();
  }

  /** lost: keys that had no answer are lost. @param {boolean} off @param {boolean} lost */
  setStale(off, lost) {
    this.frame.classList.toggle('stale', off);
    if (off && lost && this.typing) this.typing.typist.handleLoss();
    setText(this.asOf, off && this.seenAt ? `as of ${formatClock(this.seenAt)}` : '');
  }

  async takeKeyboardBack() {
    setText(this.takeBackButton, 'Taking back…');
    this.tookBackAt = this.app.now();
    try {
      await this.app.takeKeyboardBack(this.session);
      this.reportResult('Taken back');
    } catch (e) {
      this.reportResult('Not taken back: ' + e.message);
    }
    setText(this.takeBackButton, 'Take back');
  }

  async toggleHidden() {
    const on = !(this.session.blackout && this.session.blackout.reason === 'user');
    try {
      await (on ? this.app.hideScreen(this.session) : this.unhideScreen());
    } catch (e) {
      this.reportResult((on ? 'Not hidden: ' : 'Not shown: ') + e.message);
    }
  }

  /**
   * Hiding makes a new epoch, which may arrive late and void this decision. It is then repeated
   * under the new epoch, unless an agent has the keyboard.
   */
  async unhideScreen() {
    const epoch = this.keyboard.epoch;
    try {
      await this.app.unhideScreen(this.session, epoch);
    } catch (e) {
      if (e.code !== 'busy') throw e;
      await this.waitForNewerEpoch(epoch);
      if (this.keyboard.epoch === epoch || this.keyboard.holder === 'agent') throw e;
      await this.app.unhideScreen(this.session, this.keyboard.epoch);
    }
  }

  /** @param {number} epoch */
  async waitForNewerEpoch(epoch) {
    for (let i = 0; i < 20 && this.keyboard.epoch === epoch; i++) await sleep(50);
  }

  /** @param {string} words */
  reportResult(words) {
    this.addLog('', words);
    announce(words);
  }

  /** @param {string} who @param {string} text */
  addLog(who, text) {
    this.log.append(
      h(
        'li',
        {},
        h('time', {}, formatClock(this.app.now()).slice(0, 5)),
        h('span', {}, who && h('strong', {}, who + ' '), text),
      ),
    );
    while (this.log.children.length > 50) this.log.children[0].remove();
  }

  /** @param {Event} e */
  async sendMessage(e) {
    e.preventDefault();
    const text = this.messageLine.value.trim();
    if (text === '') return;
    try {
      await this.app.sendMessage(this.session, text);
      this.addLog('you', text);
      if (this.messageLine.value.trim() === text) this.messageLine.value = '';
    } catch (err) {
      this.reportResult('Not sent: ' + err.message);
    }
  }

  /** @param {Theme} theme */
  setTheme(theme) {
    this.painter.setTheme(theme);
    this.history.refit(() => {});
  }

  /** The browser's own search finds only rows that are drawn. @param {KeyboardEvent} e */
  handleFindKey(e) {
    const isFind = e.key === 'f' && (e.ctrlKey || e.metaKey) && !e.altKey && !e.shiftKey;
    if (!isFind || e.defaultPrevented || e.target === this.typing?.pad) return;
    e.preventDefault();
    this.finder.open();
  }

  end() {
    this.app.keptBySession.set(this.id, {
      draft: this.messageLine.value,
      mode: this.fit.mode,
      log: [...this.log.children],
    });
    document.removeEventListener('keydown', this.findKeyListener);
    this.closeView();
    this.history.end();
    this.live.stop();
    this.resizeObserver.disconnect();
    if (this.typing) this.typing.end();
  }
}
