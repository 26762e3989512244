// A card: a coding agent waits for an approval or for answers. It stands until it is answered, here or elsewhere, and the first answer counts.
import {h, put, show, say} from './dom.js';
import {program, directory, span} from './wording.js';
import {exactly, spelled} from './spell.js';
import {fields, settled} from './item.js';

const dead = 300; // ms in which a button does nothing: it may have come under a finger that meant another one

let count = 0; // of cards: names of groups and ids

export class Card {
  // chats answers (chats.answer), and knows the sessions and the time; talk is the conversation.
  constructor(chats, session, talk, {request, at}) {
    Object.assign(this, {chats, session, talk, request});
    this.no = ++count;
    this.allows = []; // buttons
    this.ends = null; // of what is asked, that have not been visible yet; null for none
    this.began = at || chats.app.now();
    this.agent = exactly(request.by) || spelled(session.chat.agent); // another agent than the coding agent has its name with it
    this.head = h('h3', {id: 'card-' + this.no});
    this.where = h('p', {class: 'where'});
    this.buttons = h('div', {class: 'buttons'});
    this.result = h('p', {class: 'result', role: 'status'});
    this.about = h('div', {class: 'card-about'});
    this.refusal = h('form', {class: 'refusal', hidden: true, onsubmit: (e) => this.refuse(e)});
    this.element = h('section', {class: 'question card', role: 'alertdialog', 'aria-labelledby': this.head.id},
      this.head, this.where, this.about, this.buttons, this.refusal, this.result);
    if (request.form) this.asks();
    else this.wants();
    this.tick();
    say(this.head.textContent);
  }

  // wants shows an approval: the tool, all that it is called with, and what can be decided.
  wants() {
    const {request: r, chats} = this;
    this.head.append(h('strong', {}, this.agent), ' wants to use ', h('strong', {}, exactly(r.tool) || 'a tool'));
    if (r.why) this.about.append(h('p', {class: 'reason', dir: 'auto'}, `“${spelled(r.why).replace(/[“”]/g, '"')}”`));
    this.about.append(...fields(r.input));
    if (r.atTerminal) this.about.append(h('p', {class: 'where'}, `Not shown in full: ${spelled(r.atTerminal)}`));
    if (!chats.app.owner) return this.nobody();
    for (const {verdict, covers} of r.allows || []) {
      if (verdict !== 'once' && verdict !== 'session') continue;
      const words = verdict === 'once' ? 'Allow once' : 'For this session';
      if (covers) this.about.append(h('p', {class: 'covers where'}, `${words}: `, h('code', {}, exactly(covers))));
      const allow = h('button', {
        type: 'button', class: verdict === 'once' ? 'amber' : '',
        onclick: () => this.answer({verdict}, verdict === 'once' ? 'you allowed it once' : 'you allowed it for this session'),
      }, words);
      this.allows.push(allow);
      this.buttons.append(allow);
    }
    if (this.allows.length > 0) this.watch();
    this.refusing('Refuse…', 'Refuse', 'Why, or what to do instead (may be empty)');
    return this.calm();
  }

  // watch keeps what allows dead until the end of all that is asked has been visible: of each box, and of what stands behind them.
  watch() {
    const ends = [...this.about.querySelectorAll('pre.exact'), this.about].map((box) => {
      const end = h('span', {class: 'end', 'aria-hidden': 'true'});
      box.append(end);
      return end;
    });
    this.ends = new Set(ends);
    this.hint = h('p', {class: 'where unread'}, 'To allow this, scroll to its end first.');
    this.buttons.before(this.hint);
    this.eye = new IntersectionObserver((seen) => {
      for (const {isIntersecting, target} of seen) if (isIntersecting) this.ends?.delete(target);
      if (!this.ends || this.ends.size > 0) return;
      this.ends = null;
      this.eye.disconnect();
      this.hint.remove();
      this.calm();
    }, {threshold: 0.5});
    for (const end of ends) this.eye.observe(end);
  }

  // asks shows questions. Each has its options, and words of one's own.
  asks() {
    const {request: r, chats} = this;
    this.head.append(h('strong', {}, this.agent), r.form.length > 1 ? ` asks ${r.form.length} questions` : ' asks');
    this.groups = r.form.map((q, i) => this.group(q, i));
    this.form = h('form', {id: `card-${this.no}-form`, class: 'form', onsubmit: (e) => this.reply(e)}, ...this.groups.map((g) => g.element));
    this.about.append(this.form);
    if (!chats.app.owner) {
      for (const e of this.form.elements) e.disabled = true;
      return this.nobody();
    }
    const send = h('button', {type: 'submit', class: 'amber'}, 'Answer');
    send.setAttribute('form', this.form.id);
    this.buttons.append(send);
    this.refusing('Do not answer…', 'Do not answer', 'Why, or what to do instead (may be empty)');
    return this.calm();
  }

  group(q, i) {
    const name = `card-${this.no}-${i}`, kind = q.many ? 'checkbox' : 'radio', options = q.options || [];
    const own = h('input', {type: 'text', class: 'own', autocomplete: 'off', 'aria-label': `answer in your own words: ${spelled(q.text)}`, placeholder: options.length > 0 ? 'something else…' : 'your answer…'});
    const mark = options.length > 0 && h('input', {type: kind, name, 'aria-label': 'something else'});
    own.addEventListener('input', () => { if (mark) mark.checked = own.value !== ''; });
    const picks = options.map((o) => {
      const pick = h('input', {type: kind, name});
      return {pick, label: o.label, element: h('label', {class: 'option'}, pick,
        h('span', {dir: 'auto'}, exactly(o.label), o.description && h('span', {class: 'where'}, ' ' + spelled(o.description))))};
    });
    const hint = options.length === 0 ? '' : q.many ? 'several answers' : 'one answer';
    const element = h('fieldset', {},
      h('legend', {dir: 'auto'}, q.header && h('span', {class: 'where'}, spelled(q.header) + ' '), h('strong', {}, spelled(q.text)), ' ', h('span', {class: 'where'}, hint)),
      ...picks.map((p) => p.element), h('div', {class: 'option'}, mark, own));
    return {q, picks, mark, own, element};
  }

  nobody() { this.buttons.append(h('p', {class: 'where'}, 'Somebody who may decide has to answer this.')); }

  // refusing adds the button that opens a line for words to the agent, with the one that refuses.
  refusing(opens, does, hint) {
    this.words = h('input', {type: 'text', autocomplete: 'off', maxLength: 10000, 'aria-label': 'words with it: ' + hint.toLowerCase(), placeholder: hint});
    this.no = h('button', {type: 'button', 'aria-expanded': 'false', onclick: () => this.opened(this.refusal.hidden)}, opens);
    this.buttons.append(this.no);
    this.refusal.append(this.words, h('button', {type: 'submit'}, does));
  }

  opened(on) {
    show(this.refusal, on);
    this.no.setAttribute('aria-expanded', String(on));
    if (on) this.words.focus({preventScroll: true});
    this.chats.calm();
  }

  refuse(e) {
    e.preventDefault();
    const words = this.words.value.trim();
    this.answer(words ? {words} : {}, this.request.form ? 'you did not answer' : 'you refused');
  }

  reply(e) {
    e.preventDefault();
    const replies = [];
    for (const {q, picks, mark, own} of this.groups) {
      const chosen = picks.filter((p) => p.pick.checked).map((p) => p.label), words = own.value.trim();
      if (words !== '' && (!mark || mark.checked)) chosen.push(words);
      if (chosen.length === 0) {
        put(this.result, `Not answered yet: ${spelled(q.text)}`);
        (mark && mark.checked || picks.length === 0 ? own : picks[0].pick).focus();
        return;
      }
      replies.push([q.id, chosen]);
    }
    this.answer({replies: Object.fromEntries(replies)}, 'you answered');
  }

  pressable() { return [...this.buttons.querySelectorAll('button'), ...this.refusal.querySelectorAll('button')]; }

  // calm has the buttons do nothing for a moment: they have just appeared or moved.
  calm() {
    if (this.answered || !this.chats.app.owner) return;
    clearTimeout(this.calmed);
    this.live = false;
    for (const b of this.pressable()) b.disabled = true;
    this.calmed = setTimeout(() => {
      if (this.answered) return;
      this.live = true;
      for (const b of this.pressable()) b.disabled = !!this.ends && this.allows.includes(b);
    }, dead);
  }

  async answer(answer, words) {
    if (this.answered || !this.live) return; // Enter in a line is as good as a button
    this.answered = words;
    for (const b of this.pressable()) b.disabled = true;
    this.tell('one moment…');
    this.pending = this.chats.answer(this.talk.id, this.request.id, answer);
    try {
      await this.pending;
      this.sent = words;
      this.tell(words);
    } catch (e) {
      if (e.code === 'answered' || e.code === 'not_found') return void this.chats.closed(this, spelled(e.message));
      this.answered = '';
      this.tell(e.message);
      this.calm();
    } finally {
      this.pending = null;
    }
  }

  // tell says something below the buttons, which moves what stands under it.
  tell(words) {
    put(this.result, words);
    this.chats.calm();
  }

  // tick says anew how long it asks.
  tick() {
    const s = this.session;
    put(this.where, [!this.within && program(s), directory(s), `asked ${span(this.chats.app.now() - this.began)} ago`, this.limit()].filter(Boolean).join(' · '));
  }

  // limit says when it is refused by itself, '' for never.
  limit() {
    const {until} = this.request;
    return until ? `refused in ${span(Math.max(0, until - this.chats.app.now()))} if nobody answers` : '';
  }

  // gone says how it was answered, if not here, and leaves a moment later. closed is the record of that, or a sentence.
  async gone(closed, remove) {
    clearTimeout(this.calmed);
    this.eye?.disconnect();
    this.hint?.remove();
    if (this.pending) await this.pending.catch(() => {}); // ours may have been the first
    this.answered ||= 'elsewhere';
    const words = this.sent || (typeof closed === 'string' ? closed : settled(closed, this.request));
    for (const e of [this.about, this.buttons, this.refusal]) show(e, false);
    this.tell(words);
    say(words);
    this.element.classList.add('answered');
    setTimeout(remove, 4000);
  }
}
