import {h, setText, setShown, orderChildren, announce} from './dom.js';
import {spellText, cutHead} from './spell.js';
import {Entry} from './item.js';
import {formatNumber} from './wording.js';

const windowSize = 240; // entries in the document
const windowStep = 80; // entries by which the window moves
const moveWithin = 600; // pixels from the window's end at which it moves
const edge = 24; // pixels that still count as the bottom
const announceWithin = 10000; // ms in which a text is new to a screen reader
const mostPrompt = 48 << 10; // bytes

/** @type {Record<string, string>} */
const stateWords = {
  starting: 'starting',
  'at prompt': 'waits for you to write',
  working: 'working',
  'wants approval': 'wants approval',
  asks: 'asks',
  ended: 'ended',
  'failed to start': 'failed to start',
};

/** The document has only a window of a long conversation. */
export class Drawer {
  /** @type {Map<number, Entry>} By key. */
  shown = new Map();
  from = 0;
  to = 0;
  followsEnd = true;
  isSending = false;
  drawDue = 0;
  moveDue = 0;
  name = h('strong', {});
  state = h('span', {class: 'where', role: 'status'});
  interruptButton = h(
    'button',
    {class: 'interrupt', hidden: true, onclick: () => this.interrupt()},
    'Interrupt',
  );
  closeButton = h(
    'button',
    {class: 'plain leave', onclick: () => this.chats.setOpen(false)},
    '‹ Terminal',
  );
  list = h('ol', {class: 'said'});
  box = h(
    'div',
    {
      class: 'talk',
      tabIndex: 0,
      role: 'region',
      onscroll: () => this.handleScroll(),
      onkeydown: (e) => this.handleKey(e),
    },
    this.list,
  );
  nowButton = h('button', {onclick: () => this.showNewest()}, 'Back to now');
  nowBar = h('p', {class: 'back', hidden: true}, this.nowButton);
  cardBox = h('div', {class: 'questions'});
  note = h('p', {class: 'hint', role: 'status', hidden: true});
  line = h('textarea', {rows: 1, autocomplete: 'off', enterKeyHint: 'send'});
  sendButton = h('button', {class: 'go'}, 'Send');

  /** @param {Chats} chats @param {Session} session @param {Talk} talk */
  constructor(chats, session, talk) {
    this.chats = chats;
    this.session = session;
    this.talk = talk;
    this.element = h(
      'aside',
      {class: 'drawer'},
      h(
        'header',
        {},
        this.closeButton,
        h('div', {class: 'name'}, this.name, this.state),
        this.interruptButton,
      ),
      h('div', {class: 'past-and-now'}, this.box, this.nowBar),
      this.cardBox,
      this.note,
      chats.app.owner &&
        h(
          'form',
          {class: 'prompt', onsubmit: (e) => this.send(e)},
          this.line,
          this.sendButton,
        ),
    );
    this.line.addEventListener('keydown', (e) => {
      if (e.key === 'Enter' && !e.shiftKey && !e.isComposing && e.keyCode !== 229) this.send(e);
    });
    this.line.addEventListener('input', () => this.fitLine());
    this.resizeObserver = new ResizeObserver(() => this.handleResize());
    this.resizeObserver.observe(this.box);
    this.line.value = talk.draft;
    this.update(session);
    this.draw();
  }

  fitLine() {
    const was = this.line.clientHeight;
    this.line.style.height = 'auto';
    this.line.style.height = Math.min(this.line.scrollHeight + 2, innerHeight / 3) + 'px';
    if (this.line.clientHeight !== was) this.chats.disarmButtons();
  }

  /** @param {Session} session */
  update(session) {
    this.session = session;
    const {chat} = session;
    if (!chat) return; // the drawer is about to close
    const agent = spellText(cutHead(chat.agent, 60));
    const state = this.talk.state || chat.state;
    const why = this.talk.state ? this.talk.why : chat.why;
    setText(this.name, agent);
    const over = state === 'ended' || state === 'failed to start' || session.state !== 'running';
    const mode = chat.mode && !over ? `, mode ${spellText(cutHead(chat.mode, 40))}` : '';
    setText(
      this.state,
      (session.state === 'running' || state === 'failed to start'
        ? stateWords[state] || spellText(state)
        : 'ended') +
        mode +
        (why ? `: ${spellText(why)}` : ''),
    );
    this.state.className =
      'where ' + (state === 'wants approval' || state === 'asks' ? 'waits' : '');
    this.element.setAttribute('aria-label', `conversation with ${agent}`);
    this.box.setAttribute('aria-label', `what ${agent} and people said`);
    setShown(
      this.interruptButton,
      this.chats.app.owner && !over && ['working', 'wants approval', 'asks'].includes(state),
    );
    if (!this.chats.app.owner) return;
    this.line.disabled = over;
    this.sendButton.disabled = over || this.isSending;
    this.line.placeholder = over
      ? 'The agent has ended'
      : state === 'working'
        ? 'Goes in while it works…'
        : `Write to ${agent}…`;
    this.line.setAttribute('aria-label', `message to ${agent}; Shift Enter begins a line`);
  }

  schedule() {
    this.drawDue ||= requestAnimationFrame(() => {
      this.drawDue = 0;
      this.update(this.session);
      this.draw();
      this.announceNew();
    });
  }

  announceNew() {
    const since = this.chats.app.now() - announceWithin;
    const text = this.talk.fresh
      .splice(0)
      .filter((f) => f.at > since)
      .map((f) => f.text)
      .join('\n')
      .trim();
    if (text) announce(spellText(cutHead(text, 600)));
  }

  draw() {
    const {entries} = this.talk;
    const at = this.followsEnd ? null : this.firstInView();
    if (this.followsEnd) this.to = entries.length;
    this.to = Math.min(this.to, entries.length);
    this.from = Math.max(0, Math.min(this.from, this.to - 1), this.to - windowSize);
    if (this.followsEnd && this.to - this.from < windowSize)
      this.from = Math.max(0, this.to - windowSize);
    const window = entries.slice(this.from, this.to);
    const keys = new Set(window.map((e) => e.key));
    for (const key of this.shown.keys()) if (!keys.has(key)) this.shown.delete(key);
    orderChildren(
      this.list,
      window.map((entry) => {
        let e = this.shown.get(entry.key);
        if (!e) this.shown.set(entry.key, (e = new Entry(entry)));
        else e.update();
        return e.element;
      }),
    );
    if (this.followsEnd) this.box.scrollTop = this.box.scrollHeight;
    else if (at && at.element.isConnected)
      this.box.scrollTop += at.element.getBoundingClientRect().top - at.top;
    const more = entries.length - this.to;
    setShown(this.nowBar, !this.followsEnd);
    setText(this.nowButton, more > 0 ? `Back to now: ${formatNumber(more)} more` : 'Back to now');
  }

  firstInView() {
    const {top} = this.box.getBoundingClientRect();
    for (const element of this.list.children) {
      const r = element.getBoundingClientRect();
      if (r.bottom > top) return {element, top: r.top};
    }
    return null;
  }

  handleScroll() {
    const {scrollTop, scrollHeight, clientHeight} = this.box;
    const {length} = this.talk.entries;
    const below = scrollHeight - clientHeight - scrollTop;
    const follows = below <= edge && (this.followsEnd || this.to >= length);
    const changed = follows !== this.followsEnd;
    this.followsEnd = follows;
    if (!follows && scrollTop < moveWithin && this.from > 0) this.moveWindow(-windowStep);
    else if (!follows && below < moveWithin && this.to < length) this.moveWindow(windowStep);
    else if (changed) this.draw();
  }

  /** @param {number} by */
  moveWindow(by) {
    const {length} = this.talk.entries;
    this.from = Math.max(0, Math.min(this.from + by, length - 1));
    this.to = Math.min(length, this.from + windowSize);
    this.draw();
    this.moveDue ||= requestAnimationFrame(() => {
      this.moveDue = 0;
      this.handleScroll();
    });
  }

  /** @param {KeyboardEvent} e */
  handleKey(e) {
    if (
      e.target !== this.box ||
      e.ctrlKey ||
      e.altKey ||
      e.metaKey ||
      (e.key !== 'Home' && e.key !== 'End')
    )
      return;
    e.preventDefault();
    if (e.key === 'End') return void this.showNewest();
    this.followsEnd = false;
    this.moveWindow(-Infinity);
    this.box.scrollTop = 0;
  }

  showNewest() {
    this.followsEnd = true;
    this.draw();
    this.box.focus({preventScroll: true});
  }

  handleResize() {
    if (this.followsEnd) this.box.scrollTop = this.box.scrollHeight;
  }

  /** @param {Card[]} cards */
  arrangeCards(cards) {
    orderChildren(
      this.cardBox,
      cards.map((c) => c.element),
    );
  }

  /** @param {string} words @param {boolean} [bad] */
  showNote(words, bad = true) {
    setText(this.note, words);
    this.note.classList.toggle('bad', bad);
    setShown(this.note, words !== '');
    this.chats.disarmButtons();
  }

  /** @param {Event} e */
  async send(e) {
    e.preventDefault();
    const text = this.line.value;
    if (text.trim() === '' || this.isSending || this.line.disabled) return;
    const size = new TextEncoder().encode(text).length;
    if (size > mostPrompt)
      return void this.showNote(
        `Not sent: ${formatNumber(size)} bytes; the most is ${formatNumber(mostPrompt)}.`,
      );
    this.isSending = this.sendButton.disabled = true;
    try {
      await this.chats.send(this.talk.id, text);
      if (this.line.value === text) this.line.value = '';
      this.fitLine();
      this.showNote('');
    } catch (err) {
      this.showNote('Not sent: ' + spellText(err.message));
    }
    this.isSending = false;
    this.sendButton.disabled = this.line.disabled;
  }

  async interrupt() {
    this.interruptButton.disabled = true;
    try {
      await this.chats.interrupt(this.talk.id);
      this.showNote('');
    } catch (err) {
      this.showNote('Not interrupted: ' + spellText(err.message));
    }
    this.interruptButton.disabled = false;
  }

  end() {
    this.talk.draft = this.line.value;
    cancelAnimationFrame(this.drawDue);
    cancelAnimationFrame(this.moveDue);
    this.resizeObserver.disconnect();
    this.element.remove();
  }
}
