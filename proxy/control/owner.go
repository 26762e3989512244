package control

import (
	"errors"
	"fmt"
	"time"

	"terminalproxy/protocol"
)

// RemoteGrant is control as an owner gives it from elsewhere.
type RemoteGrant struct {
	// By is the owner, for people.
	By string
	// Level is the most that is given; "" is what the agent asks for.
	Level protocol.Level
	// For bounds the grant beside what the agent asks for and the session allows; 0 for as long as the key gives.
	For time.Duration
	// Agent is the name of the one that is meant, "" for whoever asks.
	Agent string
	// Epoch is the one that the owner saw, 0 for any.
	Epoch uint64
}

func (g RemoteGrant) isFor(a Agent) bool { return g.Agent == "" || g.Agent == a.Name }

// ErrMoved says that control changed hands after the owner looked.
var ErrMoved = errors.New("control changed hands since the owner looked: look again")

// Give does what an owner elsewhere decided: the agent that asks gets control, or, when none does, the next one that asks
// within PregrantFor. It never takes control from an agent that has it, nor changes that grant.
func (m *Machine) Give(now time.Time, g RemoteGrant) error {
	m.Tick(now)
	switch {
	case g.Epoch != 0 && g.Epoch != m.epoch:
		return ErrMoved
	case m.phase == Granted:
		return fmt.Errorf("%s has the keyboard already: take it back first", m.agent.Name)
	case m.phase == Asked && !g.isFor(m.agent):
		return fmt.Errorf("%s asks, and not %s", m.agent.Name, g.Agent)
	case m.phase == Asked:
		if g.Level != "" && covers(m.level, g.Level) {
			m.level = g.Level
		}
		m.grant(now, m.gives(g), Event{By: g.By})
		return nil
	}
	if g.Level == "" {
		g.Level = protocol.LevelDrive
	}
	m.closeMenu(now)
	m.pregrant, m.remote, m.pregrantUntil, m.pregrantFor = g.Level, g, now.Add(PregrantFor), m.gives(g)
	m.epoch++ // the decision is used: whoever repeats it when the promise is kept, withdrawn or over gives nothing
	return nil
}

// Reclaim takes the keyboard back by another way than its key, on the word of by or, "", of the user at this machine: no
// agent has, asks for, or is promised control when it returns, nor gets it by what an owner decided before. It reports whether there
// was anything to take.
func (m *Machine) Reclaim(now time.Time, by string) bool {
	had := m.phase != Observing || m.pregrant != ""
	m.pregrant, m.remote, m.pregrantUntil = "", RemoteGrant{}, time.Time{}
	m.resting = true
	why := protocol.ReasonReclaimed
	if m.phase == Asked {
		why = protocol.ReasonRefused // as the key would
	}
	if m.phase == Observing {
		m.epoch++ // a decision that is still on its way comes too late
	}
	m.endBy(now, why, by)
	return had
}
