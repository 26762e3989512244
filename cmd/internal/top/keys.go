package top

import (
	"context"
	"slices"

	tea "charm.land/bubbletea/v2"

	"terminalproxy/gateway/text"
	"terminalproxy/protocol"
)

// press does what a key means.
func (m *model) press(key string) tea.Cmd {
	if m.asked != nil {
		return m.answer(key)
	}
	m.said = ""
	switch key {
	case "q", "ctrl+c":
		return tea.Quit
	case "up", "k":
		m.move(-1)
	case "down", "j":
		m.move(1)
	case "pgup":
		m.move(-m.page())
	case "pgdown":
		m.move(m.page())
	case "home":
		m.move(-len(m.all))
	case "end":
		m.move(len(m.all))
	case "n", "tab":
		m.next()
	case "enter":
		m.ask()
	case "x", "ctrl+\\":
		return m.take()
	}
	return nil
}

// move moves the cursor.
func (m *model) move(by int) {
	if len(m.all) == 0 {
		return
	}
	at := m.at()
	to := min(max(at+by, 0), len(m.all)-1)
	if to == at && m.all[at].left { // at an end, and it goes
		m.all = slices.Delete(m.all, at, at+1)
		to = min(to, len(m.all)-1)
	}
	if m.chosen = ""; to >= 0 {
		m.chosen = m.all[to].SessionID
	}
	m.sweep()
}

// next goes to the next session in which an agent asks.
func (m *model) next() {
	at := m.at()
	for i := range m.all {
		if r := m.all[(at+1+i)%len(m.all)]; r.asks() {
			m.chosen = r.SessionID
			m.sweep()
			return
		}
	}
	m.said = "no agent asks"
}

// ask opens the question of the chosen session.
func (m *model) ask() {
	r := m.row()
	switch {
	case r == nil || r.left:
	case r.driven():
		m.said = text.Name(r.Keyboard.AgentName) + " has the keyboard: x takes it back"
	case r.asks():
		m.asked = &question{about: r.SessionInfo}
	case r.Chat != nil && r.Chat.Open > 0:
		m.said = "the conversation waits for an answer: gateway chat answer " + r.SessionID
	default:
		m.said = "no agent asks in " + text.Name(r.SessionID)
	}
}

// answer takes a key while a question is open. To give takes y and then Enter, as the command line does: neither is a key that somebody
// presses who only wants to get on.
func (m *model) answer(key string) tea.Cmd {
	q := m.asked
	switch key {
	case "y":
		q.yes = true
	case "enter":
		m.asked = nil
		if !q.yes {
			m.said = "nothing was given: Enter asks again"
			return nil
		}
		m.said = "…"
		return m.decide(m.conf.Give, q.about, text.Name(q.about.Keyboard.Asking)+" has the keyboard of "+text.Name(q.about.SessionID))
	case "n", "esc", "q":
		m.asked, m.said = nil, "nothing was given; the agent still asks: x refuses"
	case "x", "ctrl+\\":
		m.asked = nil
		return m.take()
	case "ctrl+c":
		return tea.Quit
	default:
		q.yes = false
	}
	return nil
}

// take takes the keyboard back, or refuses the question. It takes away only, so it asks nothing.
func (m *model) take() tea.Cmd {
	r := m.row()
	switch {
	case r == nil:
		return nil
	case r.driven():
		return m.decide(m.conf.Take, r.SessionInfo, "taken back: the user has the keyboard of "+text.Name(r.SessionID))
	case r.asks():
		return m.decide(m.conf.Take, r.SessionInfo, "refused: "+text.Name(r.Keyboard.Asking)+" in "+text.Name(r.SessionID))
	}
	m.said = "no agent has the keyboard of " + text.Name(r.SessionID) + ", and none asks"
	return nil
}

// decide carries a decision out beside the keys.
func (m *model) decide(do func(context.Context, protocol.SessionInfo) error, s protocol.SessionInfo, said string) tea.Cmd {
	m.work.Add(1) // Done in the command, which the program always runs
	return func() tea.Msg {
		defer m.work.Done()
		return done{said, do(m.ctx, s)}
	}
}
