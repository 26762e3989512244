package keys

import (
	"fmt"
	"strings"
)

// Modifier bits as the kitty protocol and xterm count them: the parameter on the wire is one more than their sum.
const (
	modShift = 1 << iota
	modAlt
	modCtrl
	modSuper
	modHyper
	modMeta
	modCaps
	modNum

	modLocks = modCaps | modNum
)

// shiftRule says what the Shift key must be for a code to count.
type shiftRule uint8

const (
	shiftAny shiftRule = iota
	shiftDown
	shiftUp
)

// reclaimCode is one key code that means the reclaim key when Ctrl is held.
type reclaimCode struct {
	code  int32
	shift shiftRule
}

// ReclaimKey is a key held together with Ctrl, compiled to all its encodings.
// The zero ReclaimKey is Ctrl+\, the default reclaim key.
type ReclaimKey struct {
	name  string
	c0    byte  // what a terminal without an extended protocol sends
	base  int32 // the key's code on the standard (US) layout, 0 for none
	vk    int32 // the Windows virtual key, 0 for none
	codes [5]reclaimCode
}

// String returns the reclaim key's name as [ParseReclaimKey] takes it.
func (c ReclaimKey) String() string { return c.orDefault().name }

func (c ReclaimKey) orDefault() ReclaimKey {
	if c.name == "" {
		return symbolKeys[`\`]
	}
	return c
}

// On most layouts a symbol is not one key: the codes after the symbol itself are the keys that make the same C0 byte in
// a terminal without extensions (Ctrl+4 sends 0x1c), and the shifted face of the key.
var symbolKeys = map[string]ReclaimKey{
	`\`: {name: `ctrl-\`, c0: 0x1c, base: '\\', vk: 220, codes: [5]reclaimCode{{'\\', shiftAny}, {'|', shiftDown}, {'4', shiftUp}, {0x1c, shiftAny}}},
	`]`: {name: `ctrl-]`, c0: 0x1d, base: ']', vk: 221, codes: [5]reclaimCode{{']', shiftAny}, {'}', shiftDown}, {'5', shiftUp}, {0x1d, shiftAny}}},
	`^`: {name: `ctrl-^`, c0: 0x1e, codes: [5]reclaimCode{{'^', shiftAny}, {'6', shiftAny}, {'~', shiftDown}, {0x1e, shiftAny}}},
	`_`: {name: `ctrl-_`, c0: 0x1f, codes: [5]reclaimCode{{'_', shiftAny}, {'-', shiftDown}, {'/', shiftUp}, {'7', shiftUp}, {0x1f, shiftAny}}},
}

// refusedKeys says why a key cannot be the reclaim key: its byte is another
// key's byte, or it occurs inside sequences, or it has a meaning here.
var refusedKeys = map[string]string{
	"c": "it interrupts programs",
	"d": "it is how programs are told that the input ends",
	"g": "it gives the keyboard",
	"h": "its byte is also Backspace on some terminals",
	"i": "its byte is also Tab",
	"j": "its byte is also a line feed, which ends lines in pasted text",
	"m": "its byte is also Enter",
	"z": "it suspends programs",
	"[": "its byte is also Escape, which begins every special key",
}

// namesakes are keys by name that have such a byte.
var namesakes = map[string]string{
	"enter": "m", "return": "m", "tab": "i", "esc": "[", "escape": "[", "backspace": "h", "ctrl-m": "m", "ctrl-enter": "m",
}

// ParseReclaimKey compiles a reclaim key such as `ctrl-\`, "ctrl-]" or "ctrl-x".
// It also takes "C-x", "^X" and "ctrl+x"; case does not matter.
func ParseReclaimKey(name string) (ReclaimKey, error) {
	const allowed = `; give ctrl- and one of a-z without c d g h i j m z, or one of \ ] ^ _ (for example ctrl-\ or ctrl-])`
	key, ok := cutCtrl(strings.ToLower(name))
	if same := namesakes[strings.ToLower(name)]; same != "" {
		key, ok = same, true
	}
	if !ok || len(key) != 1 {
		return ReclaimKey{}, fmt.Errorf("reclaim key %q is not Ctrl and one key%s", name, allowed)
	}
	if why, refused := refusedKeys[key]; refused {
		return ReclaimKey{}, fmt.Errorf("reclaim key %q cannot be used: %s%s", name, why, allowed)
	}
	if c, symbol := symbolKeys[key]; symbol {
		return c, nil
	}
	if r := key[0]; r >= 'a' && r <= 'z' {
		return letterKey(r), nil
	}
	return ReclaimKey{}, fmt.Errorf("reclaim key %q has no byte of its own in every terminal%s", name, allowed)
}

func cutCtrl(name string) (key string, ok bool) {
	for _, prefix := range []string{"ctrl-", "ctrl+", "control-", "control+", "c-", "c+", "^"} {
		if key, ok = strings.CutPrefix(name, prefix); ok {
			return key, true
		}
	}
	return "", false
}

func letterKey(r byte) ReclaimKey {
	upper, c0 := r-'a'+'A', r&0x1f
	return ReclaimKey{
		name: "ctrl-" + string(rune(r)), c0: c0, base: int32(r), vk: int32(upper),
		codes: [5]reclaimCode{{int32(r), shiftAny}, {int32(upper), shiftDown}, {int32(c0), shiftAny}},
	}
}

// matches reports whether a key report means the reclaim key: Ctrl is held, nothing that makes it another key is, and
// Shift is as the code wants it. Caps Lock and Num Lock never matter: terminals that report them would hide the key.
func (c *ReclaimKey) matches(code, base int32, mods int32) bool {
	if mods&modCtrl == 0 || mods&(modAlt|modSuper|modHyper|modMeta) != 0 {
		return false
	}
	if c.base != 0 && base == c.base {
		return true
	}
	for _, k := range c.codes {
		if k.code == code && code != 0 {
			return k.shift == shiftAny || (k.shift == shiftDown) == (mods&modShift != 0)
		}
	}
	return false
}

// Control key state bits of win32-input-mode (KEY_EVENT_RECORD).
const (
	winAlt   = 0x01 | 0x02 // right (also AltGr) and left
	winCtrl  = 0x04 | 0x08
	winShift = 0x10
)

// matchesWin reports whether a win32-input-mode record means the reclaim key. AltGr is Ctrl with right Alt there, and
// types a character: it is excluded, unless the console itself already made the control character.
func (c *ReclaimKey) matchesWin(vk, uc, state int32) bool {
	if uc == int32(c.c0) {
		return true
	}
	if state&winCtrl == 0 || state&winAlt != 0 {
		return false
	}
	return c.vk != 0 && vk == c.vk || uc != 0 && uc == c.codes[0].code
}
