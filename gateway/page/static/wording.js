// What the page says of sessions, in words.

// Characters that are not drawn, or that turn the ones around them, accents in heaps, and scripts that run from right to left.
const unseen = /[\p{C}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\u2800]+/gu;
const heaps = /(\p{M}{2})\p{M}+/gu;
const leftward = /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc\u{10800}-\u{10fff}\u{1e800}-\u{1efff}]/u;

// clean is what somebody else wrote, to stand among the page's own words: what is not seen is told, and it turns nothing around it.
export function clean(text) {
  const seen = (text || '').replace(/(?<=\p{Extended_Pictographic})[\u200d\ufe0f]/gu, '').replace(unseen, '\ufffd').replace(heaps, '$1');
  return leftward.test(seen) ? `\u2068${seen}\u2069` : seen;
}

// program is how a session is told: the program with its arguments, without directories in front.
export function program(s) {
  const name = s.command.split('/').pop() || s.command;
  return clean([name, ...(s.args || [])].join(' '));
}

// directory is where it runs, with the home directory as ~.
export function directory(s) {
  return clean((s.cwd || '').replace(/^(\/home\/[^/]+|\/Users\/[^/]+|\/root)(?=\/|$)/, '~'));
}

// span is a time in words, in milliseconds.
export function span(ms) {
  const s = Math.max(0, Math.round(ms / 1000));
  if (s < 90) return s + ' s';
  if (s < 90 * 60) return Math.round(s / 60) + ' min';
  if (s < 36 * 3600) return Math.round(s / 3600) + ' h';
  return Math.round(s / 86400) + ' days';
}

// left is the rest of a grant: a minute that has begun counts.
export function left(until, now) {
  const ms = until - now;
  return ms <= 0 ? 'time is up' : (ms < 60000 ? Math.ceil(ms / 1000) + ' s' : Math.ceil(ms / 60000) + ' min') + ' left';
}

const does = {drive: 'drives', type: 'types'};

// drives says what an agent with the keyboard does; '' where none has it.
export function drives(k, now) {
  if (!k || k.holder !== 'agent') return '';
  const name = clean(k.agentName) || 'an agent';
  if (k.paused) return `${name} is paused while somebody types`;
  if (k.away) return `${name} waits for ${clean(k.program)}`;
  return [name, does[k.level] || 'types', k.expiresAt ? left(k.expiresAt, now) : ''].filter(Boolean).join(' ');
}

// asks says what an agent asks for.
export const asks = (k) => (k.askingLevel === 'type' ? 'type text' : 'type');

// rest says how long a session has been quiet, '' while it is active. idleSince is in the clock of now.
export function rest(s, now) {
  const idle = now - s.idleSince;
  return idle < 10000 ? '' : 'quiet ' + span(idle);
}

// waits says what a coding agent waits for, '' where it waits for nobody's answer.
export const waits = ({chat}) => (chat?.open > 0 ? `${clean(chat.agent)} ${clean(chat.state)}` : '');

// state is a session in words with the kind that decides on its looks: ask, agent or quiet.
export function state(s, now) {
  const k = s.keyboard || {};
  if (s.state === 'exited') return ['quiet', s.signal ? `ended by ${clean(s.signal)}` : s.exitCode ? `exited ${s.exitCode}` : 'exited'];
  if (s.state === 'lost') return ['quiet', s.moving ? 'moving to another gateway' : 'lost'];
  if (k.asking) return ['ask', `${clean(k.asking)} asks`];
  if (waits(s)) return ['ask', waits(s)];
  if (k.held) return ['ask', k.heldWhy === 'line' ? 'waits for your line' : 'waiting for you'];
  if (s.blackout && s.blackout.reason === 'password') return ['quiet', 'password asked'];
  if (k.holder === 'agent') return ['agent', drives(k, now)];
  if (s.blackout) return ['quiet', 'hidden from agents'];
  if (s.chat?.state === 'working') return ['quiet', `${clean(s.chat.agent)} works`];
  return ['quiet', rest(s, now) || 'active'];
}

// by says who decided, or that nobody is known to have.
const by = (d) => (!d.by ? '' : d.by === 'the terminal' ? ' at the terminal' : ` by ${clean(d.by)}`);

// answered says how a question was answered elsewhere.
export function answered(d) {
  const name = clean(d.agentName) || 'the agent';
  if (d.granted) return `answered${by(d) || ' elsewhere'}: ${name} may type`;
  return {
    refused: `refused${by(d) || ' elsewhere'}`, released: `${name} asks no more`, expired: 'nobody answered in time',
    link: `${name} is not there any more`, exited: 'the program has ended',
  }[d.reason] || 'answered elsewhere';
}

// became says what became of the keyboard.
export function became(d) {
  const name = clean(d.agentName) || 'the agent';
  if (d.granted) return `${name} got the keyboard${d.by ? `, given${by(d)}` : ''}`;
  return {
    refused: `${name} was refused${by(d)}`, reclaimed: `the keyboard was taken back from ${name}${by(d)}`,
    released: `${name} gave the keyboard back`, expired: `${name}: time over`, link: `${name} lost its connection`,
  }[d.reason] || '';
}

// clock is the time of day.
export const clock = (t) => new Date(t).toLocaleTimeString('en-GB');
