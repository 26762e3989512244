package keys

import (
	"strings"
	"unicode/utf8"
)

// CleanPaste returns the part of s that may be pasted. It removes ESC and the other C0 codes except
// Tab, DEL, and C1 both as characters and as raw bytes, so that no paste can end its own brackets
// or act as a key. A byte that is not UTF-8 becomes U+FFFD. Line ends (LF, CR LF, CR) become CR, as
// terminals paste them.
func CleanPaste(s string) string {
	var b strings.Builder
	b.Grow(len(s))
	for i := 0; i < len(s); {
		r, n := utf8.DecodeRuneInString(s[i:])
		raw := s[i]
		i += n
		switch {
		case r == '\r' || r == '\n':
			if r == '\r' && i < len(s) && s[i] == '\n' {
				i++
			}
			b.WriteByte('\r')
		case r == '\t':
			b.WriteByte('\t')
		case r == utf8.RuneError && n == 1:
			if raw >= 0xa0 {
				b.WriteRune(utf8.RuneError)
			}
		case r >= 0x20 && (r < 0x7f || r > 0x9f):
			b.WriteRune(r)
		}
	}
	return b.String()
}

// TextLen returns the length of the text at the start of b: valid UTF-8 without control characters.
func TextLen(b []byte) (n int) {
	for n < len(b) {
		r, size := utf8.DecodeRune(b[n:])
		if r < 0x20 || r >= 0x7f && r <= 0x9f || r == utf8.RuneError && size == 1 {
			return n
		}
		n += size
	}
	return n
}

// maxWhole is the longest unit that CutBetweenKeys keeps whole.
const maxWhole = 128

// CutBetweenKeys returns the length of the longest prefix of b, up to limit bytes, that ends
// between two keys: never inside a character or an escape sequence. It holds at least one whole
// unit, even if that is longer than limit; a single sequence of more than 128 bytes, which no key
// has, is cut at limit. So the result is positive for any b that is not empty, and at most
// max(limit, 128).
func CutBetweenKeys(b []byte, limit int) int {
	n := 0
	for n < len(b) {
		unit := unitLen(b[n:])
		if n+unit > limit {
			switch {
			case n > 0:
				return n
			case unit > maxWhole:
				return max(limit, 1)
			}
			return unit
		}
		n += unit
	}
	return n
}

// unitLen returns the length of the first key, sequence or character in b. It includes the three
// bytes of an X10 mouse report: the mode is unknown, and a coarser cut is safe.
func unitLen(b []byte) int {
	s := Scanner{x10: true}
	switch b[0] {
	case esc:
		s.state = afterESC
	case csi:
		s.openCSI()
	default:
		return charLen(b)
	}
	for i := 1; i < len(b); i++ {
		switch s.stepByte(b[i], i) {
		case more, piece:
		case done:
			return i + 1
		case abort:
			return i
		case restart:
			return i - 1
		}
	}
	return len(b)
}

// CutAct returns the length of b up to the end of the first key, other than text, that a program
// may act on: Enter in any encoding, a control character, a sequence. Without such a key, acts is
// false and n is the length of b.
func CutAct(b []byte) (n int, acts bool) {
	for n < len(b) {
		unit := b[n : n+unitLen(b[n:])]
		n += len(unit)
		if c := unit[0]; c < 0x20 || c >= 0x80 && c < 0xa0 ||
			c == 0xc2 && len(unit) > 1 && unit[1] < 0xa0 {
			return n, true
		}
	}
	return n, false
}

func charLen(b []byte) int {
	n := 1
	for want := 1 + int(utf8Tail(b[0])); n < want && n < len(b) && b[n]&0xc0 == 0x80; {
		n++
	}
	return n
}

// MaySubmit reports whether b holds anything that could submit a line, send a signal or run a
// command of the program: everything but text and the keys that move and edit within a line. It
// knows the keys in every encoding, and returns true for an unknown one. cooked means that the
// kernel collects the line (canonical mode): there Tab is text, and does not complete.
func MaySubmit(b []byte, cooked bool) bool {
	found := false
	eachUnit(Bindings{}, b, func(u Unit) { found = found || unitSubmits(u, cooked) })
	return found
}

// editingLetters are the control keys of readline, of editors' prompts and of the kernel's line discipline
// that stay within the line. Missing on purpose: I (Tab completes, and a completion runs programs),
// O (accepts the line in readline), R and T (shells bind them to programs such as fzf), V and X
// (prefixes), Q and S (flow control), Y (suspends on BSD).
const editingLetters = "abefhklnpuw"

func unitSubmits(u Unit, cooked bool) bool {
	switch u.Kind {
	case PasteStart, PasteEnd:
		return false
	case Key, Paste, Idle:
	case Reclaim, Release, Confirm, ConfirmRepeat, Reply, Focus, Mouse, Motion:
		return true
	}
	c := u.Bytes[0]
	if c == csi || c == esc {
		return !editsLine(u.Bytes)
	}
	for i := 0; i < len(u.Bytes); {
		r, n := utf8.DecodeRune(u.Bytes[i:])
		switch c := u.Bytes[i]; {
		case c == '\t' && cooked:
		case c < 0x20 && !isEditing(c), r >= 0x80 && r <= 0x9f, r == utf8.RuneError && n == 1:
			return true // C1 controls act in an 8-bit terminal; a broken character may do anything
		}
		i += n
	}
	return false
}

func isEditing(c byte) bool {
	return c == 0x1f || c != 0 && c < 0x1b && strings.IndexByte(editingLetters, c|0x60) >= 0
}

// editsLine reports whether an escape sequence is a key that moves or edits within
// the line, or plain text in a protocol that writes all keys as sequences.
func editsLine(u []byte) bool {
	final := u[len(u)-1]
	if len(u) < 2 {
		return false
	}
	if len(u) == 3 && u[0] == esc && u[1] == 'O' { // SS3: cursor keys, keypad text
		return strings.IndexByte("ABCDHFjklmnopqrstuvwxyX ", final) >= 0
	}
	if u[0] == esc && (len(u) < 3 || u[1] != '[') {
		return false
	}
	var q params
	q.parseBody(csiBody(u))
	if q.prefix != 0 || q.inter != 0 {
		return false
	}
	code, mods := q.v[0][0], max(q.v[1][0], 1)-1
	switch final {
	case 'A', 'B', 'C', 'D', 'H', 'F':
		return mods&^(modShift|modCtrl) == 0 // fish changes the directory on Alt-Left
	case '~':
		if code == 27 {
			return editsKey(q.v[2][0], mods)
		}
		// fish forgets an entry of its history on Shift-Delete
		return code >= 1 && code <= 8 && mods&^modCtrl == 0
	case 'u':
		return q.v[2][0] == 0 && editsKey(code, mods) // an associated text may be anything
	}
	return false
}

// editsKey is editsLine for a key's code and modifiers in CSI u or CSI 27 ~ form. Keypad codes are
// text except for Enter.
func editsKey(code, mods int32) bool {
	const kp0, kpEnter, kpEnd = 57399, 57414, 57426
	if mods&modCtrl != 0 {
		return mods&(modAlt|modSuper|modHyper|modMeta) == 0 &&
			code >= 'a' && code <= 'z' && isEditing(byte(code)&0x1f)
	}
	if mods&(modAlt|modSuper|modHyper|modMeta) != 0 {
		return false
	}
	switch {
	case code == 127:
		return true
	case code >= kp0 && code <= kpEnd:
		return code != kpEnter
	}
	return code >= 0x20 && (code < 0x80 || code > 0x9f) && (code < 57344 || code > 63743)
}
