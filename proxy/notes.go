package proxy

import (
	"bytes"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode"

	"terminalproxy/proxy/control"
	"terminalproxy/proxy/keys"
	"terminalproxy/proxy/notice"
	"terminalproxy/proxy/overlay"
)

// lettersKept bounds what is kept for agents that do not ask.
const lettersKept = 16

// mailbox keeps what the user wrote to agents until they come for it. It may be used from any goroutine.
type mailbox struct {
	mu      sync.Mutex
	letters []letter
}

type letter struct {
	to   string // id of the agent, "" for the first that comes
	text string
}

func (b *mailbox) put(to, text string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.letters = append(b.letters, letter{to, text})
	if len(b.letters) > lettersKept {
		b.letters = b.letters[1:]
	}
}

// waits reports whether there is something for an agent.
func (b *mailbox) waits(agentID string) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.ContainsFunc(b.letters, func(l letter) bool { return l.isFor(agentID) })
}

// take is what an agent has not had yet, oldest first. One agent gets a letter, once.
func (b *mailbox) take(agentID string) (texts []string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.letters = slices.DeleteFunc(b.letters, func(l letter) bool {
		if l.isFor(agentID) {
			texts = append(texts, l.text)
			return true
		}
		return false
	})
	return texts
}

// isFor reports whether an agent gets the letter: who has no id gets none.
func (l letter) isFor(agentID string) bool {
	return agentID != "" && (l.to == "" || l.to == agentID)
}

// compose is asked about every unit that the user typed: m in the menu begins a message to the agent, and then the keys are
// the message's. It returns what is left for the program. It belongs to the pump's goroutine.
func (d *desk) compose(u keys.Unit) (rest []byte, took bool) {
	a := d.s.authority
	if !a.Drafting() {
		return nil, u.Kind == keys.Key && says(u.Bytes, "m") && a.Write(time.Now(), d.s.status.Heard()) == control.Take
	}
	switch u.Kind {
	case keys.Key, keys.Paste:
	case keys.Reclaim: // closes the draft, also from within a paste
		if d.s.detector.InPaste() {
			a.TakeDraft(time.Now())
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
	keys.Strokes(line, func(s keys.Stroke) { d.edit(s, u.Kind == keys.Paste) })
	return rest, true
}

// says reports whether a unit types exactly text.
func says(unit []byte, text string) bool {
	ok := false
	n := 0
	keys.Strokes(unit, func(s keys.Stroke) { n++; ok = s.Text == text })
	return ok && n == 1
}

// edit does to the draft what a key says. Keys that mean nothing there do nothing.
func (d *desk) edit(s keys.Stroke, pasted bool) {
	a := d.s.authority
	switch {
	case !a.Drafting():
	case s.Text != "":
		a.Append(printable(s.Text))
	case pasted:
		a.Append(" ") // the end of a line
	case s.Key == "Backspace", s.Key == "Ctrl-H":
		a.Rub()
	case s.Key == "Ctrl-U":
		a.Wipe()
	case s.Key == "Esc", s.Key == "Ctrl-C":
		a.TakeDraft(time.Now())
	case s.Key == "Enter", s.Key == "KP-Enter":
		d.send(a.TakeDraft(time.Now()))
	}
}

// printable is text without what could not be seen.
func printable(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) {
			return r
		}
		return -1
	}, text)
}

// send leaves a message for the agent.
func (d *desk) send(draft control.Draft) {
	text := strings.TrimSpace(draft.Text)
	if text == "" {
		return
	}
	d.tell(draft.To, "", text)
	d.s.status.Say("sent to "+notice.Recipient(draft.To.Name)+": “"+text+"”", overlay.TellFor)
}
