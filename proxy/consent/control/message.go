package control

import (
	"time"
	"unicode/utf8"

	"terminalproxy/protocol"
)

// MaxMessage bounds a message of the user to an agent, in characters.
const MaxMessage = 500

// Message is a message to an agent that the user writes in the proxy's own line. Meanwhile the
// user's keys edit it.
type Message struct {
	Open bool
	// To is its recipient: see [Machine.MessageRecipient].
	To   Agent
	Text string
}

// Note is a message of an agent, or of a remote person, to the user.
type Note struct {
	ID         string // of the message, or ""
	Sender     string // the sender as the proxy shows it before the text
	Text       string // safe to show
	From       Agent  // its sender, zero for the proxy
	ReceivedAt time.Time
	// Report is called once, when the note is on the screen (""), or when it has to wait. It may be
	// nil, and may be called on any goroutine.
	Report func(protocol.Waiting)
}

// SeenMessage tells whose message the user had on the screen, and since when. It may be zero.
type SeenMessage struct {
	From Agent
	At   time.Time
}

// OpenMessage opens a message: the user pressed its key in the menu. The key is the program's
// unless the menu has been on the screen long enough. heard is the newest message that the user
// saw.
func (m *Machine) OpenMessage(now time.Time, heard SeenMessage) (took bool) {
	m.Tick(now)
	if m.menu.IsZero() || !m.isAnswerable(now) {
		return false
	}
	m.closeMenu(now)
	m.message = Message{Open: true, To: m.MessageRecipient(heard)}
	return true
}

// MessageRecipient returns the agent that a message is for: the one whose message the user saw
// last, unless an agent asked after that. Otherwise it is the agent that drives or asks, or did so
// last; at first it is zero. An end of control after a message does not count: the user ends
// control by the key that opens the menu.
func (g *grant) MessageRecipient(heard SeenMessage) Agent {
	if heard.From.ID != "" && !heard.At.Before(g.asked) {
		return heard.From
	}
	if g.agent == (Agent{}) {
		return g.lastEnd.Agent
	}
	return g.agent
}

// NoteOwnTyping notes that the user types something for the proxy itself: a question that comes now
// is unexpected.
func (m *Machine) NoteOwnTyping(now time.Time) { m.typed = now }

// Message returns the open message, or nil. It may be changed until the next call to the machine.
func (q *question) Message() *Message {
	if !q.message.Open {
		return nil
	}
	return &q.message
}

// Append adds text to the message, up to its limit.
func (d *Message) Append(text string) {
	room := MaxMessage - utf8.RuneCountInString(d.Text)
	for i := range text {
		if room == 0 {
			text = text[:i]
			break
		}
		room--
	}
	d.Text += text
}

// DeleteLast removes the last character of the message.
func (d *Message) DeleteLast() {
	_, n := utf8.DecodeLastRuneInString(d.Text)
	d.Text = d.Text[:len(d.Text)-n]
}

// TakeMessage closes the message and returns it, to be sent or not. It counts as typing for a
// question that comes now.
func (q *question) TakeMessage(now time.Time) Message {
	d := q.message
	q.message, q.typed = Message{}, now
	return d
}
