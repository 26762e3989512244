/** Requests each screen once for all parts of the page, and only while the tab is visible. */
export class Views {
  /** @param {Connection} connection */
  constructor(connection) {
    this.connection = connection;
    /** @type {Map<string, View>} */
    this.viewBySession = new Map();
    this.isHidden = document.hidden;
    document.addEventListener('visibilitychange', () => this.setHidden(document.hidden));
  }

  /** Returns a function that ends it. @param {string} sessionId @param {ShowRows} show */
  open(sessionId, show) {
    let v = this.viewBySession.get(sessionId);
    if (!v) {
      v = {shows: new Set(), lines: [], last: null, seq: 0};
      this.viewBySession.set(sessionId, v);
      this.requestView(sessionId);
    } else if (v.last) {
      show({...v.last, since: 0, moved: 0, changed: undefined, lines: v.lines}, v.lines);
    }
    const {shows} = v;
    shows.add(show);
    return () => {
      shows.delete(show);
      if (shows.size > 0 || this.viewBySession.get(sessionId) !== v) return;
      this.viewBySession.delete(sessionId);
      this.connection.send({type: 'terminal.unview', sessionId});
    };
  }

  /** @param {string} sessionId */
  requestView(sessionId) {
    if (this.isHidden) return;
    // This fails if the connection or the session is gone, which the list shows.
    this.connection.ask({type: 'terminal.view', sessionId}, true).catch(() => {});
  }

  requestAll() {
    for (const [id, v] of this.viewBySession) {
      v.seq = 0;
      this.requestView(id);
    }
  }

  /** @param {boolean} hidden */
  setHidden(hidden) {
    if (this.isHidden === hidden) return;
    this.isHidden = hidden;
    if (!hidden) return void this.requestAll();
    for (const id of this.viewBySession.keys())
      this.connection.send({type: 'terminal.unview', sessionId: id});
  }

  /** @param {Rows} m */
  receiveRows(m) {
    const v = this.viewBySession.get(m.sessionId);
    if (!v || this.isHidden || !isValid(m)) return;
    if (m.since && m.since !== v.seq) return void this.requestView(m.sessionId);
    v.lines = completeRows(v.lines, m);
    v.seq = m.seq;
    v.last = {...m, state: m.state || v.last?.state};
    for (const show of v.shows) show(v.last, v.lines);
    // The acknowledgement asks for the next one, so it waits until this one is drawn.
    requestAnimationFrame(() =>
      this.connection.send({type: 'terminal.ack', sessionId: m.sessionId, seq: m.seq}),
    );
  }
}

const maxSize = 1000; // columns or rows of a screen
/** @param {number} n @param {number} least @param {number} last */
const isWholeBetween = (n, least, last) => Number.isInteger(n) && n >= least && n <= last;

/** Rejects sizes that no screen has: drawing them could take forever. @param {Rows} m */
function isValid({cols, rows, moved = 0, lines = [], changed = [], cursor}) {
  return (
    isWholeBetween(cols, 1, maxSize) &&
    isWholeBetween(rows, 1, maxSize) &&
    isWholeBetween(moved, -rows, rows) &&
    Array.isArray(lines) &&
    changed.every(({row}) => isWholeBetween(row, 0, rows - 1)) &&
    !!cursor &&
    isWholeBetween(cursor.row, 0, rows - 1) &&
    isWholeBetween(cursor.col, 0, cols - 1)
  );
}

/** @param {string[]} lines @param {Rows} m */
function completeRows(lines, m) {
  let all = m.since ? lines.slice() : (m.lines || []).slice();
  const n = m.since ? m.moved || 0 : 0;
  if (n > 0) all = [...all.slice(n), ...Array(Math.min(n, m.rows)).fill('')];
  if (n < 0) all = [...Array(Math.min(-n, m.rows)).fill(''), ...all.slice(0, n)];
  for (const {row, text} of m.changed || []) all[row] = text;
  return Array.from({length: m.rows}, (_, i) => all[i] || '');
}
