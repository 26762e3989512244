package control

import (
	"time"

	"terminalproxy/protocol"
	"terminalproxy/proxy/consent/question"
)

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
// saw, and send gets the text.
func (m *Machine) OpenMessage(
	now time.Time, heard SeenMessage, send func(to Agent, text string),
) (took bool) {
	m.Tick(now)
	if !m.IsCurrent(question.Menu) || !m.IsAnswerable(now) {
		return false
	}
	m.NoteTyped(now)
	m.Open(now, newMessage(m.MessageRecipient(heard), send))
	return true
}

// OpenReply opens a line for an answer to an agent's message on the screen: the user pressed the
// grant key. It opens nothing while the key may be meant for something else.
func (m *Machine) OpenReply(
	now time.Time, heard SeenMessage, send func(to Agent, text string),
) (took bool) {
	m.Tick(now)
	took, answers := m.NoteReplyKey(now, heard.At)
	if answers {
		m.Open(now, newMessage(heard.From, send))
	}
	return took
}

func newMessage(to Agent, send func(to Agent, text string)) *question.Question {
	c := question.New(question.Message, to, func(time.Time, bool) {})
	c.Submit = func(_ time.Time, text []byte) bool {
		send(to, string(text))
		return true
	}
	return c
}

// MessageRecipient returns the agent that a message is for: the one whose message the user saw
// last, unless an agent asked after that. Otherwise it is the agent that drives or asks, or did so
// last; at first it is zero. An end of control after a message does not count: the user ends
// control by the key that opens the menu.
func (m *situation) MessageRecipient(heard SeenMessage) Agent {
	if heard.From.ID != "" && !heard.At.Before(m.asked) {
		return heard.From
	}
	if a := m.Holder(); a != (Agent{}) {
		return a
	}
	return m.lastEnd.Agent
}
