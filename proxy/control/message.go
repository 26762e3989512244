package control

import (
	"time"
	"unicode/utf8"

	"terminalproxy/protocol"
)

// MessageMax bounds a message of the user's to an agent, in characters.
const MessageMax = 500

// Message is a message to an agent that the user writes in the proxy's own line. The keys are the message's meanwhile.
type Message struct {
	Open bool
	// To is the agent that it is for: see [Machine.Correspondent].
	To   Agent
	Text string
}

// Note is what an agent, or a person elsewhere, says to the user.
type Note struct {
	ID   string // of the message, "" for none
	Who  string // the proxy's own words for who says it: what stands before it
	Text string // in a form that is safe to show
	From Agent  // who said it, zero for the proxy
	Came time.Time
	// Tell says what becomes of it, once: it is on the screen (""), or waits. It may be nil, and any goroutine may call it.
	Tell func(protocol.Waiting)
}

// Heard is an agent's message that the user had on the screen, and since when; zero for none.
type Heard struct {
	From Agent
	At   time.Time
}

// Compose opens a message: the user pressed its key in the menu. It is the program's key unless the menu has been on the screen
// long enough. heard is the newest message of an agent's.
func (m *Machine) Compose(now time.Time, heard Heard) (took bool) {
	m.Tick(now)
	if m.menu.IsZero() || !m.answerable(now) {
		return false
	}
	m.closeMenu(now)
	m.message = Message{Open: true, To: m.Correspondent(heard)}
	return true
}

// Correspondent is the agent that a message is for: the one whose message the user heard last, unless an agent asked after
// that; else the one that drives or asks, or did last; nobody in particular when there was none yet. That control ends after
// a message makes nobody newer: with the key that opens the menu the user takes it back first.
func (m *Machine) Correspondent(heard Heard) Agent {
	if heard.From.ID != "" && !heard.At.Before(m.asked) {
		return heard.From
	}
	if m.agent == (Agent{}) {
		return m.lastEnd.Agent
	}
	return m.agent
}

// Message is the message that is open, nil for none. It may be changed until the machine is asked anything else.
func (m *Machine) Message() *Message {
	if !m.message.Open {
		return nil
	}
	return &m.message
}

// Append adds text to the message; what is too much is left out.
func (d *Message) Append(text string) {
	room := MessageMax - utf8.RuneCountInString(d.Text)
	for i := range text {
		if room == 0 {
			text = text[:i]
			break
		}
		room--
	}
	d.Text += text
}

// Rub takes the last character of the message away.
func (d *Message) Rub() {
	_, n := utf8.DecodeLastRuneInString(d.Text)
	d.Text = d.Text[:len(d.Text)-n]
}

// TakeMessage closes the message and returns it, to be sent or not. A question that comes up now does so while the user types.
func (m *Machine) TakeMessage(now time.Time) Message {
	d := m.message
	m.message, m.typed = Message{}, now
	return d
}
