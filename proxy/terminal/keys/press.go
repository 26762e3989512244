package keys

import (
	"strconv"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"
)

// Modes are the keyboard modes that the program has turned on. The zero value is a terminal as it
// starts.
type Modes struct {
	AppCursor bool // DECCKM (CSI ? 1 h)
	AppKeypad bool // DECNKM (ESC =)
	// Backarrow is DECBKM (CSI ? 67 h): Backspace sends BS instead of DEL.
	Backarrow bool
	// KittyFlags are the enhancement flags of the kitty keyboard protocol. A
	// program that set any of them is not sent modifyOtherKeys.
	KittyFlags uint8
	// ModifyOtherKeys is xterm's resource of that name, 0 to 2 (CSI > 4 ; n m).
	ModifyOtherKeys uint8
	// FormatOtherKeys is xterm's resource of that name (CSI > 4 ; 1 f): those keys are sent as CSI
	// code ; m u.
	FormatOtherKeys bool
}

// Enhancement flags of the kitty keyboard protocol. Flag 2, event types, does not change the
// encoding of a press.
const (
	kittyDisambiguate = 1 << 0
	kittyAlternates   = 1 << 2
	kittyAllKeys      = 1 << 3
	kittyText         = 1 << 4
)

// Press is a key press, perhaps repeated. Make one with [Parse].
type Press struct {
	// Count is how often the key is pressed, 1 to 1000. Encode gives the bytes of one press.
	Count int

	name string
	key  *special // nil for a key that types a character
	r    rune     // the character that the key types without Shift
	mods int32
}

// IsText reports whether the key types a character.
func (k Press) IsText() bool { return k.key == nil && k.r != 0 && k.mods&^modShift == 0 }

// IsEnter reports whether the key is Enter, also on the keypad, without modifiers.
func (k Press) IsEnter() bool { return k.key != nil && k.key.typed == "\r" && k.mods == 0 }

// Interrupts reports whether the program, or the terminal driver for it, may drop unread input when
// it gets the key: Ctrl+C, Ctrl+Z and the quit key, with the driver's defaults (termios(3), ISIG).
// Neovim drops the input that it reads together with a Ctrl+C.
func (k Press) Interrupts() bool {
	return k.key == nil && k.mods == modCtrl && (k.r == 'c' || k.r == 'z' || k.r == '\\')
}

// special is a key that does not type a character of its own.
type special struct {
	name    string
	aliases []string
	letter  byte  // CSI letter, with modifiers CSI 1 ; m letter
	ss3     byte  // ESC O ss3: always for F1 to F4, in DECNKM for the keypad
	number  int32 // CSI number ; m ~
	kitty   int32 // CSI kitty ; m u
	typed   string
	cursor  bool // DECCKM turns CSI letter into SS3 letter
	keypad  bool
	// stand is the key that terminals without kitty's codes send for it, with the modifiers
	// standMods: F13 is Shift+F1 there.
	stand     *special
	standMods int32
}

// namedKeys are the keys whose names follow no rule. Escape, Enter, Tab and Backspace have C0
// codes, which are also their numbers in the kitty protocol.
var namedKeys = [...]special{
	{name: "enter", aliases: []string{"return", "ret", "cr"}, kitty: 13, typed: "\r"},
	{name: "tab", kitty: 9, typed: "\t"},
	{name: "esc", aliases: []string{"escape"}, kitty: 27, typed: "\x1b"},
	{name: "backspace", aliases: []string{"bs", "bspace"}, kitty: 127, typed: "\x7f"},
	{name: "delete", aliases: []string{"del", "dc"}, number: 3},
	{name: "insert", aliases: []string{"ins", "ic"}, number: 2},
	{name: "up", aliases: []string{"arrow-up", "arrowup"}, letter: 'A', cursor: true},
	{name: "down", aliases: []string{"arrow-down", "arrowdown"}, letter: 'B', cursor: true},
	{name: "right", aliases: []string{"arrow-right", "arrowright"}, letter: 'C', cursor: true},
	{name: "left", aliases: []string{"arrow-left", "arrowleft"}, letter: 'D', cursor: true},
	{name: "home", letter: 'H', cursor: true},
	{name: "end", letter: 'F', cursor: true},
	{name: "pageup", aliases: []string{"pgup", "page-up", "ppage", "prior"}, number: 5},
	{name: "pagedown", aliases: []string{"pgdn", "pgdown", "page-down", "npage", "next"}, number: 6},
	{name: "kp-enter", aliases: []string{"kpenter"}, ss3: 'M', kitty: 57414, typed: "\r", keypad: true},
	{name: "kp-plus", aliases: []string{"kp-add"}, ss3: 'k', kitty: 57413, typed: "+", keypad: true},
	{name: "kp-minus", aliases: []string{"kp-subtract"}, ss3: 'm', kitty: 57412, typed: "-", keypad: true},
	{name: "kp-multiply", ss3: 'j', kitty: 57411, typed: "*", keypad: true},
	{name: "kp-divide", ss3: 'o', kitty: 57410, typed: "/", keypad: true},
	{name: "kp-decimal", aliases: []string{"kp-dot"}, ss3: 'n', kitty: 57409, typed: ".", keypad: true},
	{name: "kp-separator", aliases: []string{"kp-comma"}, ss3: 'l', kitty: 57416, typed: ",", keypad: true},
	{name: "kp-equal", ss3: 'X', kitty: 57415, typed: "=", keypad: true},
	{name: "menu", number: 29, kitty: 57363},

	// The keypad without Num Lock: only the kitty protocol tells its keys from the others.
	{name: "kp-left", letter: 'D', kitty: 57417, cursor: true},
	{name: "kp-right", letter: 'C', kitty: 57418, cursor: true},
	{name: "kp-up", letter: 'A', kitty: 57419, cursor: true},
	{name: "kp-down", letter: 'B', kitty: 57420, cursor: true},
	{name: "kp-pageup", aliases: []string{"kp-pgup"}, number: 5, kitty: 57421},
	{name: "kp-pagedown", aliases: []string{"kp-pgdn"}, number: 6, kitty: 57422},
	{name: "kp-home", letter: 'H', kitty: 57423, cursor: true},
	{name: "kp-end", letter: 'F', kitty: 57424, cursor: true},
	{name: "kp-insert", aliases: []string{"kp-ins"}, number: 2, kitty: 57425},
	{name: "kp-delete", aliases: []string{"kp-del"}, number: 3, kitty: 57426},
	{name: "kp-begin", letter: 'E', kitty: 57427, cursor: true},
}

// specials returns all keys with names.
var specials = sync.OnceValue(func() []*special {
	var list []*special
	for i := range namedKeys {
		list = append(list, &namedKeys[i])
	}
	list = append(list, kittyOnlyKeys()...)
	for i := range byte(10) {
		digit := string(rune('0' + i))
		list = append(list, &special{
			name: "kp-" + digit, aliases: []string{"kp" + digit},
			ss3: 'p' + i, kitty: 57399 + int32(i), typed: digit, keypad: true,
		})
	}
	return append(list, functionKeys()...)
})

// kittyOnlyKeys returns the keys that have codes only in the kitty protocol.
func kittyOnlyKeys() []*special {
	var list []*special
	for _, run := range []struct {
		code  int32
		names []string
	}{
		{57358, []string{"caps-lock", "scroll-lock", "num-lock", "print-screen", "pause"}},
		{57428, []string{
			"media-play", "media-pause", "media-play-pause", "media-reverse", "media-stop",
			"media-fast-forward", "media-rewind",
			"media-next", "media-previous", "media-record", "volume-down", "volume-up", "mute",
		}},
	} {
		for i, name := range run.names {
			list = append(list, &special{name: name, kitty: run.code + int32(i)})
		}
	}
	return list
}

func functionKeys() []*special {
	var list []*special
	for i, letter := range []byte("PQRS") {
		list = append(list, &special{name: fName(i + 1), letter: letter, ss3: letter})
	}
	for i, number := range []int32{15, 17, 18, 19, 20, 21, 23, 24} {
		list = append(list, &special{name: fName(i + 5), number: number})
	}
	for i := range 23 {
		mods := int32(modShift)
		if i >= 12 {
			mods = modCtrl
		}
		list = append(list, &special{name: fName(i + 13), kitty: 57376 + int32(i), stand: list[i%12], standMods: mods})
	}
	return list
}

func fName(n int) string { return "f" + strconv.Itoa(n) }

// The characters on the keys of a US keyboard, without and with Shift.
const (
	plainFaces   = "`1234567890-=[]\\;',./"
	shiftedFaces = "~!@#$%^&*()_+{}|:\"<>?"
)

// unshift returns the key that types r and whether Shift is held for it.
func unshift(r rune) (key rune, shift bool) {
	if i := strings.IndexRune(shiftedFaces, r); i >= 0 {
		return rune(plainFaces[i]), true
	}
	if lower := unicode.ToLower(r); lower != r && unicode.ToUpper(lower) == r {
		return lower, true
	}
	return r, false
}

// shifted returns the character that the key types with Shift, or r itself.
func shifted(r rune) rune {
	if i := strings.IndexRune(plainFaces, r); i >= 0 {
		return rune(shiftedFaces[i])
	}
	return unicode.ToUpper(r)
}

// typedRune returns the character that the press would type without Ctrl and Alt.
func (k Press) typedRune() rune {
	if k.mods&modShift != 0 {
		return shifted(k.r)
	}
	return k.r
}

// IsReclaim reports whether the program, or another proxy inside this one, would
// see the reclaim key: the press encodes to it in these modes.
func (k Press) IsReclaim(c CtrlKey, m Modes) bool {
	b, err := k.Encode(m)
	if err != nil {
		return false
	}
	found := false
	look := func(u Unit) { found = found || u.Kind == Reclaim || u.Kind == Release }
	eachUnit(Bindings{Reclaim: c}, b, look)
	return found
}

// isPrintable reports whether r is a character that a key can type.
func isPrintable(r rune) bool {
	return r != utf8.RuneError && (unicode.IsGraphic(r) || unicode.In(r, unicode.Co))
}
