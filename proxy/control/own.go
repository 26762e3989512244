package control

import (
	"time"

	"terminalproxy/protocol"
)

// Own gives an agent control without a question: in a terminal of the agent's own, which no user watches. It does nothing
// while somebody has control or asks for it.
func (m *Machine) Own(now time.Time, r Request) {
	m.Tick(now)
	if m.phase != Observing {
		return
	}
	m.agent, m.level, m.reason, m.wanted = r.Agent, r.Level, r.Reason, r.For
	m.waiting = nil
	if r.ID != "" {
		m.waiting = []string{r.ID}
	}
	m.grant(now, m.said(), Event{Own: true})
}

// SetAttached says whether a person is there to ask, where that changes: people attach to a session and detach. A question that
// the last one leaves open is over.
func (m *Machine) SetAttached(now time.Time, present bool) {
	m.Tick(now)
	m.conf.Keyboard = present
	if present {
		return
	}
	if m.phase == Asked {
		m.end(now, protocol.ReasonExpired)
	}
	m.closeMenu(now)
	m.ask(now)
	_ = m.TakeMessage(now) // nobody writes it to its end
}

// Leave says that the user leaves the session's terminal, and Return that they are back. In between nobody can be asked or sees what is
// typed: nothing is given, but by an owner elsewhere.
func (m *Machine) Leave(now time.Time) {
	m.endSince(now, protocol.ReasonReclaimed, Left, "")
	m.left = true
	m.SetAttached(now, false)
}

// Return is described with Leave.
func (m *Machine) Return(now time.Time) {
	m.left = false
	m.SetAttached(now, true)
}
