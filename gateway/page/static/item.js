// How the entries of a conversation look. What was said becomes text nodes and nothing else.
import {h, put} from './dom.js';
import {clock} from './wording.js';
import {exactly, spelled, head, tail} from './spell.js';

const first = 6000; // characters of a long text that stand there before somebody wants the rest

const number = (n) => n.toLocaleString('en');
const fence = /^ {0,3}(`{3,}|~{3,})/;

// parts are a text in pieces: words, and fenced code without its fences.
function parts(text) {
  const all = [];
  let now = null, open = '';
  const begin = (code) => {
    all.push(now = {code, lines: []});
    return now;
  };
  for (const line of text.split('\n')) {
    const mark = fence.exec(line)?.[1];
    if (open && mark && mark[0] === open[0] && mark.length >= open.length && line.trim() === mark) {
      open = '';
      now = null;
    } else if (!open && mark) {
      open = mark;
      begin(true);
    } else {
      (now || begin(false)).lines.push(line);
    }
  }
  return all.map(({code, lines}) => ({code, text: code ? lines.join('\n') : lines.join('\n').trim()})).filter((p) => p.code || p.text !== '');
}

// body shows a text in an element that keeps what has not changed.
function body(box, text) {
  const all = parts(text);
  all.forEach((p, i) => {
    let e = box.children[i];
    const tag = p.code ? 'PRE' : 'DIV';
    if (!e || e.tagName !== tag) {
      const now = h(tag, p.code ? {class: 'code', tabIndex: 0} : {dir: 'auto'});
      if (e) e.replaceWith(now);
      else box.append(now);
      e = now;
    }
    put(e, spelled(p.text));
  });
  while (box.children.length > all.length) box.lastChild.remove();
}

// words is a text of which a long one is shown whole when somebody wants it.
class Words {
  constructor(className) {
    this.box = h('div', {class: 'words-of'});
    this.more = h('button', {class: 'plain', hidden: true, onclick: () => this.all()});
    this.element = h('div', {class: className}, this.box, this.more);
  }

  show(text, writing) {
    this.text = text;
    this.more.hidden = this.whole || text.length <= first;
    if (writing) {
      put(this.more, `${number(text.length - first)} characters before this`);
      body(this.box, tail(text, first));
    } else {
      put(this.more, `Show all ${number(text.length)} characters`);
      body(this.box, this.whole ? text : head(text, first));
    }
    this.more.disabled = !!writing;
  }

  all() {
    this.whole = true;
    this.show(this.text, false);
  }
}

// line is a value on one line, for a summary.
function line(value) {
  const text = typeof value === 'string' ? value : value === undefined || value === null ? '' : JSON.stringify(value);
  return spelled(head(text, 200).replace(/\s+/g, ' ').trim());
}

const telling = ['command', 'file_path', 'path', 'pattern', 'url', 'query', 'prompt', 'description'];

// gist says what a tool is called with, in a line: what tells most, where it is known.
function gist(input) {
  if (!input || typeof input !== 'object' || Array.isArray(input)) return line(input);
  const name = telling.find((n) => typeof input[n] === 'string');
  return line(name ? input[name] : Object.values(input).map(line).join(' '));
}

const mostFields = 60;
const short = 60; // characters

// fields are all that a tool is called with: a command first, then each value behind its name. They are exact: no character stands for another.
export function fields(input) {
  const text = (value) => exactly(typeof value === 'string' ? value : JSON.stringify(value, null, 1) ?? '');
  const box = (value) => h('pre', {class: 'code exact', tabIndex: 0}, text(value));
  const named = input && typeof input === 'object' && !Array.isArray(input) ? Object.entries(input) : [];
  if (named.length === 0 || named.length > mostFields) return [box(input)];
  return named.sort(([a], [b]) => Number(b === 'command') - Number(a === 'command')).flatMap(([name, value]) => {
    if (name === 'command') return [box(value)];
    const label = h('p', {class: 'field'}, exactly(name) + ' '), shown = text(value);
    if (shown.length > short || shown.includes('\n')) return [label, box(value)];
    label.append(h('code', {class: 'exact'}, shown));
    return [label];
  });
}

// folded is something that is opened to be seen; fill makes it then.
function folded(className, summary, fill) {
  const e = h('details', {class: className}, h('summary', {}, ...summary));
  e.setAttribute('aria-label', e.textContent);
  e.addEventListener('toggle', () => {
    if (e.open && e.children.length === 1) e.append(...fill());
  });
  return e;
}

const cut = (e) => e.cut > 0 && h('p', {class: 'where'}, `${number(e.cut)} bytes were too many and are not kept`);

// by says who did something.
const by = (name) => (!name ? '' : name === 'the terminal' ? ' at the terminal' : ` by ${line(name)}`);

// settled says how a request was closed.
export function settled({by: who, answer = {}, why}, request) {
  const words = answer.words ? `: “${spelled(answer.words)}”` : '';
  if (!who && why) return `closed: ${spelled(why)}`;
  if (answer.replies) return `answered${by(who)}`;
  if (answer.verdict === 'once') return `allowed once${by(who)}`;
  if (answer.verdict === 'session') return `allowed for this session${by(who)}`;
  return `${request && request.form ? 'not answered' : 'refused'}${by(who)}${words}${why ? ` (${spelled(why)})` : ''}`;
}

// said are the replies to a form, question by question.
function said({answer = {}}, {form = []}) {
  if (!answer.replies) return [];
  return form.map((q) => h('p', {dir: 'auto'}, h('span', {class: 'where'}, spelled(q.text)), ' ', (answer.replies[q.id] || []).map(spelled).join(', ')));
}

const makes = {
  user: (e) => [h('p', {class: 'author'}, line(e.author), ' ', h('time', {}, clock(e.at).slice(0, 5))), new Words('bubble')],
  text: () => [new Words('agent-says')],
  notice: () => [new Words('notice')],
  'tool call': (e) => [folded('call', [h('strong', {}, line(e.tool) || 'a tool'), ' ', h('code', {}, gist(e.input))], () => [...fields(e.input), cut(e)].filter(Boolean))],
  'tool result': (e) => {
    const text = e.text.trim(), words = new Words('result');
    return [folded('call' + (e.failed ? ' failed' : ''), [h('span', {class: 'where'}, e.failed ? `${line(e.tool)} failed` : e.tool ? `result of ${line(e.tool)}` : 'result'), ' ', h('code', {}, line(text.split('\n', 1)[0]))],
      () => { words.show(text); return [words.element, cut(e)].filter(Boolean); })];
  },
  closed: ({closed, request}) => [folded('call', [
    h('strong', {}, request.form ? 'Questions' : line(request.tool) || 'A request'), request.by && ` of ${line(request.by)}`, ' ', settled(closed, request)],
  () => (request.form ? said(closed, request) : fields(request.input)))],
  turn: (e) => [h('p', {class: 'where'}, e.outcome === 'interrupted' ? 'The turn was interrupted.' : `The turn failed${e.text ? ': ' + spelled(e.text) : '.'}`)],
  end: (e) => [h('p', {class: 'where'}, (e.state === 'ended' ? 'The agent has ended' : 'The agent failed to start') + (e.text ? ': ' + spelled(e.text) : '.'))],
  lost: (e) => [h('p', {class: 'where'}, `${number(e.count)} ${e.count === 1 ? 'entry is' : 'entries are'} no longer kept.`)],
};
const unknown = (e) => [h('p', {class: 'where'}, `something of the kind ${line(e.kind)}`), new Words('notice')];

// Entry is an entry with its element.
export class Entry {
  constructor(entry) {
    this.entry = entry;
    const [...all] = (Object.hasOwn(makes, entry.kind) ? makes[entry.kind] : unknown)(entry);
    this.words = all.find((p) => p instanceof Words);
    this.element = h('li', {class: 'said-' + (Object.hasOwn(makes, entry.kind) ? entry.kind.replace(' ', '-') : 'notice')}, ...all.map((p) => p.element || p));
    this.update();
  }

  // update shows what has changed.
  update() {
    if (this.rev === this.entry.rev) return;
    this.rev = this.entry.rev;
    if (this.words) this.words.show(this.entry.text || '', this.entry.writing);
    this.element.classList.toggle('writing', !!this.entry.writing);
  }
}
