import {h, setText, setShown, announce} from './dom.js';
import {programLabel, directoryLabel, formatDuration} from './wording.js';
import {spellExactly, spellText} from './spell.js';
import {makeFold} from './fold.js';
import {inputFields, describeClose} from './item.js';

const disarmFor = 300; // ms: a button that moved may be under a finger that meant another one

let count = 0; // cards so far: ids of elements contain it

export class Card {
  /** @type {HTMLButtonElement[]} The buttons that allow. */
  allowButtons = [];
  /** @type {Set<Element> | null} The ends that have not been in view yet; null for none. */
  unseenEnds = null;
  hint = h('p', {class: 'where unread'}, 'To allow this, scroll to its end first.');
  /** @type {ReturnType<Card['makeGroup']>[]} */
  groups = [];
  isInDrawer = false;
  answered = ''; // the answer in words, from the press on
  sentAnswer = ''; // the same, once the gateway has it
  isArmed = false;
  armTimer = 0;
  /** @type {Promise<unknown> | null} */
  pending = null;
  /** @type {IntersectionObserver | undefined} */
  endObserver;
  refusalLine = h('input', {type: 'text', autocomplete: 'off', maxLength: 10000});
  refuseButton = h('button', {
    type: 'button',
    'aria-expanded': 'false',
    onclick: () => this.setRefusalOpen(this.refusal.hidden === true),
  });

  /** @param {Chats} chats @param {Session} session @param {Talk} talk @param {OpenRequest} open */
  constructor(chats, session, talk, {request, at}) {
    this.chats = chats;
    this.session = session;
    this.talk = talk;
    this.request = request;
    this.number = ++count;
    this.askedAt = at || chats.app.now();
    // A request by another agent than the coding agent names that agent.
    this.agent = spellExactly(request.by) || spellText(session.chat?.agent);
    this.head = h('h3', {id: 'card-' + this.number});
    this.where = h('p', {class: 'where'});
    this.buttons = h('div', {class: 'buttons'});
    this.result = h('p', {class: 'result', role: 'status'});
    this.about = h('div', {class: 'card-about'});
    this.refusal = h('form', {class: 'refusal', hidden: true, onsubmit: (e) => this.refuse(e)});
    this.fold = makeFold(this, chats.app.owner);
    this.element = h(
      'section',
      {class: 'question card', role: 'alertdialog', 'aria-labelledby': this.head.id},
      this.head,
      this.fold.open,
      this.fold.close,
      this.where,
      this.about,
      this.buttons,
      this.refusal,
      this.result,
    );
    if (request.form) this.showForm();
    else this.showApproval();
    this.refreshTimes();
    announce(this.head.textContent);
  }

  showApproval() {
    const {request: r, chats} = this;
    this.head.append(
      h('strong', {}, this.agent),
      ' wants to use ',
      h('strong', {}, spellExactly(r.tool) || 'a tool'),
    );
    if (r.why)
      this.about.append(
        h('p', {class: 'reason', dir: 'auto'}, `“${spellText(r.why).replace(/[“”]/g, '"')}”`),
      );
    this.about.append(...inputFields(r.input));
    if (r.atTerminal)
      this.about.append(h('p', {class: 'where'}, `Not shown in full: ${spellText(r.atTerminal)}`));
    if (!chats.app.owner) return this.explainViewer();
    for (const {verdict, covers} of r.allows || []) {
      if (verdict !== 'once' && verdict !== 'session') continue;
      const words = verdict === 'once' ? 'Allow once' : 'For this session';
      if (covers)
        this.about.append(
          h('p', {class: 'covers where'}, `${words}: `, h('code', {}, spellExactly(covers))),
        );
      const allow = h(
        'button',
        {
          type: 'button',
          class: verdict === 'once' ? 'amber' : '',
          onclick: () =>
            this.answer(
              {verdict},
              verdict === 'once' ? 'you allowed it once' : 'you allowed it for this session',
            ),
        },
        words,
      );
      this.allowButtons.push(allow);
      this.buttons.append(allow);
    }
    if (this.allowButtons.length > 0) this.armWhenRead();
    this.addRefusal('Refuse…', 'Refuse', 'Why, or what to do instead (may be empty)');
    return this.disarmButtons();
  }

  /** Arms the buttons that allow only after the end of every box has been in view. */
  armWhenRead() {
    /** @type {Element[]} */
    const boxes = [...this.about.querySelectorAll('pre.exact'), this.about];
    const ends = boxes.map((box) => {
      const end = h('span', {class: 'end', 'aria-hidden': 'true'});
      box.append(end);
      return end;
    });
    this.unseenEnds = new Set(ends);
    this.buttons.before(this.hint);
    const eye = new IntersectionObserver(
      (seen) => {
        for (const {isIntersecting, target} of seen)
          if (isIntersecting) this.unseenEnds?.delete(target);
        if (!this.unseenEnds || this.unseenEnds.size > 0) return;
        this.unseenEnds = null;
        eye.disconnect();
        this.hint.remove();
        this.disarmButtons();
      },
      {threshold: 0.5},
    );
    this.endObserver = eye;
    for (const end of ends) eye.observe(end);
  }

  showForm() {
    const {chats} = this;
    const {form = []} = this.request;
    this.head.append(
      h('strong', {}, this.agent),
      form.length > 1 ? ` asks ${form.length} questions` : ' asks',
    );
    this.groups = form.map((q, i) => this.makeGroup(q, i));
    const questions = h(
      'form',
      {id: `card-${this.number}-form`, class: 'form', onsubmit: (e) => this.reply(e)},
      ...this.groups.map((g) => g.element),
    );
    this.about.append(questions);
    if (!chats.app.owner) {
      for (const e of questions.querySelectorAll('input')) e.disabled = true;
      return this.explainViewer();
    }
    const send = h('button', {type: 'submit', class: 'amber'}, 'Answer');
    send.setAttribute('form', questions.id);
    this.buttons.append(send);
    this.addRefusal('Do not answer…', 'Do not answer', 'Why, or what to do instead (may be empty)');
    return this.disarmButtons();
  }

  /** @param {ChatQuestion} q @param {number} i */
  makeGroup(q, i) {
    const name = `card-${this.number}-${i}`;
    const kind = q.many ? 'checkbox' : 'radio';
    const options = q.options || [];
    const own = h('input', {
      type: 'text',
      class: 'own',
      autocomplete: 'off',
      'aria-label': `answer in your own words: ${spellText(q.text)}`,
      placeholder: options.length > 0 ? 'something else…' : 'your answer…',
    });
    const mark =
      options.length > 0 && h('input', {type: kind, name, 'aria-label': 'something else'});
    own.addEventListener('input', () => {
      if (mark) mark.checked = own.value !== '';
    });
    const picks = options.map((o) => {
      const pick = h('input', {type: kind, name});
      return {
        pick,
        label: o.label,
        element: h(
          'label',
          {class: 'option'},
          pick,
          h(
            'span',
            {dir: 'auto'},
            spellExactly(o.label),
            o.description && h('span', {class: 'where'}, ' ' + spellText(o.description)),
          ),
        ),
      };
    });
    const hint = options.length === 0 ? '' : q.many ? 'several answers' : 'one answer';
    const element = h(
      'fieldset',
      {},
      h(
        'legend',
        {dir: 'auto'},
        q.header && h('span', {class: 'where'}, spellText(q.header) + ' '),
        h('strong', {}, spellText(q.text)),
        ' ',
        h('span', {class: 'where'}, hint),
      ),
      ...picks.map((p) => p.element),
      h('div', {class: 'option'}, mark, own),
    );
    return {q, picks, mark, own, element};
  }

  explainViewer() {
    this.buttons.append(h('p', {class: 'where'}, 'A person who may decide must answer this.'));
  }

  /** @param {string} opens @param {string} does @param {string} hint */
  addRefusal(opens, does, hint) {
    this.refusalLine.setAttribute('aria-label', 'words with it: ' + hint.toLowerCase());
    this.refusalLine.placeholder = hint;
    this.refuseButton.textContent = opens;
    this.buttons.append(this.refuseButton);
    this.refusal.append(this.refusalLine, h('button', {type: 'submit'}, does));
  }

  /** @param {boolean} on */
  setRefusalOpen(on) {
    setShown(this.refusal, on);
    this.refuseButton.setAttribute('aria-expanded', String(on));
    if (on) this.refusalLine.focus({preventScroll: true});
    this.chats.disarmButtons();
  }

  /** @param {Event} e */
  refuse(e) {
    e.preventDefault();
    const words = this.refusalLine.value.trim();
    this.answer(words ? {words} : {}, this.request.form ? 'you did not answer' : 'you refused');
  }

  /** @param {Event} e */
  reply(e) {
    e.preventDefault();
    /** @type {[question: string, answers: string[]][]} */
    const replies = [];
    for (const {q, picks, mark, own} of this.groups) {
      const chosen = picks.filter((p) => p.pick.checked).map((p) => p.label);
      const words = own.value.trim();
      if (words !== '' && (!mark || mark.checked)) chosen.push(words);
      if (chosen.length === 0) {
        setText(this.result, `Not answered yet: ${spellText(q.text)}`);
        ((mark && mark.checked) || picks.length === 0 ? own : picks[0].pick).focus();
        return;
      }
      replies.push([q.id, chosen]);
    }
    this.answer({replies: Object.fromEntries(replies)}, 'you answered');
  }

  allButtons() {
    const {open, close} = this.fold;
    const parts = [this.buttons, this.refusal];
    return [open, close, ...parts.flatMap((e) => [...e.querySelectorAll('button')])];
  }

  /** Disables the buttons for a moment: they have just appeared or moved. */
  disarmButtons() {
    if (this.answered || !this.chats.app.owner) return;
    clearTimeout(this.armTimer);
    this.isArmed = false;
    for (const b of this.allButtons()) b.disabled = true;
    this.armTimer = setTimeout(() => {
      if (this.answered) return;
      this.isArmed = true;
      for (const b of this.allButtons())
        b.disabled = !!this.unseenEnds && this.allowButtons.includes(b);
    }, disarmFor);
  }

  /** @param {ChatReply} answer @param {string} words */
  async answer(answer, words) {
    if (this.answered || !this.isArmed) return; // Enter in a line gets here, too
    this.answered = words;
    for (const b of this.allButtons()) b.disabled = true;
    this.showResult('one moment…');
    this.pending = this.chats.answer(this.talk.id, this.request.id, answer);
    try {
      await this.pending;
      this.sentAnswer = words;
      this.showResult(words);
    } catch (e) {
      if (e.code === 'answered' || e.code === 'not_found')
        return void this.chats.closeCard(this, spellText(e.message));
      this.answered = '';
      this.showResult(e.message);
      this.disarmButtons();
    } finally {
      this.pending = null;
    }
  }

  /** @param {string} words */
  showResult(words) {
    setText(this.result, words);
    this.chats.disarmButtons();
  }

  refreshTimes() {
    const s = this.session;
    setText(
      this.where,
      [
        !this.isInDrawer && programLabel(s),
        directoryLabel(s),
        `asked ${formatDuration(this.chats.app.now() - this.askedAt)} ago`,
        this.describeLimit(),
      ]
        .filter(Boolean)
        .join(' · '),
    );
  }

  describeLimit() {
    const {until} = this.request;
    return until
      ? `refused in ${formatDuration(Math.max(0, until - this.chats.app.now()))} without an answer`
      : '';
  }

  /** @param {ChatClosed|string} closed @param {() => void} remove */
  async close(closed, remove) {
    clearTimeout(this.armTimer);
    this.endObserver?.disconnect();
    this.hint.remove();
    if (this.pending) await this.pending.catch(() => {}); // this page's answer may be the first
    this.answered ||= 'elsewhere';
    const words =
      this.sentAnswer ||
      (typeof closed === 'string' ? closed : describeClose(closed, this.request));
    for (const e of [this.about, this.buttons, this.refusal]) setShown(e, false);
    this.showResult(words);
    announce(words);
    this.element.classList.add('answered');
    setTimeout(remove, 4000);
  }
}
