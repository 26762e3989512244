// The conversation of one session as it has come: what was said and done, in order, and what waits for an answer. It draws nothing.

const most = 10000; // entries that are kept
const mostText = 16 << 20; // characters of them

// weight is about how many characters an entry holds.
const weight = (e) => 100 + (e.text || '').length + (e.size || 0);

export class Talk {
  constructor(sessionId) {
    this.id = sessionId;
    this.count = 0;
    this.anew();
  }

  anew() {
    this.last = 0; // number of the newest record
    this.state = ''; // of the turn, '' before it is known
    this.why = '';
    this.lost = 0; // entries that are kept no more, there or here
    this.open = new Map(); // requests without an answer, by id
    this.unsure = false; // whether some of them have one
    this.entries = [];
    this.texts = new Map(); // entries of texts that are being written, by id
    this.tools = new Map(); // names of the tools that were called, by the call's id
    this.size = 0;
    this.fresh = []; // whole texts since somebody read them out
  }

  // take takes the next records. Numbers that have come already are no news.
  take({records = [], lost = 0}) {
    if (this.last > 0 && records[0]?.number === 1) this.anew(); // a new start of the agent's
    if (lost > 0) this.miss(lost);
    for (const r of records) {
      if (r.number <= this.last) continue;
      this.last = r.number;
      if (r.item) this.item(r.item, r.at);
      else if (r.piece) this.piece(r.piece, r.at);
      else if (r.request) this.open.set(r.request.id, {request: r.request, at: r.at});
      else if (r.closed) this.close(r.closed, r.at);
      else if (r.turn) this.turn(r.turn, r.at);
      if (r.state) this.turned(r.state, r.why || '', r.at);
    }
    this.bound();
  }

  // miss is for records that are not kept any more: that a request was closed may have been one of them.
  miss(lost) {
    this.add({kind: 'lost', count: lost});
    this.unsure = true;
    this.texts.clear();
  }

  // none is for when it is known that nothing waits any more.
  none() {
    this.unsure = false;
    this.open.clear();
  }

  add(entry) {
    entry.key = ++this.count;
    entry.rev = 0;
    this.entries.push(entry);
    this.size += weight(entry);
    return entry;
  }

  // grow changes an entry.
  grow(entry, fields) {
    this.size -= weight(entry);
    Object.assign(entry, fields);
    this.size += weight(entry);
    entry.rev++;
  }

  item(i, at) {
    const fields = {...i, at, text: i.text || '', writing: false, size: i.input === undefined ? 0 : JSON.stringify(i.input).length};
    if (i.kind === 'tool call' && i.id) this.tools.set(i.id, i.tool);
    if (i.kind === 'tool result' && !i.tool) fields.tool = this.tools.get(i.id) || '';
    if (i.kind === 'tool result') this.tools.delete(i.id);
    if (i.kind === 'text') this.fresh.push({text: fields.text, at});
    const written = i.kind === 'text' && this.texts.get(i.id);
    if (written) {
      this.grow(written, fields);
      this.texts.delete(i.id);
    } else {
      this.add(fields);
    }
  }

  piece(p, at) {
    let e = this.texts.get(p.id);
    if (!e) this.texts.set(p.id, e = this.add({kind: 'text', at, text: '', writing: true}));
    this.grow(e, {text: e.text + (p.text || '')});
  }

  close(closed, at) {
    const asked = this.open.get(closed.id);
    this.open.delete(closed.id);
    const request = asked ? asked.request : {};
    this.add({kind: 'closed', at, closed, request, size: JSON.stringify([request, closed]).length});
  }

  turn(t, at) {
    if (t.outcome === 'done') return;
    this.add({kind: 'turn', at, text: t.why || '', outcome: t.outcome});
  }

  turned(state, why, at) {
    Object.assign(this, {state, why});
    if (state !== 'ended' && state !== 'failed to start') return;
    this.none();
    this.add({kind: 'end', at, text: why, state});
  }

  // bound forgets what is oldest.
  bound() {
    let n = 0, size = this.size, gone = 0;
    while (n < this.entries.length - 1 && (this.entries.length - n > most || size > mostText)) {
      const e = this.entries[n++];
      size -= weight(e);
      gone += e.kind === 'lost' ? e.count : 1;
      if (e.writing) for (const [id, t] of this.texts) if (t === e) this.texts.delete(id);
    }
    if (n === 0) return;
    this.size = size;
    this.lost += gone;
    this.entries.splice(0, n);
  }
}
