// One session: its live screen, who has the keyboard, and what an owner may do about it.
import {h, put, show, say} from './dom.js';
import {program, directory, drives, became, clock, clean} from './wording.js';
import {Painter} from './painter.js';
import {Live} from './live.js';
import {History} from './history.js';
import {Fit} from './fit.js';
import {pause} from './connection.js';
import {Typing} from './typing.js';

const justFor = 15000; // ms in which what an agent typed counts as just now

export class Session {
  constructor(app, session) {
    this.app = app;
    this.id = session.sessionId;
    this.session = session;
    this.parts();
    this.painter = new Painter(this.screen, app.theme());
    if (app.owner) this.types();
    this.painter.size(13);
    this.history = new History(this.screen, this.painter, (m) => app.connection.ask({type: 'terminal.read', sessionId: this.id, ...m}), () => this.fit.tell());
    this.frame.append(this.history.bar);
    this.fit = new Fit(this.frame, this.screen, this.painter, this.history);
    this.foot.prepend(this.fit.buttons);
    this.live = new Live(this.spoken);
    this.close = app.views.open(this.id, (m, lines) => this.rows(m, lines));
    this.watch = new ResizeObserver(() => requestAnimationFrame(() => this.resized()));
    this.watch.observe(this.element);
    this.update(session);
  }

  parts() {
    const {app} = this;
    this.title = h('h2', {tabIndex: -1});
    this.about = h('span', {class: 'where'});
    this.hide = h('button', {class: 'hider', onclick: () => this.hiding()}, 'Hide');
    this.back = h('button', {class: 'take', onclick: () => this.takeBack()}, 'Take back');
    this.tag = h('span', {class: 'tag agent'});
    this.screen = h('div', {class: 'screen', role: 'group', tabIndex: 0});
    this.frame = h('div', {class: 'frame'}, this.screen, this.tag);
    this.note = h('p', {class: 'note', role: 'status'});
    this.muted = h('p', {class: 'note muted'});
    this.asOf = h('span', {});
    this.recording = h('a', {class: 'plain'}, 'Recording');
    this.foot = h('footer', {}, this.recording, this.asOf);
    this.just = h('p', {class: 'just', hidden: true});
    this.spoken = h('div', {class: 'unseen', 'aria-live': 'polite', role: 'log', 'aria-label': 'new lines'});
    this.log = h('ol', {class: 'log', 'aria-label': 'messages'});
    this.line = h('input', {'aria-label': 'message to the agent', placeholder: 'Write to the agent…', maxLength: 500, autocomplete: 'off'});
    this.form = h('form', {onsubmit: (e) => this.write(e)}, this.line, h('button', {}, 'Send'));
    const acts = app.owner ? [this.hide, this.back] : [];
    this.typing = null;
    this.element = h('main', {class: 'session'},
      h('header', {}, h('a', {class: 'up', href: '#', 'aria-label': 'all sessions'}, '‹'), h('div', {class: 'name'}, this.title, this.about),
        this.acts = h('div', {class: 'acts'}, ...acts)),
      this.note, this.muted, this.frame, this.just, this.foot, this.spoken,
      ...(app.owner ? [this.log, this.form] : []));
  }

  // types lets an owner type.
  types() {
    this.typing = new Typing(this.app, this);
    this.acts.prepend(this.typing.button);
    this.foot.after(this.typing.element);
  }

  update(session) {
    this.session = session;
    put(this.title, program(session));
    put(this.about, `${directory(session)} · ${session.cols}×${session.rows}`);
    this.screen.setAttribute('aria-label', `screen of ${program(session)}`);
    const dark = session.blackout;
    put(this.hide, dark && dark.reason === 'user' ? 'Show' : 'Hide');
    this.hide.title = dark && dark.reason === 'user' ? 'Let agents see this session again' : 'Hide this session from agents';
    put(this.note, session.state === 'exited' ? `The program has ended${session.exitCode ? ` with status ${session.exitCode}` : ''}. This is its last screen.`
      : session.moving ? 'Its gateway went away, and it is moving to another one: this is what was last seen.'
      : session.state === 'lost' ? 'The session does not answer: this is what was last seen.'
        : !dark ? '' : dark.reason === 'user' ? 'Hidden: agents and pages do not see the screen.'
          : 'A password is asked: what is typed is not shown, and agents cannot type.');
    show(this.note, this.note.textContent !== '');
    const over = session.state === 'exited';
    this.hide.disabled = over;
    if (this.typing) this.typing.update(session);
    this.recorded();
    this.back.disabled = over;
    this.knows(session.keyboard);
    this.mutes(session);
    this.heard(session.decided);
    const name = clean(session.keyboard.agentName);
    this.line.placeholder = name ? `Write to ${name}…` : session.chat ? 'Write to an agent that looks on…' : 'Write to the agent…';
    this.tick();
  }

  // mutes shows who is muted, and lets an owner end that.
  mutes(session) {
    const names = session.state === 'running' ? session.muted || [] : [];
    if (names.join() === this.silent) return;
    this.silent = names.join();
    this.muted.replaceChildren(...names.flatMap((name) => [
      h('span', {title: 'It may ask and write nothing until the session ends'}, `${clean(name)} is muted. `),
      this.app.owner && session.mutes && h('button', {class: 'plain', onclick: () => this.unmute(name)}, `Unmute ${clean(name)}`),
    ]).filter(Boolean));
    show(this.muted, names.length > 0);
  }

  async unmute(name) {
    try {
      await this.app.unmute(this.session, name, this.keyboard.epoch);
      this.did(`${clean(name)} may ask again`);
    } catch (e) {
      this.did('Not unmuted: ' + e.message);
    }
  }

  // heard writes down what was decided about the keyboard, unless that was here, where it stands already.
  heard(d) {
    const at = d ? d.at : 0, news = this.last !== undefined && at !== this.last;
    this.last = at;
    if (news && (d.granted || !(this.app.now() - this.own < 3000)) && became(d)) this.wrote('', became(d));
  }

  // recorded shows the way to what is recorded of the session.
  recorded() {
    const r = this.app.records.of(this.id);
    show(this.recording, !!r);
    if (r) this.recording.href = '#r=' + encodeURIComponent(r.recordId);
  }

  // knows takes over who has the keyboard, from the list or from the screen: the later epoch counts.
  knows(keyboard) {
    if (!this.keyboard || keyboard.epoch >= this.keyboard.epoch) this.keyboard = keyboard;
  }

  tick() {
    const words = drives(this.keyboard, this.app.now());
    put(this.tag, words);
    show(this.tag, words !== '');
    this.frame.classList.toggle('driven', words !== '');
    show(this.just, this.app.now() < (this.justUntil || 0));
    this.back.classList.toggle('green', words !== '');
  }

  rows(m, lines) {
    if (m.state) {
      this.knows(m.state.keyboard);
      this.typed(m.state.typed);
    }
    const sized = m.cols !== this.painter.cols || m.rows !== this.painter.rows;
    if (!this.painter.show(m)) this.painter.show({...m, since: 0, moved: 0, changed: undefined, lines});
    this.history.update(m);
    this.fit.update(m.state, sized);
    if (this.typing) this.typing.place();
    this.seen = this.app.now();
    this.live.changed(lines);
    this.tick();
  }

  // typed shows what an agent typed just now, until it is old.
  typed(what) {
    if (what && what.count !== this.counted) {
      put(this.just, `${clean(what.agentName)} typed ${clean(what.text)}`);
      this.justUntil = this.app.now() + justFor;
    } else if (!what) {
      this.justUntil = 0;
    }
    this.counted = what?.count;
  }

  // resized fits the screen to another room.
  resized() {
    const room = this.element.clientWidth + 'x' + this.element.clientHeight;
    if (room === this.room) return;
    this.room = room;
    this.fit.fit();
  }

  // cut shows that what stands here is old.
  cut(off) {
    this.frame.classList.toggle('stale', off);
    if (off && this.typing) this.typing.typist.lost();
    put(this.asOf, off && this.seen ? `as of ${clock(this.seen)}` : '');
  }

  async takeBack() {
    put(this.back, 'Taking back…');
    this.own = this.app.now();
    try {
      await this.app.takeBack(this.session);
      this.did('Taken back');
    } catch (e) {
      this.did('Not taken back: ' + e.message);
    }
    put(this.back, 'Take back');
  }

  async hiding() {
    const on = !(this.session.blackout && this.session.blackout.reason === 'user');
    try {
      await (on ? this.app.hide(this.session) : this.unhide());
    } catch (e) {
      this.did((on ? 'Not hidden: ' : 'Not shown: ') + e.message);
    }
  }

  // unhide lets agents see the session again. That it is hidden may have come here before the epoch that this made: a decision under
  // the one before is void, and made again once the new one is known, if no agent has got the keyboard with it.
  async unhide() {
    const epoch = this.keyboard.epoch;
    try {
      await this.app.unhide(this.session, epoch);
    } catch (e) {
      if (e.code !== 'busy') throw e;
      await this.newer(epoch);
      if (this.keyboard.epoch === epoch || this.keyboard.holder === 'agent') throw e;
      await this.app.unhide(this.session, this.keyboard.epoch);
    }
  }

  // newer waits for an epoch after that one, and not for long.
  async newer(epoch) {
    for (let i = 0; i < 20 && this.keyboard.epoch === epoch; i++) await pause(50);
  }

  // did says what became of something.
  did(words) {
    this.wrote('', words);
    say(words);
  }

  wrote(who, text) {
    this.log.append(h('li', {}, h('time', {}, clock(this.app.now()).slice(0, 5)), h('span', {}, who && h('strong', {}, who + ' '), text)));
    while (this.log.children.length > 50) this.log.firstChild.remove();
    this.log.scrollTop = this.log.scrollHeight;
  }

  async write(e) {
    e.preventDefault();
    const text = this.line.value.trim();
    if (text === '') return;
    try {
      await this.app.write(this.session, text);
      this.wrote('you', text);
      if (this.line.value.trim() === text) this.line.value = '';
    } catch (err) {
      this.did('Not sent: ' + err.message);
    }
  }

  retheme(theme) {
    this.painter.retheme(theme);
    this.history.refit(() => {});
  }

  end() {
    this.close();
    this.history.end();
    this.live.stop();
    this.watch.disconnect();
    if (this.typing) this.typing.end();
  }
}
