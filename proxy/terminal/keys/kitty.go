package keys

import (
	"fmt"
	"unicode/utf8"
)

// encodeKitty encodes a press by the kitty keyboard protocol, with flag 1 or 8 set. Under flag 1
// text stays text, and Enter, Tab and Backspace without modifiers keep their bytes, so that a shell
// can be used after a program that crashed; under flag 8 every key is an escape code.
func (k Press) encodeKitty(flags uint8) []byte {
	all := flags&kittyAllKeys != 0
	if k.key != nil {
		return k.kittySpecial(flags, all)
	}
	text := k.mods&^modShift == 0
	if text && !all && (k.r != ' ' || k.mods == 0) {
		return utf8.AppendRune(nil, k.typedRune())
	}
	var alternate, typed rune
	if flags&kittyAlternates != 0 && k.mods&modShift != 0 && k.typedRune() != k.r {
		alternate = k.typedRune()
	}
	if flags&kittyText != 0 && text {
		typed = k.typedRune()
	}
	return csiU(k.r, alternate, k.mods, typed)
}

func (k Press) kittySpecial(flags uint8, all bool) []byte {
	key := k.key
	switch {
	case key.keypad:
		var typed rune
		if flags&kittyText != 0 && k.mods&^modShift == 0 && key.typed != "\r" {
			typed = rune(key.typed[0])
		}
		return csiU(key.kitty, 0, k.mods, typed)
	case key.kitty != 0:
		if !all && k.mods == 0 && key.typed != "" && key.kitty != esc {
			return []byte(key.typed)
		}
		return csiU(key.kitty, 0, k.mods, 0)
	case key.letter == 'R': // CSI R is a cursor position report
		return functionalSequence(&special{number: 13}, k.mods)
	}
	return functionalSequence(key, k.mods)
}

// csiU returns CSI code : alternate ; mods ; text u, without the absent fields.
func csiU(code, alternate rune, mods int32, text rune) []byte {
	b := fmt.Appendf(nil, "\x1b[%d", code)
	if alternate != 0 {
		b = fmt.Appendf(b, ":%d", alternate)
	}
	switch {
	case mods != 0:
		b = fmt.Appendf(b, ";%d", mods+1)
	case text != 0:
		b = append(b, ';')
	}
	if text != 0 {
		b = fmt.Appendf(b, ";%d", text)
	}
	return append(b, 'u')
}
