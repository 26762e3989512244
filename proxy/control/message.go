package control

import (
	"time"
	"unicode/utf8"
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

// Heard is an agent's message that the user had on the screen, and since when; zero for none.
type Heard struct {
	From Agent
	At   time.Time
}

// Write opens a message: the user pressed its key in the menu. It is the program's key unless the menu has been on the screen
// long enough. heard is the newest message of an agent's.
func (m *Machine) Write(now time.Time, heard Heard) (took bool) {
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

// Composing reports whether a message is open.
func (m *Machine) Composing() bool { return m.message.Open }

// Append adds text to the message; what is too much is left out.
func (m *Machine) Append(text string) {
	room := MessageMax - utf8.RuneCountInString(m.message.Text)
	for i := range text {
		if room == 0 {
			text = text[:i]
			break
		}
		room--
	}
	m.message.Text += text
}

// Rub takes the last character of the message away; Wipe takes all.
func (m *Machine) Rub() {
	_, n := utf8.DecodeLastRuneInString(m.message.Text)
	m.message.Text = m.message.Text[:len(m.message.Text)-n]
}

// Wipe is described with Rub.
func (m *Machine) Wipe() { m.message.Text = "" }

// TakeMessage closes the message and returns it, to be sent or not. A question that comes up now does so while the user types.
func (m *Machine) TakeMessage(now time.Time) Message {
	d := m.message
	m.message, m.typed = Message{}, now
	return d
}
