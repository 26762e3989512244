package keys

import (
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Stroke is a piece of input as people read it: printable text, or one key. One of the two is
// empty.
type Stroke struct {
	Text string
	// Key is the key's name with its modifiers ("Enter", "Ctrl-C", "Alt-x",
	// "Ctrl-Shift-Up"), or the escaped bytes of a sequence that means no key (`\x1b[99z`).
	Key string
}

// EachStroke calls emit for the strokes of input bytes, which are whole units, in every encoding
// that MaySubmit knows. Bytes that are not exactly a key in one of its usual forms are emitted
// escaped: two inputs that have different effects on a program never read the same.
func EachStroke(b []byte, emit func(Stroke)) {
	eachUnit(Bindings{}, b, func(u Unit) {
		if c := u.Bytes[0]; c == esc || c == csi {
			emit(strokeOf(u))
			return
		}
		strokesOfText(u.Bytes, emit)
	})
}

// FormatPieces formats input for a person to judge: text in quotes with invisible characters
// escaped, keys in angle brackets.
//
//	"make install"<Enter>
//
// Each piece is written to the program by itself, so no key crosses its end.
func FormatPieces(pieces ...[]byte) string {
	var w strokeFormatter
	for _, p := range pieces {
		EachStroke(p, w.addStroke)
	}
	w.flush()
	return w.b.String()
}

// strokeFormatter joins strokes: adjacent text shares one pair of quotes, and a repeated key is
// written once with its count.
type strokeFormatter struct {
	b     strings.Builder
	text  string
	key   string
	count int
}

func (w *strokeFormatter) addStroke(s Stroke) {
	if s.Text != "" {
		w.flushKey()
		w.text += s.Text
		return
	}
	if w.text != "" || s.Key != w.key {
		w.flush()
	}
	w.key = s.Key
	w.count++
}

func (w *strokeFormatter) flushKey() {
	if w.count > 0 {
		w.b.WriteString("<" + w.key)
		if w.count > 1 {
			w.b.WriteString("×" + strconv.Itoa(w.count))
		}
		w.b.WriteByte('>')
	}
	w.key, w.count = "", 0
}

func (w *strokeFormatter) flush() {
	w.flushKey()
	if w.text == "" {
		return
	}
	w.b.WriteByte('"')
	for _, r := range w.text {
		switch {
		case r == '"' || r == '\\':
			w.b.WriteByte('\\')
			w.b.WriteRune(r)
		case isVisible(r):
			w.b.WriteRune(r)
		default:
			q := strconv.QuoteRuneToASCII(r)
			w.b.WriteString(q[1 : len(q)-1])
		}
	}
	w.b.WriteByte('"')
	w.text = ""
}

// isVisible reports whether a reader can see r: it is not a control, not invisible, and does not
// change the direction or the look of its neighbours.
func isVisible(r rune) bool {
	const hangulFillers = "\u115f\u1160\u3164\uffa0"
	return unicode.IsPrint(r) && !unicode.Is(unicode.M, r) && r != utf8.RuneError &&
		r != '\u2800' &&
		!strings.ContainsRune(hangulFillers, r)
}

// strokesOfText reads text with single control characters in it.
func strokesOfText(b []byte, emit func(Stroke)) {
	text := 0
	flush := func(end int) {
		if end > text {
			emit(Stroke{Text: string(b[text:end])})
		}
	}
	for i := 0; i < len(b); {
		r, n := utf8.DecodeRune(b[i:])
		switch {
		case r < 0x20 || r == 0x7f:
			flush(i)
			emit(Stroke{Key: controlName(byte(r))})
			text = i + n
		case r == utf8.RuneError && n == 1:
			flush(i)
			emit(Stroke{Key: escapeBytes(b[i : i+1])})
			text = i + n
		}
		i += n
	}
	flush(len(b))
}

// controlName names the key that a terminal without extensions sends as a control character.
func controlName(c byte) string {
	switch c {
	case 0:
		return "Ctrl-Space"
	case '\t':
		return "Tab"
	case '\r':
		return "Enter"
	case esc:
		return "Esc"
	case 0x7f:
		return "Backspace"
	}
	return "Ctrl-" + string(rune(c|0x40))
}

// escapeBytes returns bytes in escaped form, from which they can be recovered.
func escapeBytes(b []byte) string {
	q := strconv.QuoteToASCII(string(b))
	return q[1 : len(q)-1]
}

// strokeOf returns the stroke of a unit that begins with ESC or CSI.
func strokeOf(u Unit) Stroke {
	raw := Stroke{Key: escapeBytes(u.Bytes)}
	switch b := u.Bytes; {
	case u.Kind == PasteStart:
		return Stroke{Key: "paste begins"}
	case u.Kind == PasteEnd:
		return Stroke{Key: "paste ends"}
	case len(b) == 1 && b[0] == esc:
		return Stroke{Key: "Esc"}
	case len(b) == 1:
	case b[0] == csi || b[1] == '[':
		if s, ok := csiStroke(b); ok {
			return s
		}
	case b[1] == 'O' && len(b) == 3:
		if name := ss3Name(b[2]); name != "" {
			return Stroke{Key: name}
		}
	case len(b) == 2 && (b[1] < 0x20 || b[1] == 0x7f):
		return Stroke{Key: "Alt-" + controlName(b[1])}
	default:
		if r, n := utf8.DecodeRune(b[1:]); n == len(b)-1 && isVisible(r) && r != ' ' {
			return Stroke{Key: "Alt-" + string(r)}
		}
	}
	return raw
}

// ss3Name names ESC O letter.
func ss3Name(letter byte) string {
	for _, k := range specials() {
		if k.letter == letter && (k.cursor || k.ss3 == letter) || k.keypad && k.ss3 == letter {
			return displayName(k.name)
		}
	}
	return ""
}

// csiStroke names a key in one of the forms with numbers: CSI letter, CSI 1 ; m
// letter, CSI n ; m ~, CSI 27 ; m ; code ~, CSI code ; m ; text u.
func csiStroke(u []byte) (Stroke, bool) {
	var q params
	final := u[len(u)-1]
	if final < 0x40 || final > 0x7e || u[0] == esc && len(u) == 2 { // cut off, or CSI n $
		return Stroke{}, false
	}
	q.parseBody(csiBody(u))
	if q.prefix != 0 || q.inter != 0 || q.v[0][2] != 0 && final != 'u' {
		return Stroke{}, false
	}
	mods, event := max(q.v[1][0], 1)-1, q.v[1][1]
	var s Stroke
	switch {
	case final == 'u' && q.n <= 3:
		s = codeStroke(q.v[0][0], q.v[0][1], q.v[2], mods)
	case final == '~' && q.n == 3 && q.v[0][0] == 27:
		s = codeStroke(q.v[2][0], 0, [3]rune{}, mods)
	case final == '~' && q.n >= 1 && q.n <= 2:
		s.Key = keyName(mods, func(k *special) bool {
			return k.number == q.v[0][0] && k.number != 0
		})
	case final == 'Z' && q.n == 0:
		s.Key = "Shift-Tab"
	case q.n == 0 || q.n == 2 && q.v[0][0] == 1:
		s.Key = keyName(mods, func(k *special) bool { return k.letter == final })
	}
	switch {
	case s == Stroke{}:
		return s, false
	case event == 3:
		return Stroke{Key: "release of " + s.Key + s.Text}, true
	}
	return s, event < 3
}

// codeStroke names a key by its Unicode code (kitty protocol, modifyOtherKeys). typed is the text
// of the press, if the terminal reports it.
func codeStroke(code, shifted rune, typed [3]rune, mods int32) Stroke {
	mods &^= modLocks
	r := code
	switch {
	case typed[0] != 0 && typed[1] == 0 && mods&^modShift == 0:
		return Stroke{Text: string(typed[0])}
	case typed[0] != 0:
		return Stroke{}
	case mods == modShift && shifted != 0:
		return Stroke{Text: string(shifted)}
	}
	if name := keyName(mods, func(k *special) bool {
		return k.kitty == code && code != 0
	}); name != "" {
		return Stroke{Key: name}
	}
	switch {
	case code < 0x20 || !isVisible(r):
		return Stroke{}
	case mods == 0:
		return Stroke{Text: string(r)}
	case r == ' ':
		return Stroke{Key: modNames(mods) + "Space"}
	case mods&modCtrl != 0:
		r = unicode.ToUpper(r)
	}
	return Stroke{Key: modNames(mods) + string(r)}
}

// keyName returns the name of the first key that meant accepts, with its modifiers, or "".
func keyName(mods int32, meant func(*special) bool) string {
	i := slices.IndexFunc(specials(), meant)
	if i < 0 {
		return ""
	}
	return modNames(mods&^modLocks) + displayName(specials()[i].name)
}

func modNames(mods int32) string {
	out := ""
	for _, m := range []struct {
		bit  int32
		name string
	}{
		{modCtrl, "Ctrl-"},
		{modAlt, "Alt-"},
		{modShift, "Shift-"},
		{modSuper, "Super-"},
		{modHyper, "Hyper-"},
		{modMeta, "Meta-"},
	} {
		if mods&m.bit != 0 {
			out += m.name
		}
	}
	return out
}

// displayName returns a key's name as people write it: PageUp is one word, and kp-enter is
// KP-Enter.
func displayName(name string) string {
	switch name {
	case "pageup":
		return "PageUp"
	case "pagedown":
		return "PageDown"
	}
	if rest, ok := strings.CutPrefix(name, "kp-"); ok {
		return "KP-" + strings.ToUpper(rest[:1]) + rest[1:]
	}
	return strings.ToUpper(name[:1]) + name[1:]
}
