package keys

import (
	"bytes"
	"fmt"
	"slices"
	"unicode/utf8"
)

// Unclosed follows the bytes that a program reads and knows what a sender began in them and has not
// finished: a bracketed paste, a sequence or a character, a button or key held down. Other
// people's bytes can finish the sender's, and begin nothing.
type Unclosed struct {
	scanner Scanner
	sender  bool // the newest bytes are the sender's
	paused  bool // a pause follows the newest bytes: an Escape there is a key of its own
	paste   bool // the open paste is the sender's
	down    []downKey
}

// downKey is a button or key held down.
type downKey struct {
	final   byte // of its report, 0 for a button
	code    int32
	release []byte // reports that it goes up
}

// maxDown bounds the keys that are down at once.
const maxDown = 8

// The marks of a bracketed paste (xterm ctlseqs, DECSET 2004).
const (
	PasteBegins = "\x1b[200~"
	PasteEnds   = "\x1b[201~"
)

// Feed adds bytes that the program reads next. pause means that a pause follows.
func (u *Unclosed) Feed(b []byte, sender, pause bool) {
	u.scanner.x10 = true // a coarser cut is safe, as for unitLen
	if u.paused || sender != u.sender {
		u.scanner.Flush(func(Unit) {})
	}
	u.sender, u.paused = sender, pause
	u.scanner.Scan(b, u.noteUnit)
}

// ForgetKeys forgets all but a paste: another program reads the next bytes, which knows of no key
// that is down.
func (u *Unclosed) ForgetKeys() {
	u.scanner.Flush(func(Unit) {})
	u.down = nil
}

func (u *Unclosed) noteUnit(unit Unit) {
	switch unit.Kind { //nolint:exhaustive // the others leave nothing open
	case PasteStart, PasteEnd:
		u.paste = unit.Kind == PasteStart && u.sender
	case Mouse, Motion:
		u.noteMouse(unit.Bytes)
	case Key, Idle:
		u.noteKey(unit.Bytes)
	}
}

// noteMouse notes the buttons that a mouse report presses, moves or lets go.
func (u *Unclosed) noteMouse(report []byte) {
	const button, held, motion, extra = 3, 4 | 8 | 16, 32, 64 | 128
	var q params
	var code int32
	var release []byte
	if report[2] == 'M' { // X10
		code = int32(report[3]) - 32
		release = slices.Clone(report)
		release[3] = byte(code&held|button) + 32
	} else if q.parseBody(csiBody(report)); q.prefix == '<' {
		code = q.v[0][0]
		release = fmt.Appendf(nil, "\x1b[<%d;%d;%dm", code&^motion, q.v[1][0], q.v[2][0])
	} else { // mode 1015
		code = q.v[0][0] - 32
		release = fmt.Appendf(nil, "\x1b[%d;%d;%dM", code&held|button+32, q.v[1][0], q.v[2][0])
	}
	switch {
	case code&extra != 0: // a wheel
	case report[len(report)-1] == 'm' || q.prefix == 0 && code&button == button:
		u.noteUp(0, code&button)
	case code&motion == 0 || u.isDown(0, code&button):
		u.noteDown(downKey{0, code & button, release})
	}
}

// noteKey notes the key that a report presses or lets go: a modifier by itself, or any key with its
// event (kitty keyboard protocol), and every key of win32-input-mode.
func (u *Unclosed) noteKey(report []byte) {
	if len(report) < 3 || report[0] != esc || report[1] != '[' {
		return
	}
	var q params
	q.parseBody(csiBody(report))
	final, code, event := report[len(report)-1], q.v[0][0], q.v[1][1]
	switch {
	case q.prefix != 0 || q.inter != 0:
	case final == '_' && q.v[3][0] == 0, final != '_' && event == released:
		u.noteUp(final, code)
	case final == '_':
		u.noteDown(downKey{final, code, fmt.Appendf(nil, "\x1b[%d;%d;%d;0;%d;1_",
			code, q.v[1][0], q.v[2][0], q.v[4][0])})
	case event != 0 || final == 'u' && isModifier(code):
		u.noteDown(downKey{final, code, fmt.Appendf(nil, "\x1b[%d;%d:%d%c",
			max(code, 1), max(q.v[1][0], 1), released, final)})
	}
}

func (u *Unclosed) isDown(final byte, code int32) bool {
	return slices.ContainsFunc(u.down, func(d downKey) bool {
		return d.final == final && d.code == code
	})
}

func (u *Unclosed) noteDown(d downKey) {
	if !u.sender {
		return
	}
	u.noteUp(d.final, d.code)
	if len(u.down) < maxDown {
		u.down = append(u.down, d)
	}
}

// noteUp notes that a key goes up. Old encodings do not say which button does, so all do.
func (u *Unclosed) noteUp(final byte, code int32) {
	u.down = slices.DeleteFunc(slices.Clone(u.down), func(d downKey) bool {
		return d.final == final && (d.code == code || final == 0 && code == 3)
	})
}

// EndUnit returns the bytes that end the sender's unfinished sequence or character, without an
// effect of their own. nil: it is finished.
func (u *Unclosed) EndUnit() []byte {
	held := u.scanner.HeldBytes()
	switch {
	case len(held) == 0 || !u.sender:
		return nil
	case u.scanner.state == inUTF8 && held[0] != esc:
		return endCharacter(held)
	case u.scanner.paste: // its end ends a sequence, too
		return nil
	case u.scanner.state == inX10:
		return []byte("#!!")[3-u.scanner.need:] // a button that is up
	}
	// Programs wait for the rest of a sequence, some for ever. They drop a sequence that goes on
	// with NUL, and NUL alone has no effect that they could not undo.
	return []byte{0}
}

// endCharacter returns the bytes that make the beginning of a character in UTF-8 a whole one.
func endCharacter(held []byte) (rest []byte) {
	for !utf8.Valid(append(slices.Clone(held), rest...)) && len(rest) < utf8.UTFMax {
		next := byte(0x80)
		if first := held[0]; len(held)+len(rest) == 1 && (first == 0xe0 || first == 0xf0) {
			next = 0xa0 // a smaller one would be overlong
		}
		rest = append(rest, next)
	}
	return rest
}

// EndPaste returns the bytes that end the sender's paste. nil: it has none open.
func (u *Unclosed) EndPaste() []byte {
	if !u.paste {
		return nil
	}
	rest, _ := bytes.CutPrefix([]byte(PasteEnds), u.scanner.HeldBytes())
	return rest
}

// ReleaseKeys returns the reports that let go what the sender has pressed.
func (u *Unclosed) ReleaseKeys() (b []byte) {
	for _, d := range u.down {
		b = append(b, d.release...)
	}
	return b
}

// IsOthersOpen reports whether other people's bytes end within a sequence or a paste: bytes that
// came in between would become part of that.
func (u *Unclosed) IsOthersOpen() bool {
	return !u.sender && len(u.scanner.HeldBytes()) > 0 || u.scanner.paste && !u.paste
}
