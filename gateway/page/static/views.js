// The screens that somebody looks at. Each is asked for once, however many parts of the page show it; none while the tab is hidden.

export class Views {
  constructor(connection) {
    this.connection = connection;
    this.views = new Map(); // by session
    this.hidden = document.hidden;
    document.addEventListener('visibilitychange', () => this.turn(document.hidden));
  }

  // open has show(message, lines) called for each screen of a session, lines being all of its rows. It returns what ends that.
  open(sessionId, show) {
    let v = this.views.get(sessionId);
    if (!v) {
      v = {shows: new Set(), lines: null, last: null};
      this.views.set(sessionId, v);
      this.ask(sessionId);
    } else if (v.last) {
      show({...v.last, since: 0, moved: 0, changed: undefined, lines: v.lines}, v.lines);
    }
    v.shows.add(show);
    return () => {
      v.shows.delete(show);
      if (v.shows.size > 0 || this.views.get(sessionId) !== v) return;
      this.views.delete(sessionId);
      this.connection.send({type: 'terminal.unview', sessionId});
    };
  }

  ask(sessionId) {
    if (this.hidden) return;
    this.connection.ask({type: 'terminal.view', sessionId}, true).catch(() => {}); // lost, or gone: the list says so
  }

  // again asks for everything anew, behind a new connection.
  again() {
    for (const [id, v] of this.views) {
      v.seq = 0;
      this.ask(id);
    }
  }

  turn(hidden) {
    if (this.hidden === hidden) return;
    this.hidden = hidden;
    if (!hidden) return void this.again();
    for (const id of this.views.keys()) this.connection.send({type: 'terminal.unview', sessionId: id});
  }

  rows(m) {
    const v = this.views.get(m.sessionId);
    if (!v || this.hidden || !sound(m)) return;
    if (m.since && (m.since !== v.seq || !v.lines)) return void this.ask(m.sessionId); // we disagree: begin afresh
    v.lines = complete(v.lines, m);
    v.seq = m.seq;
    v.last = {...m, state: m.state || (v.last && v.last.state)};
    for (const show of v.shows) show(v.last, v.lines);
    // The next one may come when this one has been drawn.
    requestAnimationFrame(() => this.connection.send({type: 'terminal.ack', sessionId: m.sessionId, seq: m.seq}));
  }
}

const most = 1000; // columns or rows of a screen
const whole = (n, least, last) => Number.isInteger(n) && n >= least && n <= last;

// sound says whether a message is of a screen that can be: drawing another one could take forever.
function sound({cols, rows, moved = 0, lines = [], changed = [], cursor}) {
  return whole(cols, 1, most) && whole(rows, 1, most) && whole(moved, -rows, rows) && Array.isArray(lines) && changed.every(({row}) => whole(row, 0, rows - 1)) &&
    !!cursor && whole(cursor.row, 0, rows - 1) && whole(cursor.col, 0, cols - 1);
}

// complete are all rows of a screen, the last one known having been lines.
function complete(lines, m) {
  let all = m.since ? lines.slice() : (m.lines || []).slice();
  const n = m.since ? m.moved || 0 : 0;
  if (n > 0) all = [...all.slice(n), ...Array(Math.min(n, m.rows)).fill('')];
  if (n < 0) all = [...Array(Math.min(-n, m.rows)).fill(''), ...all.slice(0, n)];
  for (const {row, text} of m.changed || []) all[row] = text;
  return Array.from({length: m.rows}, (_, i) => all[i] || '');
}
