package control

import (
	"time"
	"unicode/utf8"
)

// DraftMax bounds a message of the user's to an agent, in characters.
const DraftMax = 500

// Draft is a message to an agent that the user writes in the proxy's own line. The keys are the message's meanwhile.
type Draft struct {
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

// Write opens a draft: the user pressed its key in the menu. It is the program's key unless the menu has been on the screen
// long enough. heard is the newest message of an agent's.
func (m *Machine) Write(now time.Time, heard Heard) Act {
	m.Tick(now)
	if m.menu.IsZero() || !m.answerable(now) {
		return Pass
	}
	m.closeMenu(now)
	m.draft = Draft{Open: true, To: m.Correspondent(heard)}
	return Take
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

// Drafting reports whether a draft is open.
func (m *Machine) Drafting() bool { return m.draft.Open }

// Append adds text to the draft; what is too much is left out.
func (m *Machine) Append(text string) {
	room := DraftMax - utf8.RuneCountInString(m.draft.Text)
	for i := range text {
		if room == 0 {
			text = text[:i]
			break
		}
		room--
	}
	m.draft.Text += text
}

// Rub takes the last character of the draft away; Wipe takes all.
func (m *Machine) Rub() {
	_, n := utf8.DecodeLastRuneInString(m.draft.Text)
	m.draft.Text = m.draft.Text[:len(m.draft.Text)-n]
}

// Wipe is described with Rub.
func (m *Machine) Wipe() { m.draft.Text = "" }

// TakeDraft closes the draft and returns it, to be sent or not. A question that comes up now does so while the user types.
func (m *Machine) TakeDraft(now time.Time) Draft {
	d := m.draft
	m.draft, m.typed = Draft{}, now
	return d
}
