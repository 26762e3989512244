package top

import (
	"context"
	"slices"

	"terminalproxy/cmd/internal/tui/fullscreen"

	"terminalproxy/gateway/text"
	"terminalproxy/protocol"
)

// handleKey acts on a key.
func (m *model) handleKey(key string) fullscreen.Cmd {
	if m.asked != nil {
		return m.answerQuestion(key)
	}
	m.status = ""
	switch key {
	case "q", "ctrl+c":
		return fullscreen.Leave
	case "up", "k":
		m.moveCursor(-1)
	case "down", "j":
		m.moveCursor(1)
	case "pgup":
		m.moveCursor(-m.listHeight())
	case "pgdown":
		m.moveCursor(m.listHeight())
	case "home":
		m.moveCursor(-len(m.all))
	case "end":
		m.moveCursor(len(m.all))
	case "n", "tab":
		m.chooseNextQuestion()
	case "enter":
		m.openQuestion()
	case "x", "ctrl+\\":
		return m.takeKeyboard()
	}
	return nil
}

func (m *model) moveCursor(by int) {
	if len(m.all) == 0 {
		return
	}
	at := m.chosenIndex()
	to := min(max(at+by, 0), len(m.all)-1)
	if to == at && m.all[at].left { // at an end, the row that is gone goes
		m.all = slices.Delete(m.all, at, at+1)
		to = min(to, len(m.all)-1)
	}
	if m.chosen = ""; to >= 0 {
		m.chosen = m.all[to].SessionID
	}
	m.removeGone()
}

// chooseNextQuestion goes to the next session in which an agent asks.
func (m *model) chooseNextQuestion() {
	at := m.chosenIndex()
	for i := range m.all {
		if r := m.all[(at+1+i)%len(m.all)]; r.hasQuestion() {
			m.chosen = r.SessionID
			m.removeGone()
			return
		}
	}
	m.status = "no agent asks"
}

// openQuestion opens the question of the chosen session.
func (m *model) openQuestion() {
	r := m.chosenRow()
	switch {
	case r == nil || r.left:
	case r.isDriven():
		m.status = text.Name(r.Keyboard.AgentName) + " has the keyboard: x takes it back"
	case r.hasQuestion():
		m.asked = &question{about: r.SessionInfo}
	case r.Chat != nil && r.Chat.Open > 0:
		m.status = "the conversation waits for an answer: gateway chat answer " + r.SessionID
	default:
		m.status = "no agent asks in " + text.Name(r.SessionID)
	}
}

// answerQuestion handles a key while a question is open. To give takes y and then Enter, as on the
// command line: a hurried person presses neither by habit.
func (m *model) answerQuestion(key string) fullscreen.Cmd {
	q := m.asked
	switch key {
	case "y":
		q.yes = true
	case "enter":
		m.asked = nil
		if !q.yes {
			m.status = "nothing was given: Enter asks again"
			return nil
		}
		m.status = "…"
		return m.runDecision(m.conf.Give, q.about,
			text.Name(q.about.Keyboard.Asking)+" has the keyboard of "+text.Name(q.about.SessionID))
	case "n", "esc", "q":
		m.asked, m.status = nil, "nothing was given; the agent still asks: x refuses"
	case "x", "ctrl+\\":
		m.asked = nil
		return m.takeKeyboard()
	case "ctrl+c":
		return fullscreen.Leave
	default:
		q.yes = false
	}
	return nil
}

// takeKeyboard takes the keyboard back, or refuses the question. It only takes away, so it asks
// nothing.
func (m *model) takeKeyboard() fullscreen.Cmd {
	r := m.chosenRow()
	switch {
	case r == nil:
		return nil
	case r.isDriven():
		return m.runDecision(m.conf.Take, r.SessionInfo,
			"taken back: the user has the keyboard of "+text.Name(r.SessionID))
	case r.hasQuestion():
		return m.runDecision(m.conf.Take, r.SessionInfo,
			"refused: "+text.Name(r.Keyboard.Asking)+" in "+text.Name(r.SessionID))
	}
	m.status = "no agent has the keyboard of " + text.Name(r.SessionID) + ", and no agent asks"
	return nil
}

// runDecision carries a decision out beside the keys.
func (m *model) runDecision(
	do func(context.Context, protocol.SessionInfo) error, s protocol.SessionInfo, said string,
) fullscreen.Cmd {
	m.work.Add(1) // Done in the command, which the program always runs
	return func() fullscreen.Msg {
		defer m.work.Done()
		return done{said, do(m.ctx, s)}
	}
}
