// Describes in words what happens in sessions.

// Invisible or direction-changing characters, more than two accents, right-to-left scripts.
const invisible = /[\p{C}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\u2800]+/gu;
const accentHeaps = /(\p{M}{2})\p{M}+/gu;
const rightToLeft =
  /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc\u{10800}-\u{10fff}\u{1e800}-\u{1efff}]/u;

/**
 * For foreign text among the page's words: invisible characters show, and direction stays.
 * @param {string|undefined} text
 */
export function cleanText(text) {
  const seen = (text || '')
    .replace(/(?<=\p{Extended_Pictographic})(?:\u200d|\ufe0f)/gu, '')
    .replace(invisible, '\ufffd')
    .replace(accentHeaps, '$1');
  return rightToLeft.test(seen) ? `\u2068${seen}\u2069` : seen;
}

/** The name that a person gave the session comes first. @param {Program} s */
export function programLabel(s) {
  const name = s.command.split('/').pop() || s.command;
  const program = [name, ...(s.args || [])].join(' ');
  const isGiven = s.name && s.name !== name && s.name !== s.command;
  return cleanText(isGiven ? `${s.name}: ${program}` : program);
}

/** @param {{cwd?: string}} s */
const directoryOf = (s) =>
  (s.cwd || '').replace(/^(\/home\/[^/]+|\/Users\/[^/]+|\/root)(?=\/|$)/, '~');

/** @param {{cwd?: string}} s */
export const directoryLabel = (s) => cleanText(directoryOf(s));

/**
 * For a row of a list: a long path is shortened in its middle, which says least.
 * @param {{cwd?: string}} s
 */
export function shortDirectoryLabel(s) {
  const path = [...directoryOf(s)];
  if (path.length <= 40) return directoryLabel(s);
  return cleanText(`${path.slice(0, 12).join('')}…${path.slice(-27).join('')}`);
}

/** @param {number} ms */
export function formatDuration(ms) {
  const s = Math.max(0, Math.round(ms / 1000));
  if (s < 90) return s + ' s';
  if (s < 90 * 60) return Math.round(s / 60) + ' min';
  if (s < 36 * 3600) return Math.round(s / 3600) + ' h';
  return Math.round(s / 86400) + ' days';
}

/** Rounds up, so that a minute that has begun counts. @param {number} until @param {number} now */
export function formatTimeLeft(until, now) {
  const ms = until - now;
  return ms <= 0
    ? 'time is up'
    : (ms < 60000 ? Math.ceil(ms / 1000) + ' s' : Math.ceil(ms / 60000) + ' min') + ' left';
}

/** @type {Record<string, string>} */
const verbs = {drive: 'drives', type: 'types'};

/** @param {KeyboardState|undefined} k @param {number} now */
export function describeDriver(k, now) {
  if (!k || k.holder !== 'agent') return '';
  const name = cleanText(k.agentName) || 'an agent';
  if (k.paused) return `${name} is paused while a person types`;
  if (k.away) return `${name} waits for ${cleanText(k.program)}`;
  return [
    name,
    verbs[k.level || ''] || 'types',
    k.expiresAt ? formatTimeLeft(k.expiresAt, now) : '',
  ]
    .filter(Boolean)
    .join(' ');
}

/** What an agent asks for, before the program's name. @param {KeyboardState} k */
export const describeWish = (k) => (k.askingLevel === 'type' ? 'write a line in' : 'drive');

/**
 * In whole minutes: a list whose rows count seconds moves all the time.
 * @param {Session} s @param {number} now
 */
export function describeQuiet(s, now) {
  const idle = now - (s.idleSince || 0);
  if (idle < 10_000) return '';
  if (idle < 60_000) return 'quiet';
  const minutes = Math.floor(idle / 60_000);
  return `quiet ${minutes < 90 ? `${minutes} min` : formatDuration(idle)}`;
}

/** @param {{chat?: ChatState}} s */
export const countOpen = (s) => s.chat?.open || 0;

/** @param {{chat?: ChatState}} s */
export const describeChatWait = (s) =>
  countOpen(s) > 0 ? `${cleanText(s.chat?.agent)} ${cleanText(s.chat?.state)}` : '';

/** @param {Session} s @param {number} now @returns {['ask'|'agent'|'quiet', string]} */
export function describeState(s, now) {
  const k = s.keyboard || {};
  if (s.state === 'exited')
    return [
      'quiet',
      s.signal ? `ended by ${cleanText(s.signal)}` : s.exitCode ? `exited ${s.exitCode}` : 'exited',
    ];
  if (s.state === 'lost') return ['quiet', s.moving ? 'moving to another gateway' : 'lost'];
  if (k.asking) return ['ask', `${cleanText(k.asking)} asks`];
  if (describeChatWait(s)) return ['ask', describeChatWait(s)];
  if (k.held) return ['ask', k.heldWhy === 'line' ? 'waits for your line' : 'waiting for you'];
  if (s.blackout && s.blackout.reason === 'password') return ['quiet', 'password asked'];
  if (k.holder === 'agent') return ['agent', describeDriver(k, now)];
  if (s.blackout) return ['quiet', 'hidden from agents'];
  if (s.chat?.state === 'working') return ['quiet', `${cleanText(s.chat.agent)} works`];
  return ['quiet', describeQuiet(s, now) || 'active'];
}

let ownName = ''; // by which others know the keys of this page

/** @param {string} pageID */
export function setOwnName(pageID) {
  ownName = 'page-' + pageID.replace(/^p-/, '').slice(0, 4);
}

/** @param {string} name */
export const isOwnName = (name) => name === ownName;

/** @param {Decision} d */
const describeDecider = (d) =>
  !d.by
    ? ''
    : d.by === 'the terminal'
      ? ' at the terminal'
      : ` by ${isOwnName(d.by) ? 'you' : cleanText(d.by)}`;

/** @param {Decision} d */
export function describeAnswer(d) {
  const name = cleanText(d.agentName) || 'the agent';
  if (d.granted) return `answered${describeDecider(d) || ' elsewhere'}: ${name} may type`;
  return (
    {
      refused: `refused${describeDecider(d) || ' elsewhere'}`,
      released: `${name} stopped asking`,
      expired: 'no answer came in time',
      link: `${name} is gone`,
      exited: 'the program has ended',
    }[d.reason || ''] || 'answered elsewhere'
  );
}

/** @param {Decision} d */
export function describeDecision(d) {
  const name = cleanText(d.agentName) || 'the agent';
  if (d.granted) return `${name} got the keyboard${d.by ? `, given${describeDecider(d)}` : ''}`;
  return (
    {
      refused: `${name} was refused${describeDecider(d)}`,
      reclaimed: `the keyboard was taken back from ${name}${describeDecider(d)}`,
      released: `${name} gave the keyboard back`,
      expired: `${name}: time over`,
      link: `${name} lost its connection`,
    }[d.reason || ''] || ''
  );
}

/** @param {number} t */
export const formatClock = (t) => new Date(t).toLocaleTimeString('en-GB');

const dayFormat = new Intl.DateTimeFormat('en-GB', {day: 'numeric', month: 'short'});

/** @type {WeakMap<Session, string>} */
const rowTexts = new WeakMap();

/** The text that every row shows. @param {Session} s */
function rowText(s) {
  let text = rowTexts.get(s);
  if (text === undefined)
    rowTexts.set(s, (text = `${programLabel(s)}\n${shortDirectoryLabel(s)}`));
  return text;
}

/**
 * Returns the text that a list's row adds to a session's label and directory if another session has
 * both, too: when it started, as exactly as it takes to tell them apart, or else also its id.
 * @param {Session[]} all @param {number} now @returns {(s: Session) => string}
 */
export function distinguishByStart(all, now) {
  /** @type {Map<string, number>} */
  const counts = new Map();
  const keyOf = (/** @type {Session} */ s, /** @type {number} */ unit) =>
    unit ? `${rowText(s)}\n${Math.floor(s.startedAt / unit)}` : rowText(s);
  const isAlone = (/** @type {Session} */ s, /** @type {number} */ unit) =>
    counts.get(keyOf(s, unit)) === 1;
  const count = (/** @type {Session[]} */ sessions, /** @type {number} */ unit) => {
    for (const s of sessions) counts.set(keyOf(s, unit), (counts.get(keyOf(s, unit)) || 0) + 1);
    return sessions.filter((s) => !isAlone(s, unit));
  };
  count(count(count(all, 0), 60_000), 1000);
  const today = dayFormat.format(now);
  return (s) => {
    if (!counts.has(rowText(s)) || isAlone(s, 0)) return '';
    const day = dayFormat.format(s.startedAt);
    const clock = formatClock(s.startedAt);
    return [
      'since',
      day !== today && day,
      isAlone(s, 60_000) ? clock.slice(0, 5) : clock,
      !isAlone(s, 60_000) && !isAlone(s, 1000) && `· ${cleanText(s.sessionId)}`,
    ]
      .filter(Boolean)
      .join(' ');
  };
}

/** @param {number} n */
export const formatNumber = (n) => n.toLocaleString('en');
