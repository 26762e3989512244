// Names keys as the wire does. The session's proxy knows the program's modes, so it decides which
// bytes a key sends.

/** @type {Record<string, string>} */
const namedKeys = {
  Enter: 'enter',
  Tab: 'tab',
  Escape: 'esc',
  Backspace: 'backspace',
  Delete: 'delete',
  Insert: 'insert',
  ArrowUp: 'up',
  ArrowDown: 'down',
  ArrowLeft: 'left',
  ArrowRight: 'right',
  Home: 'home',
  End: 'end',
  PageUp: 'pageup',
  PageDown: 'pagedown',
};
for (let i = 1; i <= 10; i++) namedKeys['F' + i] = 'f' + i; // the browser keeps F11 and F12

const mac = /Mac|iP(hone|ad)/.test(navigator.platform);

/** On a non-Latin keyboard, the letter at the key's place. @param {KeyPress} e */
function pressedLetter(e) {
  if (e.key.length === 1 && e.key > ' ' && e.key < '\x7f') return e.key;
  if (e.key === ' ') return 'space';
  const place = /^(?:Key([A-Z])|Digit(\d))$/.exec(e.code);
  return place ? (place[1] || place[2]).toLowerCase() : '';
}

/**
 * Empty for text and for keys that the browser keeps.
 * @param {KeyPress} e @param {Held} [held] @returns {string}
 */
export function keyName(e, held = {}) {
  const ctrl = e.ctrlKey || held.ctrl;
  const alt = e.altKey || held.alt;
  if (e.metaKey) return '';
  const mods = (ctrl ? 'ctrl-' : '') + (alt ? 'alt-' : '');
  if (e.key in namedKeys) {
    if (e.shiftKey && e.key === 'Insert') return ''; // pastes
    return mods + (e.shiftKey ? 'shift-' : '') + namedKeys[e.key];
  }
  if (mods === '' || e.getModifierState?.('AltGraph') || (mac && alt && !ctrl && !held.alt))
    return '';
  const c = pressedLetter(e);
  if (c === '' || (e.ctrlKey && e.shiftKey && /^[cv]$/i.test(c))) return ''; // copy and paste
  if (/^[A-Z]$/.test(c)) return mods + 'shift-' + c.toLowerCase();
  return mods + c;
}

/** @param {string} c @param {Held} held */
export const nameHeldKey = (c, held) =>
  (held.ctrl ? 'ctrl-' : '') +
  (held.alt ? 'alt-' : '') +
  (c === ' ' ? 'space' : held.ctrl ? c.toLowerCase() : c);
