// The list of recordings, for owners. What plays one is loaded when somebody wants it.
import {h, put, show, order} from './dom.js';
import {program, directory, span} from './wording.js';

const day = new Intl.DateTimeFormat('en-GB', {weekday: 'short', day: 'numeric', month: 'short', hour: '2-digit', minute: '2-digit'});

export class Records {
  constructor(app) {
    this.app = app;
    this.known = new Map();
    this.rows = new Map();
    this.list = h('ul', {class: 'sessions'});
    this.element = h('nav', {'aria-label': 'recordings', class: 'records', hidden: true}, h('h2', {}, 'Recordings'), this.list);
  }

  // look asks for the list. Where none are known nothing is shown.
  async look() {
    if (!this.app.owner || this.asking) return;
    this.asking = true;
    try {
      const {records} = await this.app.connection.ask({type: 'records.list'});
      this.known = new Map((records || []).map((r) => [r.recordId, r]));
      this.draw();
    } catch { /* none are known here, or the connection is lost, which is said */ }
    this.asking = false;
  }

  draw() {
    for (const id of [...this.rows.keys()]) if (!this.known.has(id)) this.rows.delete(id);
    order(this.list, [...this.known.values()].map((r) => this.row(r).item));
    show(this.element, this.known.size > 0);
    if (this.app.session) this.app.session.recorded();
    this.tick();
  }

  row(r) {
    let e = this.rows.get(r.recordId);
    if (!e) {
      e = {title: h('strong', {}), tag: h('span', {class: 'tag'}), where: h('span', {class: 'where'})};
      e.link = h('a', {href: '#r=' + encodeURIComponent(r.recordId)}, e.title, e.where, e.tag);
      e.item = h('li', {class: 'over'}, e.link);
      this.rows.set(r.recordId, e);
    }
    put(e.title, program(r));
    put(e.where, `${directory(r)} · ${day.format(r.startedAt)}`);
    put(e.tag, r.running ? 'recording' : span(r.writtenAt - r.startedAt));
    return e;
  }

  tick() {
    for (const [id, e] of this.rows) {
      if (this.app.played === id) e.link.setAttribute('aria-current', 'page');
      else e.link.removeAttribute('aria-current');
    }
  }

  // of is the newest recording of a session, undefined for none.
  of(sessionId) { return [...this.known.values()].find((r) => r.sessionId === sessionId); }

  // open plays a recording. It resolves with what shows it, or null where there is none.
  async open(id) {
    if (!this.known.has(id)) await this.look();
    const r = this.known.get(id);
    if (!r) return null;
    const {Replay} = await import('./replay.js');
    return new Replay(this.app, r);
  }
}
