package question

import (
	"bytes"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"terminalproxy/protocol"
	"terminalproxy/proxy/terminal/keys"
)

// MaxMessage bounds a message of the user to an agent, in characters.
const MaxMessage = 500

// openLine opens the line of the present question.
func (q *Queue) openLine(c *Question) {
	c.Typing = true
	q.text = make([]byte, 0, max(protocol.MaxSecret, MaxMessage*utf8.UTFMax))
}

// isLineOpen reports whether the user types on the line of the present question.
func (q *Queue) isLineOpen() bool {
	c := q.Current()
	return c != nil && c.Typing
}

// AddKey edits the text on the line of the present question, which gets every unit that the user
// types, in a paste or not. rest are the bytes behind the key that closes the line. Without a line
// it drops keys that seem to be the rest of an answer that no one takes.
func (q *Queue) AddKey(now time.Time, u keys.Unit, inPaste bool) (rest []byte, took bool) {
	isOpen := q.isLineOpen()
	switch u.Kind {
	case keys.Key, keys.Paste, keys.PasteStart, keys.PasteEnd:
		if !isOpen {
			return nil, q.dropsStray(now, u)
		}
		if u.Kind == keys.Key || u.Kind == keys.Paste {
			rest = q.addBytes(now, u.Bytes, u.Kind == keys.Paste)
			q.showText()
		}
	case keys.Confirm, keys.Reclaim:
		if u.Kind == keys.Confirm && !isOpen && !inPaste {
			q.expectStray(now)
		}
		return nil, isOpen && inPaste
	case keys.ConfirmRepeat, keys.Idle: // it types nothing, but a key that goes up has a name
		return nil, isOpen || now.Before(q.stray)
	case keys.Release, keys.Reply, keys.Focus, keys.Motion, keys.Mouse:
		return nil, false
	}
	q.NoteTyped(now)
	return rest, true
}

// expectStray has what follows the grant key dropped if that may be meant for a question whose
// answer is typed. It comes before it is known whether the key counts: a slow machine reads the
// answer together with the key.
func (q *Queue) expectStray(now time.Time) {
	c := q.Current()
	q.followed = false
	isMeant := c != nil && (c.Kind.IsTyped() || q.isForVanished(now, AnotherFor))
	if isMeant || q.isForVanished(now, MinShownUnexpected) {
		q.stray = now.Add(strayFor)
	}
}

// dropsStray reports whether to drop a key. Enter and Esc end the dropping.
func (q *Queue) dropsStray(now time.Time, u keys.Unit) bool {
	if !now.Before(q.stray) {
		return false
	}
	q.stray, q.followed = now.Add(strayFor), true
	if u.Kind == keys.Key && (bytes.IndexByte(u.Bytes, '\r') >= 0 || string(u.Bytes) == "\x1b") {
		q.stray = time.Time{}
	}
	return true
}

// showText shows the text of the line: dots for a secret.
func (q *Queue) showText() {
	switch c := q.Current(); {
	case !q.isLineOpen() || c.Closed != "":
	case c.Kind == Secret:
		c.Typed = strings.Repeat("•", utf8.RuneCount(q.text))
	default:
		c.Typed = string(q.text)
	}
}

// addBytes applies the keys of a unit, and returns those behind the one that closed the line. It
// makes no string of text: that would stay in memory.
func (q *Queue) addBytes(now time.Time, b []byte, pasted bool) (rest []byte) {
	for len(b) > 0 && q.isLineOpen() {
		n := keys.TextLen(b)
		if n > 0 {
			q.addText(b[:n])
		} else {
			if n = len(b); b[0] != 0x1b && b[0] != 0x9b { // a sequence is a unit of its own
				_, n = utf8.DecodeRune(b)
			}
			keys.EachStroke(b[:n], func(s keys.Stroke) { q.edit(now, s, pasted) })
		}
		b = b[n:]
	}
	return b
}

// edit applies a key to the text, and ignores keys without a meaning there. The end of a row in a
// paste sends nothing.
func (q *Queue) edit(now time.Time, s keys.Stroke, pasted bool) {
	isEnter := s.Key == "Enter" || s.Key == "KP-Enter"
	isEscape := s.Key == "Esc" || s.Key == "Ctrl-C"
	c := q.Current()
	switch {
	case !q.isLineOpen(): // an earlier Enter has closed the line
	case s.Text != "": // of a key in another encoding
		q.addText([]byte(s.Text))
	case pasted && c.Kind == Message:
		q.addText([]byte(" ")) // the end of a row
	case pasted:
	case isEscape, isEnter && (c.Closed != "" || c.Kind == Message && len(q.text) == 0):
		q.CloseLine(now)
	case s.Key == "Backspace", s.Key == "Ctrl-H":
		_, n := utf8.DecodeLastRune(q.text)
		q.text = q.text[:len(q.text)-n]
	case s.Key == "Ctrl-U":
		q.wipe()
	case isEnter && len(q.text) > 0 && c.Submit(now, q.text):
		q.wipe()
		q.countEnding(now, c, Answered)
		q.remove(now, 0, false)
	}
}

// addText adds typed text while there is room in the buffer, so that a secret is never copied to a
// larger one.
func (q *Queue) addText(text []byte) {
	c := q.Current()
	for len(text) > 0 && c.Closed == "" {
		r, n := utf8.DecodeRune(text)
		isTooLong := len(q.text)+n > protocol.MaxSecret
		if c.Kind == Message {
			isTooLong = !unicode.IsPrint(r) || utf8.RuneCount(q.text) >= MaxMessage
		}
		if !unicode.IsControl(r) && !isTooLong {
			q.text = append(q.text, text[:n]...)
		}
		text = text[n:]
	}
}

// wipe erases the typed text.
func (q *Queue) wipe() {
	clear(q.text[:cap(q.text)])
	q.text = q.text[:0]
}
