// The conversation beside a session's screen: what was said, the cards of what waits, and a line to say something. Of a long
// conversation only a window is in the document.
import {h, put, show, order, say} from './dom.js';
import {spelled, head} from './spell.js';
import {Entry} from './item.js';
import {Images} from './images.js';

const room = 240; // entries in the document
const step = 80; // by which the window moves
const near = 600; // pixels to its end at which it does
const edge = 24; // pixels from the bottom that are still the bottom
const justNow = 10000; // ms in which a text is news to somebody who hears the page
const mostPrompt = 48 << 10; // bytes

const stateWords = {
  starting: 'starting', 'at prompt': 'waits for you to write', working: 'working', 'wants approval': 'wants approval', asks: 'asks', ended: 'ended',
  'failed to start': 'failed to start',
};

export class Drawer {
  // chats sends (chats.send, chats.interrupt); talk is the conversation of the session.
  constructor(chats, session, talk) {
    Object.assign(this, {chats, session, talk});
    this.shown = new Map(); // entries with their elements, by key
    this.from = this.to = 0;
    this.follows = true;
    this.name = h('strong', {});
    this.state = h('span', {class: 'where', role: 'status'});
    this.stop = h('button', {class: 'interrupt', hidden: true, onclick: () => this.interrupt()}, 'Interrupt');
    this.up = h('button', {class: 'plain leave', onclick: () => chats.turn(false)}, '‹ Terminal');
    this.list = h('ol', {class: 'said'});
    this.box = h('div', {class: 'talk', tabIndex: 0, role: 'region', onscroll: () => this.scrolled(), onkeydown: (e) => this.press(e)}, this.list);
    this.now = h('button', {onclick: () => this.newest()}, 'Back to now');
    this.bar = h('p', {class: 'back', hidden: true}, this.now);
    this.cards = h('div', {class: 'questions'});
    this.note = h('p', {class: 'hint', role: 'status', hidden: true});
    this.element = h('aside', {class: 'drawer'}, h('header', {}, this.up, h('div', {class: 'name'}, this.name, this.state), this.stop),
      h('div', {class: 'past-and-now'}, this.box, this.bar), this.cards, this.note, chats.app.owner && this.writes());
    this.sized = new ResizeObserver(() => this.resized());
    this.sized.observe(this.box);
    this.update(session);
    this.draw();
  }

  // writes is the line to say something.
  writes() {
    this.line = h('textarea', {rows: 1, autocomplete: 'off', enterKeyHint: 'send'});
    this.line.addEventListener('keydown', (e) => {
      if (e.key === 'Enter' && !e.shiftKey && !e.isComposing && e.keyCode !== 229) this.send(e);
    });
    this.line.addEventListener('input', () => this.grown());
    this.go = h('button', {class: 'go'}, 'Send');
    this.images = new Images(this.line, (words) => this.tell(words));
    this.form = h('form', {class: 'prompt', onsubmit: (e) => this.send(e)}, this.images.list, this.images.choice, this.images.button, this.line, this.go);
    return this.form;
  }

  // grown has the line be as high as what stands there.
  grown() {
    const was = this.line.clientHeight;
    this.line.style.height = 'auto';
    this.line.style.height = Math.min(this.line.scrollHeight + 2, innerHeight / 3) + 'px';
    if (this.line.clientHeight !== was) this.chats.calm();
  }

  update(session) {
    this.session = session;
    const {chat} = session, agent = spelled(head(chat.agent, 60)), state = this.talk.state || chat.state, why = this.talk.state ? this.talk.why : chat.why;
    put(this.name, agent);
    const over = state === 'ended' || state === 'failed to start' || session.state !== 'running';
    const mode = chat.mode && !over ? `, mode ${spelled(head(chat.mode, 40))}` : '';
    put(this.state, (session.state === 'running' || state === 'failed to start' ? stateWords[state] || spelled(state) : 'ended') + mode + (why ? `: ${spelled(why)}` : ''));
    this.state.className = 'where ' + (state === 'wants approval' || state === 'asks' ? 'waits' : '');
    this.element.setAttribute('aria-label', `conversation with ${agent}`);
    this.box.setAttribute('aria-label', `what ${agent} and people said`);
    show(this.stop, this.chats.app.owner && !over && ['working', 'wants approval', 'asks'].includes(state));
    if (!this.line) return;
    this.line.disabled = over;
    this.go.disabled = this.images.button.disabled = over || this.sending;
    this.line.placeholder = over ? 'The agent has ended' : state === 'working' ? 'Goes in while it works…' : `Write to ${agent}…`;
    this.line.setAttribute('aria-label', `message to ${agent}; Shift Enter begins a line`);
  }

  // changed is for what has come: it is drawn with the next frame.
  changed() {
    this.due ||= requestAnimationFrame(() => {
      this.due = 0;
      this.update(this.session);
      this.draw();
      this.read();
    });
  }

  // read has a screen reader read what the agent has said. What is still being written is not read.
  read() {
    const since = this.chats.app.now() - justNow;
    const text = this.talk.fresh.splice(0).filter((f) => f.at > since).map((f) => f.text).join('\n').trim();
    if (text) say(spelled(head(text, 600)));
  }

  // draw shows the window of entries. What stands in view stays there.
  draw() {
    const {entries} = this.talk;
    const at = this.follows ? null : this.place();
    if (this.follows) this.to = entries.length;
    this.to = Math.min(this.to, entries.length);
    this.from = Math.max(0, Math.min(this.from, this.to - 1), this.to - room);
    if (this.follows && this.to - this.from < room) this.from = Math.max(0, this.to - room);
    const window = entries.slice(this.from, this.to), keys = new Set(window.map((e) => e.key));
    for (const key of this.shown.keys()) if (!keys.has(key)) this.shown.delete(key);
    order(this.list, window.map((entry) => {
      let e = this.shown.get(entry.key);
      if (!e) this.shown.set(entry.key, e = new Entry(entry));
      else e.update();
      return e.element;
    }));
    if (this.follows) this.box.scrollTop = this.box.scrollHeight;
    else if (at && at.element.isConnected) this.box.scrollTop += at.element.getBoundingClientRect().top - at.top;
    const more = entries.length - this.to;
    show(this.bar, !this.follows);
    put(this.now, more > 0 ? `Back to now: ${more.toLocaleString('en')} more` : 'Back to now');
  }

  // place is the first entry in view, and where it stands.
  place() {
    const {top} = this.box.getBoundingClientRect();
    for (const element of this.list.children) {
      const r = element.getBoundingClientRect();
      if (r.bottom > top) return {element, top: r.top};
    }
    return null;
  }

  scrolled() {
    const {scrollTop, scrollHeight, clientHeight} = this.box, {length} = this.talk.entries;
    const below = scrollHeight - clientHeight - scrollTop;
    const follows = below <= edge && (this.follows || this.to >= length);
    const changed = follows !== this.follows;
    this.follows = follows;
    if (!follows && scrollTop < near && this.from > 0) this.move(-step);
    else if (!follows && below < near && this.to < length) this.move(step);
    else if (changed) this.draw();
  }

  // move moves the window.
  move(by) {
    const {length} = this.talk.entries;
    this.from = Math.max(0, Math.min(this.from + by, length - 1));
    this.to = Math.min(length, this.from + room);
    this.draw();
    this.next ||= requestAnimationFrame(() => { // who scrolls on comes to the next ones
      this.next = 0;
      this.scrolled();
    });
  }

  // press is for the keys that go to the ends of the whole conversation.
  press(e) {
    if (e.target !== this.box || e.ctrlKey || e.altKey || e.metaKey || e.key !== 'Home' && e.key !== 'End') return;
    e.preventDefault();
    if (e.key === 'End') return void this.newest();
    this.follows = false;
    this.move(-Infinity);
    this.box.scrollTop = 0;
  }

  newest() {
    this.follows = true;
    this.draw();
    this.box.focus({preventScroll: true});
  }

  // resized is for more room, or less: who looks at the end goes on to.
  resized() {
    if (this.follows) this.box.scrollTop = this.box.scrollHeight;
  }

  // arrange shows the cards.
  arrange(cards) { order(this.cards, cards.map((c) => c.element)); }

  tell(words, bad = true) {
    put(this.note, words);
    this.note.classList.toggle('bad', bad);
    show(this.note, words !== '');
    this.chats.calm();
  }

  async send(e) {
    e.preventDefault();
    const text = this.line.value;
    const files = [...this.images.files];
    if (text.trim() === '' && files.length > 0) this.tell('Write something with the image.', false);
    if (text.trim() === '' || this.sending || this.line.disabled) return;
    const size = new TextEncoder().encode(text).length;
    if (size > mostPrompt) return void this.tell(`Not sent: ${size.toLocaleString('en')} bytes; the most is ${mostPrompt.toLocaleString('en')}.`);
    this.sending = this.go.disabled = true;
    try {
      await this.chats.send(this.talk.id, text, files);
      this.images.remove(files);
      if (this.line.value === text) this.line.value = '';
      this.grown();
      this.tell('');
    } catch (err) {
      this.tell('Not sent: ' + spelled(err.message));
    }
    this.sending = false;
    this.go.disabled = this.line.disabled;
  }

  async interrupt() {
    this.stop.disabled = true;
    try {
      await this.chats.interrupt(this.talk.id);
      this.tell('');
    } catch (err) {
      this.tell('Not interrupted: ' + spelled(err.message));
    }
    this.stop.disabled = false;
  }

  end() {
    cancelAnimationFrame(this.due);
    cancelAnimationFrame(this.next);
    this.sized.disconnect();
    this.element.remove();
  }
}
