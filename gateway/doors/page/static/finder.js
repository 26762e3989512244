import {h, setText, setShown} from './dom.js';
import {formatNumber} from './wording.js';

const rowsPerRead = 1000;
const maxHits = 20_000;
const typingPause = 250; // ms

/** @param {string} text A regular expression (RE2) for the text in any case. */
export const patternOf = (text) => '(?i)' + text.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&');

/** Finds lines in the history and on the screen. The session's proxy searches. */
export class Finder {
  /** @type {FoundRow[]} */
  hits = [];
  at = -1; // of the hit that is shown
  round = 0; // of the newest search
  timer = 0;

  /** @param {Scrollback} history @param {() => void} closed */
  constructor(history, closed) {
    this.history = history;
    this.closed = closed;
    this.field = h('input', {
      type: 'search',
      'aria-label': 'find in the history',
      placeholder: 'Find in the history…',
      autocomplete: 'off',
      spellcheck: false,
      enterKeyHint: 'search',
      oninput: () => this.searchSoon(),
      onkeydown: (e) => this.handleKey(e),
    });
    this.status = h('span', {role: 'status', class: 'where'});
    this.older = h('button', {onclick: () => this.step(-1), 'aria-label': 'older'}, '↑');
    this.newer = h('button', {onclick: () => this.step(1), 'aria-label': 'newer'}, '↓');
    this.element = h(
      'div',
      {class: 'finder', role: 'search', hidden: true},
      this.field,
      this.status,
      this.older,
      this.newer,
      h('button', {onclick: () => this.close(), 'aria-label': 'close'}, '×'),
    );
  }

  open() {
    setShown(this.element, true);
    this.field.focus();
    this.field.select();
  }

  close() {
    clearTimeout(this.timer);
    this.round++;
    this.hits = [];
    this.history.setHits([], -1);
    setShown(this.element, false);
    this.closed();
  }

  /** @param {KeyboardEvent} e */
  handleKey(e) {
    if (e.isComposing) return;
    if (e.key === 'Escape') this.close();
    else if (e.key === 'Enter' && this.timer) this.search();
    else if (e.key === 'Enter') this.step(e.shiftKey ? 1 : -1);
    else return;
    e.preventDefault();
    e.stopPropagation();
  }

  searchSoon() {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.search(), typingPause);
  }

  async search() {
    clearTimeout(this.timer);
    this.timer = 0;
    const round = ++this.round;
    const text = this.field.value;
    this.hits = [];
    this.at = -1;
    setText(this.status, text ? 'searching…' : '');
    try {
      const hits = text ? await this.readHits(text, () => round === this.round) : [];
      if (round !== this.round) return;
      this.hits = hits;
    } catch (e) {
      if (round === this.round) setText(this.status, e.message);
      return;
    }
    if (text && this.hits.length === 0) setText(this.status, 'not found');
    this.history.setHits(this.hits, -1);
    if (this.hits.length > 0) this.step(-1);
  }

  /** @param {string} text @param {() => boolean} isWanted @returns {Promise<FoundRow[]>} */
  async readHits(text, isWanted) {
    /** @type {FoundRow[]} */
    const all = [];
    /** @type {number | undefined} */
    let from;
    do {
      const {found} = await this.history.search(patternOf(text), rowsPerRead, from);
      all.push(...(found?.rows || []));
      from = found?.more;
    } while (from !== undefined && all.length < maxHits && isWanted());
    return all;
  }

  /** The newest comes first. @param {number} by */
  step(by) {
    const n = this.hits.length;
    if (n === 0) return;
    this.at = this.at < 0 ? n - 1 : (this.at + by + n) % n;
    const {line} = this.hits[this.at];
    setText(this.status, `${formatNumber(this.at + 1)} of ${formatNumber(n)}`);
    this.history.setHits(this.hits, line);
    this.history.revealLine(line);
  }
}
