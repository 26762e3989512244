// A question: an agent asks for the keyboard of a session. It stands until it is answered, here or elsewhere.
import {h, put, show, say} from './dom.js';
import {program, directory, span, asks, answered, clean} from './wording.js';
import {Painter} from './painter.js';

const lastRows = 6;
const dead = 300; // ms in which a button does nothing: it may have come under a finger that meant another one
const minutes = 10;

// wish is what an agent asks for, under which epoch, to be compared.
const wish = ({keyboard: k}) => JSON.stringify([k.asking, k.askingLevel, k.askingReason, k.epoch]);

export class Question {
  // app decides (app.give, app.takeBack), shows screens (app.views) and knows the time (app.now) and the theme.
  constructor(app, session) {
    this.app = app;
    this.session = session;
    this.asked = wish(session);
    this.agent = clean(session.keyboard.asking);
    const since = session.keyboard.askingSince;
    this.began = since || app.now();
    this.before = !since && !app.listed; // the page found it, and an older proxy does not say since when
    this.decided = session.decided ? session.decided.at : 0; // before this question
    this.head = h('h3', {id: 'q-' + session.sessionId});
    this.where = h('p', {class: 'where'});
    this.reason = h('p', {class: 'reason'});
    this.screen = h('div', {class: 'screen glance', 'aria-label': 'the last rows of its screen', role: 'group'});
    this.buttons = h('div', {class: 'buttons'});
    this.result = h('p', {class: 'result', role: 'status'});
    this.element = h('section', {class: 'question', role: 'alertdialog', 'aria-labelledby': this.head.id},
      this.head, this.where, this.reason, this.screen, this.buttons, this.result);
    this.painter = new Painter(this.screen, app.theme());
    this.painter.size(12);
    this.close = app.views.open(session.sessionId, (m, lines) => this.glance(m, lines));
    this.choices();
    this.update(session);
    say(`${this.agent} asks to ${asks(session.keyboard)} in ${program(session)}`);
  }

  choices() {
    if (!this.app.owner) {
      this.buttons.append(h('p', {class: 'where'}, 'Somebody who may decide has to answer this.'));
      return;
    }
    const give = (level) => () => this.answer(() => this.app.give(this.session, level, minutes * 60), `you gave ${this.agent} ${minutes} minutes`);
    const typeOnly = this.session.keyboard.askingLevel === 'type';
    this.buttons.append(
      h('button', {class: 'amber', onclick: give(typeOnly ? 'type' : 'drive')}, `Give ${minutes} min`),
      ...(typeOnly ? [] : [h('button', {onclick: give('type'), title: 'It may type text; Enter and the like wait for you'}, 'Type only')]),
      this.no = h('button', {onclick: () => this.answer(() => this.app.refuse(this.session), 'you refused')}, 'Refuse'));
    if (this.session.mutes) {
      this.buttons.append(h('button', {
        onclick: () => this.answer(() => this.app.mute(this.session, this.session.keyboard.asking), `you muted ${this.agent}`),
        title: 'Refuse, and let it ask and write nothing more in this session',
      }, 'Mute'));
    }
    this.calm();
  }

  // calm has the buttons do nothing for a moment: they have just appeared or moved.
  calm() {
    if (this.answered || !this.app.owner) return;
    clearTimeout(this.calmed);
    for (const b of this.buttons.children) b.disabled = true;
    this.calmed = setTimeout(() => {
      if (!this.answered) for (const b of this.buttons.children) b.disabled = false;
    }, dead);
  }

  async answer(act, words) {
    this.answered = words;
    for (const b of this.buttons.children) b.disabled = true;
    put(this.result, 'one moment…');
    try {
      await act();
      put(this.result, words);
    } catch (e) {
      this.answered = '';
      put(this.result, e.message);
      this.calm();
    }
  }

  glance(m, lines) {
    const last = lines.findLastIndex((text) => text.replace(/\x1b\[[0-9;:]*m/g, '').trim() !== '');
    const rows = lines.slice(Math.max(0, last - lastRows + 1), last + 1);
    this.painter.show({...m, since: 0, moved: 0, changed: undefined, lines: rows, rows: Math.max(1, rows.length), cursor: null});
    if (m.blackout) put(this.screen, '');
  }

  // stands says whether it is still this question that is open. An agent that asks for something else asks anew: what somebody is about
  // to press must not change its meaning.
  stands(session) { return !!session && session.state === 'running' && wish(session) === this.asked; }

  update(session) {
    this.session = session;
    const k = session.keyboard;
    if (this.head.childNodes.length === 0) {
      this.head.append(h('strong', {}, this.agent), ' asks to ', h('strong', {}, asks(k)), ' in ', h('strong', {}, program(session)));
    }
    put(this.reason, k.askingReason ? `“${clean(k.askingReason).replace(/[“”]/g, '"')}”` : 'It gives no reason.');
    // A proxy that knows no refusal takes the keyboard back from whoever has it.
    if (this.no) put(this.no, k.holder === 'agent' && !session.mutes ? `Refuse, and take back from ${clean(k.agentName)}` : 'Refuse');
    this.tick();
  }

  // tick says anew how long it asks. It returns whether its buttons moved.
  tick() {
    put(this.where, `${directory(this.session)} · ${this.before ? 'asked more than ' : 'asked '}${span(this.app.now() - this.began)} ago`);
    const below = this.app.shown === this.session.sessionId; // the whole screen is
    const moved = this.screen.hidden !== below;
    show(this.screen, !below);
    return moved;
  }

  // gone says how it was answered, if not here, and leaves a moment later.
  gone(session, remove) {
    this.close();
    clearTimeout(this.calmed);
    for (const b of this.buttons.children) b.disabled = true;
    const k = session && session.keyboard, d = session && session.decided;
    const told = d && d.at !== this.decided && clean(d.agentName) === this.agent;
    const muted = session && (session.muted || []).some((name) => clean(name) === this.agent) ? ', and muted' : '';
    const elsewhere = told ? answered(d) + muted : session && clean(session.keyboard.asking) === this.agent ? 'asked anew' : !session || session.state === 'exited' ? 'the program has ended'
      : k.holder === 'agent' && clean(k.agentName) === this.agent ? `answered elsewhere: ${this.agent} may type`
        : 'answered elsewhere: refused, or taken back by the agent';
    put(this.result, this.answered || elsewhere);
    say(this.answered || elsewhere);
    for (const e of [this.buttons, this.reason, this.screen]) show(e, false);
    this.element.classList.add('answered');
    setTimeout(remove, 4000);
  }

  retheme(theme) { this.painter.retheme(theme); }
}
