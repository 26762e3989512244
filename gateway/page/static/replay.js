// A recording, played: the door renders what was on the screen from moment to moment, as rows, and here they are painted as those of a
// live session are. So no escape sequence of a program reaches the page, and what is masked there is masked here.
import {h, put, show, say} from './dom.js';
import {program, directory} from './wording.js';
import {Painter} from './painter.js';
import {Fit} from './fit.js';

const ahead = 4000; // ms of the recording that are fetched before they are wanted, at normal speed
const longest = 2000; // ms that a pause takes when pauses are shortened
const most = 200; // pieces that are kept
const poll = 1000; // ms between two looks for more of a session that runs
const skip = 5000; // ms of an arrow key
const speeds = [1, 2, 4, 8, 0.5];

const time = (ms) => {
  const s = Math.floor(ms / 1000), two = (n) => String(n).padStart(2, '0');
  return s < 3600 ? `${Math.floor(s / 60)}:${two(s % 60)}` : `${Math.floor(s / 3600)}:${two(Math.floor(s / 60) % 60)}:${two(s % 60)}`;
};

// nothing stands above the screen of a recording.
const noHistory = {back: false, height: () => 0, refit: (act) => act(), now: () => {}};

export class Replay {
  constructor(app, record) {
    Object.assign(this, {app, record, id: record.recordId});
    this.pieces = []; // {from, to, end, frames}, by time, without gaps
    this.marks = [];
    this.at = this.length = this.shown = 0;
    this.speed = 1;
    this.short = true;
    this.parts();
    this.painter = new Painter(this.screen, app.theme());
    this.painter.size(13);
    this.fit = new Fit(this.frame, this.screen, this.painter, noHistory);
    this.foot.append(this.fit.buttons);
    this.watch = new ResizeObserver(() => requestAnimationFrame(() => this.resized()));
    this.watch.observe(this.element);
    this.pressed = (e) => this.press(e);
    document.addEventListener('keydown', this.pressed);
    this.begin();
  }

  parts() {
    const {record} = this;
    this.title = h('h2', {tabIndex: -1}, program(record));
    this.screen = h('div', {class: 'screen', role: 'group', tabIndex: 0, 'aria-label': `recording of ${program(record)}`});
    this.frame = h('div', {class: 'frame'}, this.screen);
    this.note = h('p', {class: 'note', role: 'status'});
    this.play = h('button', {class: 'play', onclick: () => this.toggle()}, 'Play');
    this.clock = h('span', {class: 'clock'});
    this.slider = h('input', {type: 'range', min: 0, max: 0, value: 0, 'aria-label': 'time', oninput: () => this.seek(Number(this.slider.value))});
    this.ticks = h('div', {class: 'marks', 'aria-hidden': 'true'});
    this.fast = h('button', {onclick: () => this.faster(), 'aria-label': 'speed'}, '1×');
    this.before = h('button', {onclick: () => this.jump(-1), title: 'To what an agent typed before'}, '‹ input');
    this.after = h('button', {onclick: () => this.jump(1), title: 'To what an agent typed next'}, 'input ›');
    const pauses = h('input', {type: 'checkbox', checked: true, onchange: (e) => { this.short = e.target.checked; }});
    this.says = h('p', {class: 'says'});
    this.foot = h('footer', {}, h('label', {class: 'plain'}, pauses, ' Shorten pauses'));
    this.element = h('main', {class: 'session replay'},
      h('header', {}, h('a', {class: 'up', href: '#', 'aria-label': 'all sessions'}, '‹'),
        h('div', {class: 'name'}, this.title, h('span', {class: 'where'}, `${directory(record)} · ${new Date(record.startedAt).toLocaleString('en-GB')}`))),
      this.note, this.frame, this.says,
      h('div', {class: 'line-of-time'}, this.slider, this.ticks),
      h('div', {class: 'transport'}, this.play, this.before, this.after, this.fast, this.clock), this.foot);
    show(this.note, false);
  }

  // ask asks about the recording; a failure is said.
  async ask(fields) {
    try {
      const r = await this.app.connection.ask({type: 'records.read', recordId: this.id, ...fields});
      show(this.note, false);
      return r;
    } catch (e) {
      put(this.note, `The recording cannot be shown: ${e.message}`);
      show(this.note, true);
      return null;
    }
  }

  async begin() {
    await this.survey();
    await this.seek(0);
    this.tell();
  }

  // survey asks how long the recording is, and what is marked.
  async survey() {
    const r = await this.ask({marks: true});
    if (!r || this.ended) return;
    this.length = Math.max(this.length, r.lengthMs || 0);
    this.marks = r.marks || [];
    this.slider.max = this.length;
    this.drawMarks();
    show(this.before, this.marks.some((m) => m.kind === 'input'));
    show(this.after, !this.before.hidden);
  }

  drawMarks() {
    this.ticks.replaceChildren(...this.marks.filter((m) => m.kind !== 'event').map((m) => {
      const e = h('i', {class: 'mark ' + m.kind});
      e.style.left = (this.length ? 100 * m.atMs / this.length : 0) + '%';
      return e;
    }));
  }

  piece(at) { return this.pieces.find((p) => at >= p.from && (at < p.to || p.end && at >= p.to)); }

  end() {
    this.ended = true;
    this.stop();
    clearTimeout(this.later);
    this.watch.disconnect();
    document.removeEventListener('keydown', this.pressed);
  }

  // fetch gets what was recorded from a time on.
  async fetch(from) {
    if (this.fetching) return this.fetching;
    this.fetching = this.ask({fromMs: Math.round(from), everyMs: Math.round(33 * Math.max(1, this.speed))}).then((r) => {
      this.fetching = null;
      if (!r || this.ended || !r.frames) return null;
      const p = {from: Math.min(Math.round(from), r.frames[0].atMs), to: r.nextMs || 0, end: !!r.end, frames: r.frames};
      const last = this.pieces[this.pieces.length - 1];
      if (last && last.end && p.end && p.to === last.to && p.from === p.to) return last; // nothing new
      if (last && last.to !== p.from && !(last.end && p.from >= last.to)) this.pieces = []; // somewhere else
      else if (last && last.end) last.end = false;
      this.pieces.push(p);
      if (this.pieces.length > most) this.pieces.shift();
      this.slider.max = this.length = Math.max(this.length, p.to);
      return p;
    });
    return this.fetching;
  }

  // seek shows the screen of a time.
  async seek(at) {
    this.at = Math.min(Math.max(0, at), this.length);
    const mine = this.sought = {};
    while (!this.piece(this.at)) {
      if (this.fetching) await this.fetching;
      else if (!await this.fetch(this.at)) return;
      if (mine !== this.sought) return;
    }
    this.shown = null;
    this.draw();
    this.tell();
  }

  // draw shows the frame of now.
  draw() {
    const p = this.piece(this.at);
    if (!p) return;
    let n = p.frames.findLastIndex((f) => f.atMs <= this.at);
    if (n < 0) n = 0;
    if (this.shown && this.shown.piece === p && this.shown.n === n) return;
    const from = this.shown && this.shown.piece === p && this.shown.n < n ? this.shown.n + 1 : 0;
    const was = `${this.painter.cols}x${this.painter.rows}`;
    for (let i = from; i <= n; i++) this.painter.show(p.frames[i].rows);
    this.shown = {piece: p, n};
    this.fit.update(this.painter.state, was !== `${this.painter.cols}x${this.painter.rows}`);
  }

  // next is the time of the next frame, Infinity where none is known.
  next() {
    const p = this.piece(this.at);
    const f = p && p.frames.find((f) => f.atMs > this.at);
    if (f) return f.atMs;
    const after = p && !p.end && this.pieces[this.pieces.indexOf(p) + 1];
    const g = after && after.frames.find((f) => f.atMs > this.at);
    return g ? g.atMs : Infinity;
  }

  toggle() {
    if (this.playing) return this.stop();
    if (this.at >= this.length && !this.record.running) this.seek(0);
    this.playing = true;
    put(this.play, 'Pause');
    this.then = performance.now();
    this.frameDue = requestAnimationFrame((t) => this.step(t));
    return undefined;
  }

  stop() {
    this.playing = false;
    put(this.play, 'Play');
    cancelAnimationFrame(this.frameDue);
  }

  step(now) {
    if (!this.playing) return;
    const passed = Math.min(Math.max(0, now - this.then), 250) * this.speed;
    this.then = now;
    const last = this.pieces[this.pieces.length - 1];
    if (last && !last.end && last.to - this.at < ahead * this.speed && !this.fetching) this.fetch(last.to);
    const next = this.next(), here = this.piece(this.at);
    if (!here) { // behind what has come the clock stands still till more has
      if (last && !this.fetching) this.fetch(last.to);
    } else if (next < Infinity || !here.end || this.at < this.length) {
      const rest = Math.min(next, this.length) - this.at;
      const jump = this.short && rest > longest * this.speed ? rest - longest * this.speed : 0;
      this.at = Math.min(this.at + passed + jump, last.end ? this.length : last.to);
      this.draw();
    } else if (!this.record.running) {
      this.stop();
    } else if (!this.later) {
      this.later = setTimeout(() => this.more(), poll);
    }
    this.tell();
    this.frameDue = requestAnimationFrame((t) => this.step(t));
  }

  // more looks whether a session that runs was recorded further.
  async more() {
    await this.fetch(this.pieces[this.pieces.length - 1].to);
    await this.survey();
    this.later = 0;
  }

  faster() {
    this.speed = speeds[(speeds.indexOf(this.speed) + 1) % speeds.length];
    put(this.fast, `${this.speed}×`);
  }

  // jump goes to what an agent typed before or next.
  jump(by) {
    const inputs = this.marks.filter((m) => m.kind === 'input');
    const to = by > 0 ? inputs.find((m) => m.atMs > this.at) : inputs.findLast((m) => m.atMs < this.at - (this.playing ? 1000 : 0));
    if (to) this.seek(to.atMs).then(() => say(words(to)));
  }

  // tell says where it is, and who did what last.
  tell() {
    put(this.clock, `${time(this.at)} / ${time(this.length)}${this.record.running ? ', recording' : ''}`);
    if (document.activeElement !== this.slider || this.playing) this.slider.value = this.at;
    this.slider.setAttribute('aria-valuetext', time(this.at));
    const m = this.marks.findLast((m) => m.atMs <= this.at + 1);
    this.says.className = 'says ' + (m ? m.kind : '');
    put(this.says, m ? `${time(m.atMs)} ${words(m)}` : '');
  }

  press(e) {
    if (e.defaultPrevented || e.ctrlKey || e.altKey || e.metaKey || e.target.matches('input, button, a, select, textarea')) return;
    const act = {' ': () => this.toggle(), ArrowLeft: () => this.seek(this.at - skip), ArrowRight: () => this.seek(this.at + skip),
      '[': () => this.jump(-1), ']': () => this.jump(1), Home: () => this.seek(0), End: () => this.seek(this.length)}[e.key];
    if (!act || e.target !== document.body && !this.element.contains(e.target)) return;
    e.preventDefault();
    act();
  }

  resized() {
    const room = this.element.clientWidth + 'x' + this.element.clientHeight;
    if (room === this.room) return;
    this.room = room;
    this.fit.fit();
  }

  retheme(theme) { this.painter.retheme(theme); }
}

// words are a mark in words.
function words(m) {
  switch (m.kind) {
    case 'input': return `${m.name || 'an agent'} typed ${m.text}`;
    case 'user': return `${m.name || 'the user'} typed`;
    case 'exit': return m.text === '0' ? 'the program ended' : `the program ended with status ${m.text}`;
    default: return m.text;
  }
}
