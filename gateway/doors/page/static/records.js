import {h, setText, setShown, orderChildren} from './dom.js';
import {programLabel, directoryLabel, formatDuration} from './wording.js';

const day = new Intl.DateTimeFormat('en-GB', {
  weekday: 'short',
  day: 'numeric',
  month: 'short',
  hour: '2-digit',
  minute: '2-digit',
});

/** @param {RecordInfo} r */
function makeRecordRow(r) {
  const title = h('strong', {});
  const tag = h('span', {class: 'tag'});
  const where = h('span', {class: 'where'});
  const link = h('a', {href: '#r=' + encodeURIComponent(r.recordId)}, title, where, tag);
  return {title, tag, where, link, item: h('li', {class: 'over'}, link)};
}

export class Records {
  /** @param {App} app */
  constructor(app) {
    this.app = app;
    this.refreshDue = 0;
    /** @type {Promise<void> | null} */
    this.asking = null;
    /** @type {Map<string, RecordInfo>} */
    this.recordings = new Map();
    /** @type {Map<string, ReturnType<typeof makeRecordRow>>} */
    this.rows = new Map();
    this.list = h('ul', {class: 'sessions'});
    this.element = h(
      'nav',
      {'aria-label': 'recordings', class: 'records', hidden: true},
      h('h2', {}, 'Recordings'),
      this.list,
    );
  }

  /** Resolves once the list is here, also if it was asked for before. */
  async refresh() {
    if (!this.app.owner) return;
    this.asking ||= this.requestList();
    await this.asking;
    this.asking = null;
  }

  /** A recording begins and ends a moment after its session. */
  refreshSoon() {
    clearTimeout(this.refreshDue);
    this.refreshDue = setTimeout(() => this.refresh(), 1000);
  }

  async requestList() {
    try {
      const {records} = await this.app.connection.ask({type: 'records.list'});
      this.recordings = new Map((records || []).map((r) => [r.recordId, r]));
      this.draw();
    } catch {
      /* none are known here, or the connection is lost, which is said */
    }
  }

  draw() {
    for (const id of [...this.rows.keys()]) if (!this.recordings.has(id)) this.rows.delete(id);
    orderChildren(
      this.list,
      [...this.recordings.values()].map((r) => this.drawRow(r).item),
    );
    setShown(this.element, this.recordings.size > 0);
    if (this.app.session) this.app.session.linkRecording();
    this.markCurrent();
  }

  /** @param {RecordInfo} r */
  drawRow(r) {
    let e = this.rows.get(r.recordId);
    if (!e) {
      e = makeRecordRow(r);
      this.rows.set(r.recordId, e);
    }
    setText(e.title, programLabel(r));
    setText(e.where, `${directoryLabel(r)} · ${day.format(r.startedAt)}`);
    setText(e.tag, r.running ? 'recording' : formatDuration(r.writtenAt - r.startedAt));
    return e;
  }

  markCurrent() {
    for (const [id, e] of this.rows) {
      if (this.app.recordID === id) e.link.setAttribute('aria-current', 'page');
      else e.link.removeAttribute('aria-current');
    }
  }

  /** @param {string} sessionId */
  findBySession(sessionId) {
    return [...this.recordings.values()].find((r) => r.sessionId === sessionId);
  }

  /** @param {string} id @returns {Promise<Replay|null>} */
  async open(id) {
    if (!this.recordings.has(id)) await this.refresh();
    const r = this.recordings.get(id);
    if (!r) return null;
    const {Replay} = await import('./replay.js');
    return new Replay(this.app, r);
  }
}
