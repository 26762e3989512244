package keys

import (
	"bytes"
	"cmp"
	"fmt"
	"strings"
	"sync"
)

// Modifier bits as the kitty protocol and xterm count them: the parameter on the wire is one more
// than their sum.
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

// shiftRule is the state of the Shift key in which a code counts.
type shiftRule uint8

const (
	shiftAny shiftRule = iota
	shiftDown
	shiftUp
)

// keyCode is one key code that means the key when Ctrl is held.
type keyCode struct {
	code  int32
	shift shiftRule
}

// CtrlKey is a key pressed together with Ctrl, compiled to all its encodings. [ParseReclaimKey] and
// [ParseGrantKey] make one; in [Bindings] the zero CtrlKey is the default.
type CtrlKey struct {
	name  string
	c0    byte  // what a terminal without an extended protocol sends
	base  int32 // the key's code on the standard (US) layout, 0 without one
	vk    int32 // the Windows virtual key, 0 without one
	codes [5]keyCode
}

// String returns the key's name as [ParseReclaimKey] and [ParseGrantKey] accept it.
func (c CtrlKey) String() string { return c.name }

// Label returns the key's name as people write it: Ctrl+G.
func (c CtrlKey) Label() string {
	return "Ctrl+" + strings.ToUpper(strings.TrimPrefix(c.name, "ctrl-"))
}

// LabelAt returns the label of the key at a terminal that keeps Ctrl+G for itself and sends it for
// the key instead. instead is "" at every other terminal.
func (c CtrlKey) LabelAt(instead string) string {
	if instead != "" && c == letterKey('g') {
		return instead
	}
	return c.Label()
}

// Bindings are the keys that the proxy takes from the user's keyboard. The zero Bindings are Ctrl+\
// and Ctrl+G.
type Bindings struct {
	Reclaim CtrlKey // takes the keyboard back; it wins if both are the same key
	Grant   CtrlKey // answers a question with yes
}

// WithDefaults returns b with the default for each key that it does not name.
func (b Bindings) WithDefaults() Bindings {
	if b.Reclaim.name == "" {
		b.Reclaim = symbolKeys[`\`]
	}
	if b.Grant.name == "" {
		b.Grant = letterKey('g')
	}
	return b
}

// On most layouts a symbol is not one key: the codes after the symbol itself are the keys that make
// the same C0 byte in a terminal without extensions (Ctrl+4 sends 0x1c), and the shifted face of
// the key.
var symbolKeys = map[string]CtrlKey{
	`\`: {
		name: `ctrl-\`, c0: 0x1c, base: '\\', vk: 220,
		codes: [5]keyCode{{'\\', shiftAny}, {'|', shiftDown}, {'4', shiftUp}, {0x1c, shiftAny}},
	},
	`]`: {
		name: `ctrl-]`, c0: 0x1d, base: ']', vk: 221,
		codes: [5]keyCode{{']', shiftAny}, {'}', shiftDown}, {'5', shiftUp}, {0x1d, shiftAny}},
	},
	`^`: {
		name: `ctrl-^`, c0: 0x1e,
		codes: [5]keyCode{{'^', shiftAny}, {'6', shiftAny}, {'~', shiftDown}, {0x1e, shiftAny}},
	},
	`_`: {
		name: `ctrl-_`, c0: 0x1f,
		codes: [5]keyCode{
			{'_', shiftAny}, {'-', shiftDown}, {'/', shiftUp}, {'7', shiftUp}, {0x1f, shiftAny},
		},
	},
}

// refusedKeys holds the reasons why a key can be neither: its byte is also another key's byte, or
// occurs inside sequences, or programs need it.
var refusedKeys = map[string]string{
	"c": "it interrupts programs",
	"d": "it is how programs are told that the input ends",
	"h": "its byte is also Backspace on some terminals",
	"i": "its byte is also Tab",
	"j": "its byte is also a line feed, which ends lines in pasted text",
	"m": "its byte is also Enter",
	"z": "it suspends programs",
	"[": "its byte is also Escape, which begins every special key",
}

// keyRole is the purpose of a key.
type keyRole struct {
	name    string
	refused func(key string) (why string) // in addition to refusedKeys; "" if allowed
	allowed string
}

var reclaimRole = keyRole{
	name: "reclaim key",
	refused: func(key string) string {
		if key == "g" {
			return "it gives the keyboard"
		}
		return ""
	},
	allowed: `give ctrl- and one of a-z without c d g h i j m z, or one of \ ] ^ _ (for example ctrl-\ or ctrl-])`,
}

// A key that people press while they type would answer a question that they have not read.
var grantRole = keyRole{
	name: "grant key",
	refused: func(key string) string {
		switch {
		case key == `\`:
			return "it takes the keyboard back elsewhere, and would give it to an agent out of habit"
		case key == "s" || key == "q":
			return "it stops and continues the output of many terminals"
		case strings.Contains(editingLetters+"ry", key):
			return "people press it while they edit a line, and would answer a question that they have not read"
		}
		return ""
	},
	allowed: `give ctrl- and one of g o t v x, or one of ] ^ _ (for example ctrl-g or ctrl-])`,
}

// sameByteKeys holds other keys, by name, with the byte of a refused key.
var sameByteKeys = map[string]string{
	"enter": "m", "return": "m", "tab": "i", "esc": "[", "escape": "[", "backspace": "h",
	"ctrl-m": "m", "ctrl-enter": "m",
}

// ParseReclaimKey compiles a reclaim key such as `ctrl-\`, "ctrl-]" or "ctrl-x". It also accepts
// "C-x", "^X" and "ctrl+x"; case does not matter.
func ParseReclaimKey(name string) (CtrlKey, error) { return reclaimRole.parseKey(name) }

// ParseGrantKey compiles a grant key such as "ctrl-g" or "ctrl-]", in the notation of
// [ParseReclaimKey].
func ParseGrantKey(name string) (CtrlKey, error) { return grantRole.parseKey(name) }

func (r *keyRole) parseKey(name string) (CtrlKey, error) {
	key, ok := cutCtrl(strings.ToLower(name))
	if same := sameByteKeys[strings.ToLower(name)]; same != "" {
		key, ok = same, true
	}
	if !ok || len(key) != 1 {
		return CtrlKey{}, fmt.Errorf("%s %q is not Ctrl and one key; %s", r.name, name, r.allowed)
	}
	if why := cmp.Or(refusedKeys[key], r.refused(key)); why != "" {
		return CtrlKey{}, fmt.Errorf("%s %q cannot be used: %s; %s", r.name, name, why, r.allowed)
	}
	if c, ok := ctrlKey(key); ok {
		return c, nil
	}
	return CtrlKey{}, fmt.Errorf("%s %q has no byte of its own in every terminal; %s", r.name, name, r.allowed)
}

// ctrlKey returns a letter or symbol, held with Ctrl.
func ctrlKey(key string) (c CtrlKey, ok bool) {
	if c, ok = symbolKeys[key]; ok {
		return c, true
	}
	if r := key[0]; r >= 'a' && r <= 'z' {
		return letterKey(r), true
	}
	return CtrlKey{}, false
}

// grantKeys returns all the keys that can be the grant key of some proxy.
var grantKeys = sync.OnceValue(func() (all []CtrlKey) {
	for _, key := range strings.Split("abcdefghijklmnopqrstuvwxyz\\]^_", "") {
		if c, err := ParseGrantKey("ctrl-" + key); err == nil {
			all = append(all, c)
		}
	}
	return all
})

// FindGrantKey returns the first key in b that can be the grant key of some proxy, with any
// bindings.
func FindGrantKey(b []byte) (key CtrlKey, found bool) {
	if bytes.IndexFunc(b, func(r rune) bool { return r < ' ' || r >= 0x80 }) < 0 {
		return CtrlKey{}, false
	}
	for _, c := range grantKeys() {
		eachUnit(Bindings{Grant: c}, b, func(u Unit) { found = found || u.Kind == Confirm })
		if found {
			return c, true
		}
	}
	return CtrlKey{}, false
}

func cutCtrl(name string) (key string, ok bool) {
	for _, prefix := range []string{"ctrl-", "ctrl+", "control-", "control+", "c-", "c+", "^"} {
		if key, ok = strings.CutPrefix(name, prefix); ok {
			return key, true
		}
	}
	return "", false
}

func letterKey(r byte) CtrlKey {
	upper, c0 := r-'a'+'A', r&0x1f
	return CtrlKey{
		name: "ctrl-" + string(rune(r)), c0: c0, base: int32(r), vk: int32(upper),
		codes: [5]keyCode{{int32(r), shiftAny}, {int32(upper), shiftDown}, {int32(c0), shiftAny}},
	}
}

// matchesReport reports whether a key report means the key: Ctrl is held, no modifier that makes it
// another key is, and Shift is in the state that the code requires. Caps Lock and Num Lock never
// matter: terminals that report them would hide the key.
func (c *CtrlKey) matchesReport(code, base int32, mods int32) bool {
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

// takesShift reports whether the key may be pressed with Shift as well: a symbol may need it, but a
// letter with Shift is another key if the terminal tells them apart.
func (c *CtrlKey) takesShift() bool { return c.base < 'a' || c.base > 'z' }

// confirmsGrant reports whether a key report means the grant key.
func (c *CtrlKey) confirmsGrant(code, base, mods int32) bool {
	return c.matchesReport(code, base, mods) && (c.takesShift() || mods&modShift == 0)
}

// Control key state bits of win32-input-mode (KEY_EVENT_RECORD).
const (
	winAlt   = 0x01 | 0x02 // right (also AltGr) and left
	winCtrl  = 0x04 | 0x08
	winShift = 0x10
)

// matchesWin reports whether a win32-input-mode record means the key. AltGr is Ctrl with right Alt
// there, and types a character: it is excluded, unless the console itself already made the control
// character.
func (c *CtrlKey) matchesWin(vk, uc, state int32) bool {
	if uc == int32(c.c0) {
		return true
	}
	if state&winCtrl == 0 || state&winAlt != 0 {
		return false
	}
	return c.vk != 0 && vk == c.vk || uc != 0 && uc == c.codes[0].code
}

// confirmsWin is confirmsGrant for a win32-input-mode record. The control character alone is not
// enough, unlike for the reclaim key.
func (c *CtrlKey) confirmsWin(vk, uc, down, state int32) bool {
	return down == 1 && state&winCtrl != 0 && state&winAlt == 0 &&
		(c.takesShift() || state&winShift == 0) && c.matchesWin(vk, uc, state)
}
