// Find: which sessions of a long list are shown.
import {h, put, show} from './dom.js';
import {program} from './wording.js';

// words are what a session is found by, in small letters. Its user stands in the directory.
const words = (s) => [s.sessionId, s.name, program(s), s.cwd, s.directory, s.foreground, s.title, s.keyboard.agentName, s.keyboard.asking, s.chat?.agent].join('\n').toLowerCase();

const number = (n) => n.toLocaleString('en');

export class Find {
  // first is how many rows are shown, and how many more each time.
  constructor(list, first) {
    this.list = list;
    this.first = this.most = first;
    this.known = new WeakMap(); // the words of sessions
    this.field = h('input', {
      type: 'search', placeholder: matchMedia('(pointer: coarse)').matches ? 'Find' : 'Find (press /)', autocomplete: 'off', spellcheck: false, enterKeyHint: 'go',
      'aria-label': 'Find sessions by program, name, directory, user, agent or id', 'aria-keyshortcuts': '/',
    });
    this.field.addEventListener('input', () => this.look());
    this.field.addEventListener('keydown', (e) => this.typed(e));
    this.says = h('p', {class: 'where none', role: 'status'});
    this.more = h('button', {class: 'more', hidden: true, onclick: () => {
      this.most += first;
      list.list(this.most - first);
    }});
    list.sessions.before(this.field, this.says);
    list.sessions.after(this.more);
    document.addEventListener('keydown', (e) => this.press(e));
  }

  // typed has Enter open the first session that is found, and Escape clear the field.
  typed(e) {
    if (e.isComposing) return;
    if (e.key === 'Enter') this.list.sessions.querySelector('a')?.click();
    if (e.key !== 'Escape') return;
    e.preventDefault();
    if (this.field.value === '') return void this.field.blur();
    this.field.value = '';
    this.look();
  }

  // look begins with the first rows of what is looked for now.
  look() {
    this.most = this.first;
    this.list.list();
  }

  // press has / go to the field, but where keys are typed.
  press(e) {
    if (e.key !== '/' || e.defaultPrevented || e.ctrlKey || e.altKey || e.metaKey || e.target.closest?.('input, textarea, select, .frame')) return;
    if (!this.field.checkVisibility()) return;
    e.preventDefault();
    this.field.focus();
    this.field.select();
  }

  // of gives those of all sessions that are shown.
  of(all) {
    const wanted = this.field.value.toLowerCase().split(/\s+/).filter(Boolean);
    const found = wanted.length > 0 ? all.filter((s) => wanted.every((w) => this.wordsOf(s).includes(w))) : all;
    const shown = found.slice(0, this.most);
    put(this.says, found.length === 0 && all.length > 0 ? 'No session is like that.' : shown.length < all.length ? `${number(shown.length)} of ${number(all.length)}` : '');
    const left = found.length - shown.length;
    show(this.more, left > 0);
    put(this.more, `Show ${number(Math.min(left, this.first))} more`);
    return shown;
  }

  wordsOf(s) {
    let w = this.known.get(s);
    if (w === undefined) this.known.set(s, w = words(s));
    return w;
  }
}
