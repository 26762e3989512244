// Shows the entries of a conversation. Foreign text becomes text nodes only.
import {h, setText} from './dom.js';
import {formatClock, formatNumber, isOwnName} from './wording.js';
import {spellExactly, spellText, cutHead, cutTail} from './spell.js';

const shownFirst = 6000; // characters of a long text

const fence = /^ {0,3}(`{3,}|~{3,})/;

/** @param {string} text */
function splitCode(text) {
  /** @type {{code: boolean, lines: string[]}[]} */
  const all = [];
  /** @type {typeof all[0] | null} */
  let now = null;
  let open = '';
  const begin = (/** @type {boolean} */ code) => {
    now = {code, lines: []};
    all.push(now);
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
  return all
    .map(({code, lines}) => ({code, text: code ? lines.join('\n') : lines.join('\n').trim()}))
    .filter((p) => p.code || p.text !== '');
}

/** @param {HTMLElement} box @param {string} text */
function showText(box, text) {
  const all = splitCode(text);
  all.forEach((p, i) => {
    let e = box.children[i];
    if (!e || e.tagName !== (p.code ? 'PRE' : 'DIV')) {
      const now = p.code ? h('pre', {class: 'code', tabIndex: 0}) : h('div', {dir: 'auto'});
      if (e) e.replaceWith(now);
      else box.append(now);
      e = now;
    }
    setText(e, spellText(p.text));
  });
  while (box.children.length > all.length) box.lastElementChild?.remove();
}

class LongText {
  text = '';
  isWhole = false;

  /** @param {string} className */
  constructor(className) {
    this.box = h('div', {class: 'words-of'});
    this.more = h('button', {class: 'plain', hidden: true, onclick: () => this.showAll()});
    this.element = h('div', {class: className}, this.box, this.more);
  }

  /** @param {string} text @param {boolean|undefined} writing */
  show(text, writing) {
    this.text = text;
    this.more.hidden = this.isWhole || text.length <= shownFirst;
    if (writing) {
      setText(this.more, `${formatNumber(text.length - shownFirst)} characters before this`);
      showText(this.box, cutTail(text, shownFirst));
    } else {
      setText(this.more, `Show all ${formatNumber(text.length)} characters`);
      showText(this.box, this.isWhole ? text : cutHead(text, shownFirst));
    }
    this.more.disabled = !!writing;
  }

  showAll() {
    this.isWhole = true;
    this.show(this.text, false);
  }
}

/** @param {unknown} value */
function summaryLine(value) {
  const text =
    typeof value === 'string'
      ? value
      : value === undefined || value === null
        ? ''
        : JSON.stringify(value);
  return spellText(cutHead(text, 200).replace(/\s+/g, ' ').trim());
}

const telling = [
  'command',
  'file_path',
  'path',
  'pattern',
  'url',
  'query',
  'prompt',
  'description',
];

/** @param {unknown} input */
function describeInput(input) {
  if (!input || typeof input !== 'object' || Array.isArray(input)) return summaryLine(input);
  const values = new Map(Object.entries(input));
  const name = telling.find((n) => typeof values.get(n) === 'string');
  return summaryLine(name ? values.get(name) : Object.values(input).map(summaryLine).join(' '));
}

const mostFields = 60;
const inlineLength = 60; // characters of a value beside its name

/** Shows all of a tool's input, and every character of it exactly. @param {unknown} input */
export function inputFields(input) {
  const text = (/** @type {unknown} */ value) =>
    spellExactly(typeof value === 'string' ? value : (JSON.stringify(value, null, 1) ?? ''));
  const box = (/** @type {unknown} */ value) =>
    h('pre', {class: 'code exact', tabIndex: 0}, text(value));
  const named =
    input && typeof input === 'object' && !Array.isArray(input) ? Object.entries(input) : [];
  if (named.length === 0 || named.length > mostFields) return [box(input)];
  return named
    .sort(([a], [b]) => Number(b === 'command') - Number(a === 'command'))
    .flatMap(([name, value]) => {
      if (name === 'command') return [box(value)];
      const label = h('p', {class: 'field'}, spellExactly(name) + ' ');
      const shown = text(value);
      if (shown.length > inlineLength || shown.includes('\n')) return [label, box(value)];
      label.append(h('code', {class: 'exact'}, shown));
      return [label];
    });
}

/** @param {string} className @param {Child[]} summary @param {() => Node[]} fill */
function foldable(className, summary, fill) {
  const e = h('details', {class: className}, h('summary', {}, ...summary));
  e.setAttribute('aria-label', e.textContent);
  e.addEventListener('toggle', () => {
    if (e.open && e.children.length === 1) e.append(...fill());
  });
  return e;
}

/** @param {TalkEntry} e */
const cutNote = ({cut = 0}) =>
  cut > 0
    ? [h('p', {class: 'where'}, `${formatNumber(cut)} bytes were too many and are not kept`)]
    : [];

/** @param {string} name */
const nameAuthor = (name) => (isOwnName(name) ? 'you' : summaryLine(name));

/** @param {string|undefined} name */
const describePerson = (name) =>
  !name ? '' : name === 'the terminal' ? ' at the terminal' : ` by ${nameAuthor(name)}`;

/** @param {ChatClosed} closed @param {Partial<ChatRequest>} [request] */
export function describeClose({by: who, answer = {}, why}, request) {
  const words = answer.words ? `: “${spellText(answer.words)}”` : '';
  if (!who && why) return `closed: ${spellText(why)}`;
  if (answer.replies) return `answered${describePerson(who)}`;
  if (answer.verdict === 'once') return `allowed once${describePerson(who)}`;
  if (answer.verdict === 'session') return `allowed for this session${describePerson(who)}`;
  const outcome = request && request.form ? 'not answered' : 'refused';
  return outcome + describePerson(who) + words + (why ? ` (${spellText(why)})` : '');
}

/** @param {ChatClosed} closed @param {Partial<ChatRequest>} request */
function showReplies({answer = {}}, {form = []}) {
  const {replies} = answer;
  if (!replies) return [];
  return form.map((q) =>
    h(
      'p',
      {dir: 'auto'},
      h('span', {class: 'where'}, spellText(q.text)),
      ' ',
      (replies[q.id] || []).map(spellText).join(', '),
    ),
  );
}

/** @type {Record<string, (e: TalkEntry) => (LongText|HTMLElement)[]>} */
const makes = {
  user: (e) => [
    h(
      'p',
      {class: 'author'},
      nameAuthor(e.author || ''),
      ' ',
      h('time', {}, formatClock(e.at || 0).slice(0, 5)),
    ),
    new LongText('bubble'),
  ],
  text: () => [new LongText('agent-says')],
  notice: () => [new LongText('notice')],
  'tool call': (e) => [
    foldable(
      'call',
      [
        h('strong', {}, summaryLine(e.tool) || 'a tool'),
        ' ',
        h('code', {}, describeInput(e.input)),
      ],
      () => [...inputFields(e.input), ...cutNote(e)],
    ),
  ],
  'tool result': (e) => {
    const text = (e.text || '').trim();
    const words = new LongText('result');
    return [
      foldable(
        'call' + (e.failed ? ' failed' : ''),
        [
          h(
            'span',
            {class: 'where'},
            e.failed
              ? `${summaryLine(e.tool)} failed`
              : e.tool
                ? `result of ${summaryLine(e.tool)}`
                : 'result',
          ),
          ' ',
          h('code', {}, summaryLine(text.split('\n', 1)[0])),
        ],
        () => {
          words.show(text, false);
          return [words.element, ...cutNote(e)];
        },
      ),
    ];
  },
  closed: ({closed = {id: ''}, request = {}}) => [
    foldable(
      'call',
      [
        h('strong', {}, request.form ? 'Questions' : summaryLine(request.tool) || 'A request'),
        request.by && ` of ${summaryLine(request.by)}`,
        ' ',
        describeClose(closed, request),
      ],
      () => (request.form ? showReplies(closed, request) : inputFields(request.input)),
    ),
  ],
  turn: (e) => [
    h(
      'p',
      {class: 'where'},
      e.outcome === 'interrupted'
        ? 'The turn was interrupted.'
        : `The turn failed${e.text ? ': ' + spellText(e.text) : '.'}`,
    ),
  ],
  end: (e) => [
    h(
      'p',
      {class: 'where'},
      (e.state === 'ended' ? 'The agent has ended' : 'The agent failed to start') +
        (e.text ? ': ' + spellText(e.text) : '.'),
    ),
  ],
  lost: (e) => [
    h(
      'p',
      {class: 'where'},
      `${formatNumber(e.count || 0)} ${e.count === 1 ? 'entry is' : 'entries are'} no longer kept.`,
    ),
  ],
};
/** @type {typeof makes.text} */
const makeUnknown = (e) => [
  h('p', {class: 'where'}, `something of the kind ${summaryLine(e.kind)}`),
  new LongText('notice'),
];

export class Entry {
  rev = -1;

  /** @param {TalkEntry} entry */
  constructor(entry) {
    this.entry = entry;
    const all = (Object.hasOwn(makes, entry.kind) ? makes[entry.kind] : makeUnknown)(entry);
    this.words = all.find((p) => p instanceof LongText);
    this.element = h(
      'li',
      {
        class:
          'said-' + (Object.hasOwn(makes, entry.kind) ? entry.kind.replace(' ', '-') : 'notice'),
      },
      ...all.map((p) => (p instanceof LongText ? p.element : p)),
    );
    this.update();
  }

  update() {
    if (this.rev === this.entry.rev) return;
    this.rev = this.entry.rev;
    if (this.words) this.words.show(this.entry.text || '', this.entry.writing);
    this.element.classList.toggle('writing', !!this.entry.writing);
  }
}
