// Keys of a browser's keyboard by the names that the wire has for them. What they send is for the session's proxy to say: it knows the
// program's modes.

const special = {
  Enter: 'enter', Tab: 'tab', Escape: 'esc', Backspace: 'backspace', Delete: 'delete', Insert: 'insert',
  ArrowUp: 'up', ArrowDown: 'down', ArrowLeft: 'left', ArrowRight: 'right', Home: 'home', End: 'end', PageUp: 'pageup', PageDown: 'pagedown',
};
for (let i = 1; i <= 10; i++) special['F' + i] = 'f' + i; // F11 and F12 stay the browser's

const mac = /Mac|iP(hone|ad)/.test(navigator.platform);

// letter is the character of a key that is pressed with Ctrl or Alt: on a keyboard of another script that of its place.
function letter(e) {
  if (e.key.length === 1 && e.key > ' ' && e.key < '\x7f') return e.key;
  if (e.key === ' ') return 'space';
  const place = /^(?:Key([A-Z])|Digit(\d))$/.exec(e.code);
  return place ? (place[1] || place[2]).toLowerCase() : '';
}

// keyName is the name of a key that is not text, '' for text and for what the browser keeps. held are modifiers that were tapped before.
export function keyName(e, held = {}) {
  const ctrl = e.ctrlKey || held.ctrl, alt = e.altKey || held.alt;
  if (e.metaKey) return '';
  const mods = (ctrl ? 'ctrl-' : '') + (alt ? 'alt-' : '');
  if (e.key in special) {
    if (e.shiftKey && e.key === 'Insert') return ''; // it pastes
    return mods + (e.shiftKey ? 'shift-' : '') + special[e.key];
  }
  if (mods === '' || e.getModifierState?.('AltGraph') || mac && alt && !ctrl && !held.alt) return '';
  const c = letter(e);
  if (c === '' || e.ctrlKey && e.shiftKey && /^[cv]$/i.test(c)) return ''; // copy and paste
  if (/^[A-Z]$/.test(c)) return mods + 'shift-' + c.toLowerCase();
  return mods + c;
}

// withHeld is a character with modifiers that were tapped before it.
export const withHeld = (c, held) => (held.ctrl ? 'ctrl-' : '') + (held.alt ? 'alt-' : '') + (c === ' ' ? 'space' : held.ctrl ? c.toLowerCase() : c);
