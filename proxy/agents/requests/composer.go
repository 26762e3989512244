package requests

import (
	"bytes"
	"strings"
	"time"
	"unicode"

	"terminalproxy/proxy/consent/control"
	"terminalproxy/proxy/display/notice"
	"terminalproxy/proxy/terminal/keys"
)

// addToMessage implements [Handler.AddToMessage].
func (p *messenger) addToMessage(u keys.Unit, inPaste bool) (rest []byte, took bool) {
	c := p.Control
	if c.Message() == nil {
		return nil, u.Kind == keys.Key && typesExactly(u.Bytes, "m") &&
			c.OpenMessage(time.Now(), p.Status.LastSeenMessage())
	}
	switch u.Kind {
	case keys.Key, keys.Paste:
	case keys.Reclaim: // closes the message, even in a paste
		if inPaste {
			c.TakeMessage(time.Now())
			return nil, true
		}
		return nil, false
	case keys.Confirm, keys.PasteStart, keys.PasteEnd:
		return nil, true
	case keys.Release, keys.Reply, keys.Focus, keys.Motion, keys.Mouse:
		return nil, false
	}
	line := u.Bytes
	if u.Kind == keys.Key && len(line) > 1 && line[0] != 0x1b {
		if at := bytes.IndexByte(line, '\r'); at >= 0 {
			line, rest = line[:at+1], line[at+1:]
		}
	}
	keys.EachStroke(line, func(s keys.Stroke) { p.editMessage(s, u.Kind == keys.Paste) })
	return rest, true
}

// typesExactly reports whether a unit types exactly this text.
func typesExactly(unit []byte, text string) bool {
	ok := false
	n := 0
	keys.EachStroke(unit, func(s keys.Stroke) { n++; ok = s.Text == text })
	return ok && n == 1
}

// editMessage applies a key to the message, and ignores keys without a meaning there.
func (p *messenger) editMessage(s keys.Stroke, pasted bool) {
	switch m := p.Control.Message(); {
	case m == nil:
	case s.Text != "":
		m.Append(printable(s.Text))
	case pasted:
		m.Append(" ") // the end of a row
	case s.Key == "Backspace", s.Key == "Ctrl-H":
		m.DeleteLast()
	case s.Key == "Ctrl-U":
		m.Text = ""
	case s.Key == "Esc", s.Key == "Ctrl-C":
		p.Control.TakeMessage(time.Now())
	case s.Key == "Enter", s.Key == "KP-Enter":
		p.sendMessage(p.Control.TakeMessage(time.Now()))
	}
}

// printable drops characters that could not be seen.
func printable(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) {
			return r
		}
		return -1
	}, text)
}

// sendMessage delivers the message, if it has text.
func (p *messenger) sendMessage(message control.Message) {
	text := strings.TrimSpace(message.Text)
	if text == "" {
		return
	}
	p.deliverNote(message.To, "", text)
	p.Status.ShowText("sent to " + notice.Recipient(message.To.Name) + ": “" + text + "”")
}
