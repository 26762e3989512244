// The questions of programs for a password, a name or a yes. The person's answer is sealed to the
// program that asks before it leaves this page, and the page does not keep it.
import {h, setText, setShown, announce} from './dom.js';
import {directoryLabel, formatDuration, cleanText, isOwnName} from './wording.js';
import {encodeText, fromBase64, toBase64, signSecretReply} from './keys.js';
import {sealText} from './seal.js';
import {makeFold} from './fold.js';

const disarmFor = 300; // ms: a button that moved may be under a finger that meant another one
const longest = 1000; // bytes of an answer

/** The answer that each kind of question asks for. */
const wanted = {secret: 'password', text: 'answer', confirm: 'yes'};

/** @param {SecretAsker} a */
function describeAgent(a) {
  const name = cleanText(a.agent).replace(/[“”]/g, '"');
  if (!name) return 'A program of yours';
  return a.proven ? `“${name}”` : `What looks like ${name}`;
}

/** Binds an answer to the words that the person read. @param {SecretAsk} m */
const sealInfo = (m) => encodeText(`terminal-proxy.v1 secret\0${m.kind}\0${m.prompt}`);

/** @param {SecretEnded} m */
export function describeEnd(m) {
  if (!m.verdict) return 'the program no longer waits';
  const done = m.verdict === 'answer' ? 'answered' : 'refused';
  if (!m.by) return `${done} at the terminal`;
  return isOwnName(m.by) ? `you ${done}` : `${done} by ${cleanText(m.by)}`;
}

/** The open questions for secrets on this page. */
export class Secrets {
  /** @type {Set<string>} Questions of the previous connection, which may have ended meanwhile. */
  stale = new Set();

  /** @param {App} app */
  constructor(app) {
    this.app = app;
    this.open = app.list.secrets;
  }

  /** @param {SecretAsk|SecretEnded} m */
  receive(m) {
    if ('prompt' in m) {
      this.stale.delete(m.requestId);
      if (this.open.has(m.requestId)) return;
      this.open.set(m.requestId, new SecretQuestion(this.app, m));
      this.app.list.arrangeQuestions();
      this.app.refreshTimes();
    } else this.remove(m);
  }

  /** @param {SecretEnded} m */
  remove(m) {
    const q = this.open.get(m.question);
    if (!q) return;
    this.open.delete(m.question);
    this.app.list.removeSecret(q, m);
    this.app.refreshTimes();
  }

  noteReconnect() {
    this.stale = new Set(this.open.keys());
  }

  /** Called after the gateway has sent those that are open. */
  removeStale() {
    for (const question of this.stale) this.remove({question, sessionId: ''});
  }
}

export class SecretQuestion {
  isOpen = false; // the person answers
  isSending = false;
  isOver = false;

  /** @param {App} app @param {SecretAsk} ask */
  constructor(app, ask) {
    this.app = app;
    this.ask = ask;
    const {asker, kind} = ask;
    this.askedAt = app.now();
    this.agent = describeAgent(asker);
    const program = cleanText(asker.program);
    this.head = h(
      'h3',
      {id: 'secret-' + ask.requestId},
      h('strong', {}, this.agent),
      kind === 'confirm' ? ' needs your ' : ' wants your ',
      h('strong', {}, wanted[kind]),
      ' for ',
      h('strong', {}, program),
      asker.host && [' at ', cleanText(asker.host)].join(''),
    );
    this.where = h('p', {class: 'where'});
    this.command = h(
      'code',
      {class: 'asks', tabIndex: 0, role: 'group', 'aria-label': 'the command'},
      cleanText(asker.command),
    );
    this.words = h(
      'div',
      {
        class: kind === 'confirm' ? 'asks whole' : 'asks',
        tabIndex: 0,
        role: 'group',
        'aria-label': `the words of ${program}`,
      },
      ask.prompt.trim().split(/\r?\n/).map(cleanText).join('\n'),
    );
    this.caption = h('p', {class: 'where'}, `${program} says:`);
    for (const e of [this.caption, this.words]) setShown(e, ask.prompt.trim() !== '');
    this.again = h('p', {class: 'reason', hidden: !ask.again}, 'The last answer was wrong.');
    this.field = h('input', {
      type: kind === 'text' ? 'text' : 'password',
      autocomplete: 'off',
      spellcheck: false,
      'aria-label': `${wanted[kind]} for ${program}`,
      onkeydown: (e) => this.handleKey(e),
    });
    for (const name of ['autocapitalize', 'autocorrect']) this.field.setAttribute(name, 'off');
    this.sendButton = h(
      'button',
      {type: 'button', class: 'amber', onclick: () => this.send()},
      kind === 'confirm' ? 'Say yes' : 'Send',
    );
    this.row = h(
      'div',
      {class: 'buttons', hidden: true, onfocusout: (e) => this.handleLeave(e)},
      kind !== 'confirm' && this.field,
      this.sendButton,
    );
    // A press must not move the focus from the field, which would clear its text.
    this.row.addEventListener('pointerdown', (e) => {
      if (e.target === this.sendButton) e.preventDefault();
    });
    this.row.addEventListener('mousedown', (e) => {
      if (e.target === this.sendButton) e.preventDefault();
    });
    this.answerButton = h(
      'button',
      {type: 'button', class: 'amber', onclick: () => this.setOpen(true)},
      'Answer',
    );
    this.buttons = h(
      'div',
      {class: 'buttons'},
      this.answerButton,
      h('button', {type: 'button', onclick: () => this.reply('refuse')}, 'Refuse'),
    );
    this.fold = makeFold(this, true);
    this.result = h('p', {class: 'result', role: 'status'});
    this.element = h(
      'section',
      {class: 'question secret', role: 'alertdialog', 'aria-labelledby': this.head.id},
      this.head,
      this.fold.open,
      this.fold.close,
      this.where,
      this.command,
      this.again,
      this.caption,
      this.words,
      this.row,
      this.buttons,
      this.result,
    );
    this.hideListener = () => document.hidden && this.forgetText();
    document.addEventListener('visibilitychange', this.hideListener);
    this.disarmButtons();
    this.refreshTimes();
    announce(this.head.textContent || '');
  }

  /** Disables the buttons for a moment: they have just appeared or moved. */
  disarmButtons() {
    if (this.isOver || this.isSending) return;
    clearTimeout(this.armTimer);
    this.setDisabled(true);
    this.armTimer = setTimeout(() => this.setDisabled(this.isOver || this.isSending), disarmFor);
  }

  /** @param {boolean} on */
  setDisabled(on) {
    for (const b of this.element.querySelectorAll('button')) b.disabled = on;
  }

  /** @param {boolean} on */
  setOpen(on) {
    this.isOpen = on;
    this.forgetText();
    setShown(this.row, on);
    setShown(this.answerButton, !on);
    setText(this.result, '');
    this.disarmButtons();
    if (on && this.ask.kind !== 'confirm') this.field.focus();
  }

  /** @param {KeyboardEvent} e */
  handleKey(e) {
    if (e.key === 'Enter' && !e.isComposing) this.send();
    else if (e.key === 'Escape') this.setOpen(false);
    else return;
    e.preventDefault();
  }

  /** @param {FocusEvent} e */
  handleLeave(e) {
    if (e.relatedTarget instanceof Node && this.row.contains(e.relatedTarget)) return;
    if (this.forgetText()) setText(this.result, 'You left the field: what you typed is gone.');
  }

  /** Clears the field. Returns whether it had text. */
  forgetText() {
    const had = this.field.value !== '';
    this.field.value = '';
    return had;
  }

  async send() {
    const text = this.ask.kind === 'confirm' ? 'yes' : this.field.value;
    if (!this.isOpen || this.isSending || text === '') return;
    this.forgetText();
    const bytes = encodeText(text);
    if (bytes.length > longest) setText(this.result, 'That is too long: nothing was sent.');
    else await this.reply('answer', bytes);
  }

  /** @param {'answer'|'refuse'} verdict @param {Uint8Array<ArrayBuffer>} [text] */
  async reply(verdict, text) {
    if (this.isSending || this.isOver) return;
    this.isSending = true;
    this.setDisabled(true);
    this.forgetText();
    setText(this.result, 'one moment…');
    try {
      await this.sendReply(verdict, text);
    } catch (e) {
      if (!this.isOver) setText(this.result, 'Not sent: ' + e.message);
    }
    text?.fill(0);
    this.isSending = false;
    this.disarmButtons();
  }

  /** @param {'answer'|'refuse'} verdict @param {Uint8Array<ArrayBuffer>} [text] */
  async sendReply(verdict, text) {
    const {ask, app} = this;
    const session = app.sessions.get(ask.sessionId);
    if (!session) throw new Error('its session is not here');
    const key = fromBase64(ask.publicKeyB64);
    const sealed = text && (await sealText(key, sealInfo(ask), text));
    /** @type {Message<'secret.reply'>} */
    const m = {
      type: 'secret.reply',
      sessionId: ask.sessionId,
      question: ask.requestId,
      verdict,
      ...(sealed && {sealedB64: toBase64(sealed)}),
      at: app.now(),
    };
    await app.connection.ask(
      await signSecretReply(app.page, m, session.startedAt, key, sealed || new Uint8Array()),
    );
  }

  /** Returns whether its buttons moved. */
  refreshTimes() {
    const {cwd} = this.ask.asker;
    const since = `asked ${formatDuration(this.app.now() - this.askedAt)} ago`;
    setText(this.where, [cwd && `in ${directoryLabel({cwd})}`, since].filter(Boolean).join(' · '));
    return false;
  }

  /** @param {SecretEnded} m @param {() => void} remove */
  close(m, remove) {
    this.isOver = true;
    clearTimeout(this.armTimer);
    document.removeEventListener('visibilitychange', this.hideListener);
    const lost = this.forgetText() ? ' What you typed went nowhere.' : '';
    this.setDisabled(true);
    for (const e of [this.row, this.buttons, this.command, this.caption, this.words, this.again])
      setShown(e, false);
    this.element.classList.add('answered');
    const words = describeEnd(m) + (lost && `.${lost}`);
    setText(this.result, words);
    announce(words);
    setTimeout(remove, m.moved ? 0 : 4000);
  }

  setTheme() {}
}
