package control

import (
	"errors"
	"time"
)

const (
	// ElsewhereFor is how long after a remote person's key the reclaim key also applies to that
	// person.
	ElsewhereFor = 3 * time.Second
	// AloneFor is how long remote people cannot type after that.
	AloneFor = 10 * time.Second
)

// ErrAlone is the error of NoteRemoteTyping.
var ErrAlone = errors.New(
	"the user at the terminal took the keyboard: see what happens there, and type again in 10 s",
)

// NoteRemoteTyping notes that a person types who is not at the session's terminal: an agent that
// drives pauses as for the user's own keys. That person can neither answer nor close questions on
// the terminal. at is when the key was typed, by a clock that may be some seconds wrong: what was
// typed before the user took the keyboard is rejected, however long it took to arrive.
func (m *Machine) NoteRemoteTyping(now, at time.Time) error {
	m.Tick(now)
	if now.Before(m.alone) || at.Before(m.alone.Add(-AloneFor/2)) {
		return ErrAlone
	}
	m.elsewhere = now
	if m.phase == Granted {
		m.yield = now.Add(m.conf.Yield)
	}
	return nil
}

// pauseRemoteTyping stops remote people who type for a while: the user pressed the reclaim key.
func (m *Machine) pauseRemoteTyping(now time.Time) {
	if isWithin(now, m.elsewhere, ElsewhereFor) {
		m.alone = now.Add(AloneFor)
	}
}
