package keys

import (
	"fmt"
	"unicode/utf8"
)

// Encode returns the bytes of one press, as a terminal sends them in these modes. It returns an
// error if the program could not tell the key from another one in them.
func (k Press) Encode(m Modes) ([]byte, error) {
	switch {
	case k.key == nil && k.r == 0:
		return nil, fmt.Errorf("key is empty; %s", syntax)
	case m.KittyFlags&(kittyDisambiguate|kittyAllKeys) != 0:
		return k.encodeKitty(m.KittyFlags), nil
	}
	b := k.encodeOtherKeys(m)
	if b == nil {
		b = k.encodeLegacy(m)
	}
	if b == nil && m.KittyFlags != 0 {
		return k.encodeKitty(kittyDisambiguate | m.KittyFlags), nil
	}
	if b == nil {
		return nil, fmt.Errorf(
			"key %s cannot be sent: the program has not turned on a keyboard mode "+
				"in which the terminal could tell it from another key%s", k.name,
			k.alternativeHint(),
		)
	}
	return b, nil
}

// alternativeHint names an alternative that usually works in a terminal without extensions.
func (k Press) alternativeHint() string {
	switch {
	case k.key != nil && k.key.kitty == 13:
		return "; for a line break, alt-enter or ctrl-j often works"
	case k.mods&modSuper != 0:
		return "; leave out super-"
	case k.mods&modHyper != 0:
		return "; leave out hyper-"
	case k.key != nil && k.key.legacyCode() == 0:
		return ", the kitty protocol"
	case k.mods&modShift != 0:
		return "; leave out shift-"
	case k.key != nil && k.key.kitty == 27:
		return "; send esc by itself"
	}
	return ""
}

// encodeLegacy returns the bytes that terminals without extensions send, nil if they have none for
// this key.
func (k Press) encodeLegacy(m Modes) []byte {
	switch {
	case k.mods&(modSuper|modHyper) != 0:
		return nil
	case k.key == nil:
		return k.legacyText()
	case k.key.keypad:
		return k.legacyKeypad(m)
	case k.key.stand != nil:
		if k.mods != 0 {
			return nil
		}
		return functionalSequence(k.key.stand, k.key.standMods)
	case k.key.legacyCode() == 0:
		return nil
	case k.key.typed != "":
		return k.legacyControl(m)
	case k.mods == 0 && (m.AppCursor && k.key.cursor || k.key.ss3 != 0):
		return []byte{esc, 'O', k.key.letter}
	}
	return functionalSequence(k.key, k.mods)
}

// legacyCode returns the code of the key in terminals without the kitty protocol, 0 if it has no
// code there.
func (s *special) legacyCode() int32 {
	switch {
	case s.letter != 0:
		return int32(s.letter)
	case s.typed != "":
		return int32(s.typed[0])
	case s.stand != nil:
		return s.stand.legacyCode()
	}
	return s.number
}

// functionalSequence returns CSI 1 ; m letter or CSI number ; m ~.
func functionalSequence(key *special, mods int32) []byte {
	final, number := byte('~'), key.number
	if key.letter != 0 {
		final, number = key.letter, 1
	}
	switch {
	case mods != 0:
		return fmt.Appendf(nil, "\x1b[%d;%d%c", number, mods+1, final)
	case key.letter != 0:
		return []byte{esc, '[', final}
	}
	return fmt.Appendf(nil, "\x1b[%d%c", number, final)
}

func (k Press) legacyKeypad(m Modes) []byte {
	switch {
	case k.mods != 0:
		return nil
	case m.AppKeypad:
		return []byte{esc, 'O', k.key.ss3}
	}
	return []byte(k.key.typed)
}

// legacyControl encodes Enter, Tab, Escape and Backspace. ESC before ESC would be read as two
// presses, and Shift or Ctrl mostly makes no difference.
func (k Press) legacyControl(m Modes) []byte {
	alt := k.mods&modAlt != 0
	b := make([]byte, 0, 4)
	if alt {
		b = append(b, esc)
	}
	switch key, mods := k.key.kitty, k.mods&^modAlt; {
	case key == 127 && mods&^modCtrl == 0:
		if m.Backarrow != (mods != 0) {
			return append(b, '\b')
		}
		return append(b, 0x7f)
	case key == 9 && k.mods == modShift:
		return []byte("\x1b[Z")
	case mods != 0, key == 27 && alt:
		return nil
	}
	return append(b, k.key.typed...)
}

// legacyText encodes a character: Alt is ESC before it, Ctrl makes a C0 code.
func (k Press) legacyText() []byte {
	b := make([]byte, 0, 8)
	if k.mods&modAlt != 0 {
		b = append(b, esc)
	}
	if k.r == ' ' && k.mods&modShift != 0 {
		return nil
	}
	if k.mods&modCtrl == 0 {
		return utf8.AppendRune(b, k.typedRune())
	}
	c, ok := controlCode(k.typedRune())
	if !ok || c == esc && len(b) > 0 {
		return nil
	}
	return append(b, c)
}

// controlCode maps a character typed with Ctrl as the VT100 and its successors do.
// Upper-case letters are missing: Ctrl+Shift+A cannot be told from Ctrl+A.
func controlCode(r rune) (c byte, ok bool) {
	switch {
	case r >= 'a' && r <= 'z':
		return byte(r) & 0x1f, true
	case r == '@' || r >= '[' && r <= '_':
		return byte(r) & 0x1f, true
	case r == ' ' || r == '2':
		return 0, true
	case r >= '3' && r <= '7':
		return byte(r) - '3' + esc, true
	case r == '/':
		return 0x1f, true
	case r == '~':
		return 0x1e, true
	case r == '?' || r == '8':
		return 0x7f, true
	}
	return 0, false
}

// encodeOtherKeys returns CSI 27 ; m ; code ~, or CSI code ; m u, for the keys that xterm reports
// so: at level 2 every modified character and control key, at level 1 only those without a legacy
// encoding. It returns nil for any other key.
func (k Press) encodeOtherKeys(m Modes) []byte {
	if m.ModifyOtherKeys == 0 || m.KittyFlags != 0 || k.mods == 0 ||
		k.mods&(modSuper|modHyper) != 0 {
		return nil
	}
	code := k.typedRune()
	switch {
	case k.key == nil && k.mods == modShift && k.r != ' ':
		return nil // it only types another character
	case k.key != nil && (k.key.typed == "" || k.key.keypad):
		return nil
	case k.key != nil &&
		(k.key.kitty == 127 && k.mods&modShift == 0 || k.key.kitty == 9 && k.mods == modShift):
		return nil // xterm leaves Backspace and Shift+Tab alone
	case k.key != nil:
		code = k.key.kitty
	}
	if m.ModifyOtherKeys == 1 &&
		(k.encodeLegacy(Modes{}) != nil || k.key == nil && k.shiftedLetter()) {
		return nil
	}
	if m.FormatOtherKeys {
		return csiU(code, 0, k.mods, 0)
	}
	return fmt.Appendf(nil, "\x1b[27;%d;%d~", k.mods+1, code)
}

// shiftedLetter reports whether level 1 would lose the Shift: xterm sends the C0 code of a letter
// with Ctrl, with or without other modifiers.
func (k Press) shiftedLetter() bool {
	return k.mods&modShift != 0 && k.r >= 'a' && k.r <= 'z'
}

// NearestSupported returns the press that a person's terminal would send. If the modes have no code
// for the key with all its modifiers, it drops some of them: Shift+Enter becomes Enter,
// Ctrl+Shift+A becomes Ctrl+A. A character never loses its Ctrl or Alt: it would be text.
func (k Press) NearestSupported(m Modes) Press {
	_, err := k.Encode(m)
	for _, held := range []int32{modShift, modCtrl, modAlt} {
		if err == nil || k.key == nil && held != modShift {
			break
		}
		k.mods &^= held
		_, err = k.Encode(m)
	}
	return k
}
