import {h, setText, setShown} from './dom.js';
import {programLabel, formatNumber} from './wording.js';

/** @param {Session} s */
const searchText = (s) =>
  [
    s.sessionId,
    s.name,
    programLabel(s),
    s.cwd,
    s.directory,
    s.foreground,
    s.title,
    s.keyboard.agentName,
    s.keyboard.asking,
    s.chat?.agent,
  ]
    .join('\n')
    .toLowerCase();

/** @param {number} shown @param {number} found @param {number} all */
export function describeShown(shown, found, all) {
  if (shown === all) return '';
  const total = formatNumber(all);
  if (found === 0) return `None of the ${total} sessions matches.`;
  const first = `The first ${formatNumber(shown)}`;
  if (found === all) return `${first} of ${total} sessions. Find searches all of them.`;
  if (shown < found) return `${first} of ${formatNumber(found)} matches in ${total} sessions.`;
  return `${formatNumber(found)} of ${total} sessions match${found === 1 ? 'es' : ''}.`;
}

export class Search {
  /** @param {List} list @param {number} first */
  constructor(list, first) {
    this.list = list;
    this.rowsPerStep = this.maxRows = first;
    /** @type {WeakMap<Session, string>} */
    this.textBySession = new WeakMap();
    this.searchField = h('input', {
      type: 'search',
      placeholder: matchMedia('(pointer: coarse)').matches ? 'Find' : 'Find (press /)',
      autocomplete: 'off',
      spellcheck: false,
      enterKeyHint: 'go',
      'aria-label': 'Find sessions by program, name, directory, user, agent or id',
      'aria-keyshortcuts': '/',
    });
    this.searchField.addEventListener('input', () => this.restart());
    this.searchField.addEventListener('keydown', (e) => this.handleFieldKey(e));
    this.status = h('p', {class: 'where none', role: 'status'});
    this.more = h('button', {
      class: 'more',
      hidden: true,
      onclick: () => {
        this.maxRows += first;
        list.drawRows(this.maxRows - first);
      },
    });
    list.sessionList.before(this.searchField, this.status);
    list.sessionList.after(this.more);
    document.addEventListener('keydown', (e) => this.handlePageKey(e));
  }

  /** @param {KeyboardEvent} e */
  handleFieldKey(e) {
    if (e.isComposing) return;
    if (e.key === 'Enter') this.list.sessionList.querySelector('a')?.click();
    if (e.key !== 'Escape') return;
    e.preventDefault();
    if (this.searchField.value === '') return void this.searchField.blur();
    this.searchField.value = '';
    this.restart();
  }

  restart() {
    this.maxRows = this.rowsPerStep;
    this.list.drawRows();
  }

  /** @param {KeyboardEvent} e */
  handlePageKey(e) {
    if (
      e.key !== '/' ||
      e.defaultPrevented ||
      e.ctrlKey ||
      e.altKey ||
      e.metaKey ||
      /**
       * @type {Element} */ (e.target).closest?.('input, textarea, select, .frame')
    )
      return;
    if (!this.searchField.checkVisibility()) return;
    e.preventDefault();
    this.searchField.focus();
    this.searchField.select();
  }

  /** @param {Session[]} all */
  selectShown(all) {
    const wanted = this.searchField.value.toLowerCase().split(/\s+/).filter(Boolean);
    const found =
      wanted.length > 0
        ? all.filter((s) => wanted.every((w) => this.cachedText(s).includes(w)))
        : all;
    const shown = found.slice(0, this.maxRows);
    setText(this.status, describeShown(shown.length, found.length, all.length));
    const left = found.length - shown.length;
    setShown(this.more, left > 0);
    setText(this.more, `Show ${formatNumber(Math.min(left, this.rowsPerStep))} more`);
    return shown;
  }

  /** @param {Session} s */
  cachedText(s) {
    let w = this.textBySession.get(s);
    if (w === undefined) this.textBySession.set(s, (w = searchText(s)));
    return w;
  }
}
