package desk

import (
	"bytes"
	"time"
	"unicode"
	"unicode/utf8"

	"terminalproxy/protocol"
	"terminalproxy/proxy/consent/control"
	"terminalproxy/proxy/terminal/keys"
)

// NoteGrantKey notes that the user pressed the answer key. Here as in other methods, took means
// that the key was for a question; otherwise it is control's or the program's.
func (d *Desk) NoteGrantKey(now time.Time) (took bool) {
	d.mu.Lock()
	defer d.conf.Repaint()
	defer d.mu.Unlock()
	switch {
	case d.open:
	case !d.standsLocked():
		return false
	case !d.isAnswerableLocked(now):
		d.ignored = d.number
		if d.queue[0].ask.Kind != protocol.SecretConfirm {
			d.stray = now.Add(strayFor)
		}
	case d.queue[0].ask.Kind == protocol.SecretConfirm:
		d.sendLocked([]byte("yes"))
	default:
		d.stray = time.Time{}
		d.open, d.text = true, make([]byte, 0, protocol.MaxSecret)
	}
	return true
}

// ConfirmInText notes that the bytes of that key came within a text, where they answer nothing.
func (d *Desk) ConfirmInText() (took bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.open || d.standsLocked()
}

// NoteReclaimKey notes that the user pressed the refuse key. The key repeats while it is held and
// people press it twice, so the desk also takes it for a while afterwards.
func (d *Desk) NoteReclaimKey(now time.Time) (took bool) {
	d.mu.Lock()
	defer d.conf.Repaint()
	defer d.mu.Unlock()
	switch {
	case d.gone != "":
		d.closeLineLocked()
	case d.open, d.standsLocked():
		d.finishLocked(protocol.SecretRefused, nil)
		d.swallow = now.Add(control.SwallowFor)
	case now.Before(d.swallow):
		d.swallow = now.Add(control.SwallowMore)
	default:
		return false
	}
	return true
}

// AddKey edits the answer, which gets every unit that the user types while its line is open, in a
// paste or not. rest are the bytes behind the key that closes the line.
func (d *Desk) AddKey(now time.Time, u keys.Unit, inPaste bool) (rest []byte, took bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if !d.open {
		return nil, d.dropStrayLocked(now, u)
	}
	switch u.Kind {
	case keys.Key, keys.Paste:
		rest = d.addBytesLocked(u.Bytes, u.Kind == keys.Paste)
	case keys.PasteStart, keys.PasteEnd:
	case keys.Confirm:
		if !inPaste {
			return nil, false // NoteGrantKey
		}
	case keys.Reclaim:
		if !inPaste {
			return nil, false // NoteReclaimKey
		}
		d.refuseInPasteLocked()
	case keys.Release, keys.Reply, keys.Focus, keys.Motion, keys.Mouse:
		return nil, false
	}
	d.conf.Repaint()
	return rest, true
}

// dropStrayLocked reports whether to drop a key typed while no line is open. Enter and Esc end the
// dropping.
func (d *Desk) dropStrayLocked(now time.Time, u keys.Unit) bool {
	switch u.Kind {
	case keys.Key, keys.Paste, keys.PasteStart, keys.PasteEnd:
	default:
		return false
	}
	if !now.Before(d.stray) {
		d.typed = now
		return false
	}
	d.stray = now.Add(strayFor)
	if u.Kind == keys.Key && (bytes.IndexByte(u.Bytes, '\r') >= 0 || string(u.Bytes) == "\x1b") {
		d.stray = time.Time{}
	}
	return true
}

// addBytesLocked applies the keys of a unit, and returns those behind the one that closed the line.
// It makes no string of text: that would stay in memory.
func (d *Desk) addBytesLocked(b []byte, pasted bool) (rest []byte) {
	for len(b) > 0 && d.open {
		n := keys.TextLen(b)
		switch {
		case n > 0:
			d.addTextLocked(b[:n])
		case b[0] == 0x1b, b[0] == 0x9b: // a sequence is a unit of its own
			n = len(b)
			keys.EachStroke(b, func(s keys.Stroke) { d.editLocked(s, pasted) })
		default:
			_, n = utf8.DecodeRune(b)
			keys.EachStroke(b[:n], func(s keys.Stroke) { d.editLocked(s, pasted) })
		}
		b = b[n:]
	}
	return b
}

// refuseInPasteLocked refuses the question. The line stays open for the rest of the paste.
func (d *Desk) refuseInPasteLocked() {
	if d.gone != "" {
		d.closeLineLocked()
		return
	}
	program := d.queue[0].ask.Asker.Program
	d.finishLocked(protocol.SecretRefused, nil)
	d.open, d.gone = true, program+" no longer waits: nothing is sent"
}

// editLocked applies a key to the answer, and ignores keys without a meaning there. The end of a
// row in a paste sends nothing.
func (d *Desk) editLocked(s keys.Stroke, pasted bool) {
	switch {
	case !d.open: // an earlier Enter has closed the line
	case d.gone != "" && pasted:
	case d.gone != "":
		if s.Key == "Enter" || s.Key == "KP-Enter" || s.Key == "Esc" || s.Key == "Ctrl-C" {
			d.closeLineLocked()
		}
	case s.Text != "": // of a key in another encoding
		d.addTextLocked([]byte(s.Text))
	case pasted:
	case s.Key == "Backspace", s.Key == "Ctrl-H":
		_, n := utf8.DecodeLastRune(d.text)
		d.text = d.text[:len(d.text)-n]
	case s.Key == "Ctrl-U":
		d.wipeLocked()
	case s.Key == "Esc", s.Key == "Ctrl-C":
		d.closeLineLocked()
		d.beginLocked()
	case s.Key == "Enter", s.Key == "KP-Enter":
		if len(d.text) > 0 && d.queue[0].lost.IsZero() {
			d.sendLocked(d.text)
		}
	}
}

// addTextLocked adds typed text while there is room in the buffer, so that the secret is never
// copied to a larger one.
func (d *Desk) addTextLocked(text []byte) {
	for len(text) > 0 && d.gone == "" {
		r, n := utf8.DecodeRune(text)
		if !unicode.IsControl(r) && len(d.text)+n <= cap(d.text) {
			d.text = append(d.text, text[:n]...)
		}
		text = text[n:]
	}
}
