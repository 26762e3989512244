package control

import (
	"errors"
	"time"
)

const (
	// RemoteKeyFor is how long after a remote person's key the reclaim key also stops that person.
	RemoteKeyFor = 3 * time.Second
	// RemoteBlockFor is how long remote people cannot type then.
	RemoteBlockFor = 10 * time.Second
)

// ErrTakenBack is the error of NoteRemoteTyping.
var ErrTakenBack = errors.New(
	"the user at the terminal took the keyboard: see what happens there, and type again in 10 s",
)

// NoteRemoteTyping notes that a person who is not at the session's terminal types: an agent that
// drives pauses as for the user's own keys. That person can neither answer nor close questions on
// the terminal. at is when the key was typed, by a clock that may be some seconds wrong: what was
// typed before the user took the keyboard is rejected, however long it took to arrive.
func (m *Machine) NoteRemoteTyping(now, at time.Time) error {
	m.Tick(now)
	if now.Before(m.remoteBlockedUntil) || at.Before(m.remoteBlockedUntil.Add(-RemoteBlockFor/2)) {
		return ErrTakenBack
	}
	m.lastRemoteKey = now
	if m.driven {
		m.yield = now.Add(m.conf.Yield)
	}
	return nil
}
