package control

import (
	"time"

	"terminalproxy/protocol"
)

// GrantOwnTerminal gives an agent control of its own terminal, which no user watches, without a
// question. It does nothing if an agent has control or asks for it.
func (m *Machine) GrantOwnTerminal(now time.Time, r Request) {
	m.Tick(now)
	if m.phase != Observing {
		return
	}
	m.agent, m.level, m.reason, m.wanted = r.Agent, r.Level, r.Reason, r.For
	m.waiting = nil
	if r.ID != "" {
		m.waiting = []string{r.ID}
	}
	m.giveControl(now, m.userLimit(), Event{OwnTerminal: true})
}

// SetAttached notes that people attached to a session or that the last one detached. A question
// that the last one leaves open is over.
func (m *Machine) SetAttached(now time.Time, present bool) {
	m.Tick(now)
	m.conf.Keyboard = present
	if present {
		return
	}
	if m.phase == Asked {
		m.endControl(now, protocol.ReasonExpired)
	}
	m.closeMenu(now)
	m.startQuestion(now)
	_ = m.TakeMessage(now) // it stays unfinished
}

// NoteLeft notes that the user leaves the session's terminal, and NoteReturned that they are back.
// In between no one can be asked or sees the input, so only a remote owner can give control.
func (m *Machine) NoteLeft(now time.Time) {
	m.endWithCause(now, protocol.ReasonReclaimed, Left, "")
	m.left = true
	m.SetAttached(now, false)
}

// NoteReturned is described at NoteLeft.
func (m *Machine) NoteReturned(now time.Time) {
	m.left = false
	m.SetAttached(now, true)
}
