const maxEntries = 10000;
const maxText = 16 << 20; // characters of all entries

/** @param {TalkEntry} e */
const weighEntry = (e) => 100 + (e.text || '').length + (e.size || 0);

export class Talk {
  count = 0;
  last = 0; // the newest record's number
  draft = ''; // what the person has begun to write
  state = ''; // of the turn; '' if unknown
  why = '';
  lost = 0; // entries no longer kept, by the proxy or here
  /** @type {Map<string, OpenRequest>} Requests without an answer, by id. */
  openRequests = new Map();
  isUnsure = false; // an answer to them may have been lost
  /** @type {TalkEntry[]} */
  entries = [];
  /** @type {Map<string, TalkEntry>} Texts that are being written, by id. */
  texts = new Map();
  /** @type {Map<string, string>} Names of called tools, by the call's id. */
  tools = new Map();
  size = 0; // characters of all entries, roughly
  /** @type {{text: string, at: number}[]} Complete texts to be announced to screen readers. */
  fresh = [];

  /** @param {string} sessionId */
  constructor(sessionId) {
    this.id = sessionId;
  }

  restart() {
    this.last = 0;
    this.state = '';
    this.why = '';
    this.lost = 0;
    this.openRequests.clear();
    this.isUnsure = false;
    this.entries = [];
    this.texts.clear();
    this.tools.clear();
    this.size = 0;
    this.fresh = [];
  }

  /** @param {{records?: ChatRecord[], lost?: number}} m */
  addRecords({records = [], lost = 0}) {
    if (this.last > 0 && records[0]?.number === 1) this.restart(); // the agent started again
    if (lost > 0) this.addLoss(lost);
    for (const r of records) {
      if (r.number <= this.last) continue;
      this.last = r.number;
      if (r.item) this.addItem(r.item, r.at);
      else if (r.piece) this.addPiece(r.piece, r.at);
      else if (r.request) this.openRequests.set(r.request.id, {request: r.request, at: r.at});
      else if (r.closed) this.closeRequest(r.closed, r.at);
      else if (r.turn) this.endTurn(r.turn, r.at);
      if (r.state) this.setState(r.state, r.why || '', r.at);
    }
    this.dropOldest();
  }

  /** A lost record may have closed a request. @param {number} lost */
  addLoss(lost) {
    this.addEntry({kind: 'lost', count: lost});
    this.isUnsure = true;
    this.texts.clear();
  }

  clearOpen() {
    this.isUnsure = false;
    this.openRequests.clear();
  }

  /** @param {Omit<TalkEntry, 'key'|'rev'>} fields */
  addEntry(fields) {
    const entry = {...fields, key: ++this.count, rev: 0};
    this.entries.push(entry);
    this.size += weighEntry(entry);
    return entry;
  }

  /** @param {TalkEntry} entry @param {Partial<TalkEntry>} fields */
  changeEntry(entry, fields) {
    this.size -= weighEntry(entry);
    Object.assign(entry, fields);
    this.size += weighEntry(entry);
    entry.rev++;
  }

  /** @param {ChatItem} i @param {number} at */
  addItem(i, at) {
    const fields = {
      ...i,
      at,
      text: i.text || '',
      writing: false,
      size: i.input === undefined ? 0 : JSON.stringify(i.input).length,
    };
    if (i.kind === 'tool call' && i.id) this.tools.set(i.id, i.tool || '');
    if (i.kind === 'tool result' && !i.tool) fields.tool = this.tools.get(i.id || '') || '';
    if (i.kind === 'tool result') this.tools.delete(i.id || '');
    if (i.kind === 'text') this.fresh.push({text: fields.text, at});
    const written = i.kind === 'text' && this.texts.get(i.id || '');
    if (written) {
      this.changeEntry(written, fields);
      this.texts.delete(i.id || '');
    } else {
      this.addEntry(fields);
    }
  }

  /** @param {ChatPiece} p @param {number} at */
  addPiece(p, at) {
    let e = this.texts.get(p.id);
    if (!e) this.texts.set(p.id, (e = this.addEntry({kind: 'text', at, text: '', writing: true})));
    this.changeEntry(e, {text: e.text + (p.text || '')});
  }

  /** @param {ChatClosed} closed @param {number} at */
  closeRequest(closed, at) {
    const asked = this.openRequests.get(closed.id);
    this.openRequests.delete(closed.id);
    const request = asked ? asked.request : {};
    this.addEntry({
      kind: 'closed',
      at,
      closed,
      request,
      size: JSON.stringify([request, closed]).length,
    });
  }

  /** @param {ChatTurn} t @param {number} at */
  endTurn(t, at) {
    if (t.outcome === 'done') return;
    this.addEntry({kind: 'turn', at, text: t.why || '', outcome: t.outcome});
  }

  /** @param {string} state @param {string} why @param {number} at */
  setState(state, why, at) {
    this.state = state;
    this.why = why;
    if (state !== 'ended' && state !== 'failed to start') return;
    this.clearOpen();
    this.addEntry({kind: 'end', at, text: why, state});
  }

  dropOldest() {
    let n = 0;
    let size = this.size;
    let gone = 0;
    while (
      n < this.entries.length - 1 &&
      (this.entries.length - n > maxEntries || size > maxText)
    ) {
      const e = this.entries[n++];
      size -= weighEntry(e);
      gone += e.kind === 'lost' ? e.count || 0 : 1;
      if (e.writing) for (const [id, t] of this.texts) if (t === e) this.texts.delete(id);
    }
    if (n === 0) return;
    this.size = size;
    this.lost += gone;
    this.entries.splice(0, n);
  }
}
