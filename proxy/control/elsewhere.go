package control

import (
	"errors"
	"time"
)

const (
	// ElsewhereFor is how long after a key of a person elsewhere the reclaim key is meant for them, too.
	ElsewhereFor = 3 * time.Second
	// AloneFor is how long nobody elsewhere types then.
	AloneFor = 10 * time.Second
)

// ErrAlone is the error of Elsewhere.
var ErrAlone = errors.New("the user at the terminal took the keyboard: look what happens there, and type again in 10 s")

// Elsewhere tells the machine that a person types who does not sit at the session's terminal: an agent that drives pauses as for the
// user's own keys. Questions on the terminal are not theirs to answer, or to close. What was typed at a time before the user took the
// keyboard, by a clock that may be some seconds wrong, comes too late however long it was on its way.
func (m *Machine) Elsewhere(now, at time.Time) error {
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

// shutOut keeps people elsewhere from typing for a while, if they do: the user pressed the reclaim key.
func (m *Machine) shutOut(now time.Time) {
	if within(now, m.elsewhere, ElsewhereFor) {
		m.alone = now.Add(AloneFor)
	}
}
