package control

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"time"

	"terminalproxy/protocol"
)

// RemoteGrant is a remote owner's decision to give control.
type RemoteGrant struct {
	// By is the owner, for people.
	By string
	// Level is the highest level given; "" means what the agent asks for.
	Level protocol.Level
	// For is a further limit of the grant, besides the agent's request and the session's setting; 0
	// means the limit of the grant key.
	For time.Duration
	// Agent is the name of the agent that it is for, or "" for any.
	Agent string
	// Epoch is the epoch that the owner saw, 0 for any.
	Epoch uint64
}

func (g RemoteGrant) isFor(a Agent) bool { return g.Agent == "" || g.Agent == a.Name }

// ErrMoved reports that control changed hands after the owner looked.
var ErrMoved = errors.New("control changed hands since the owner looked: look again")

// GrantFromOwner carries out a remote owner's decision: the agent that asks gets control, or else
// the next one that asks within PregrantFor. It never takes control from an agent that has it, nor
// changes that grant.
func (m *Machine) GrantFromOwner(now time.Time, g RemoteGrant) error {
	m.Tick(now)
	r := m.findRequestWhere(func(r *request) bool { return g.isFor(r.Agent) })
	switch {
	case g.Epoch != 0 && g.Epoch != m.epoch:
		return ErrMoved
	case m.driven:
		return fmt.Errorf("%s has the keyboard already: take it back first", m.agent.Name)
	case r != nil:
		if g.Level != "" && coversLevel(r.Level, g.Level) {
			r.Level = g.Level
		}
		m.giveControl(now, r, m.remoteLimit(g), Event{By: g.By})
		return nil
	case len(m.requests) > 0:
		return fmt.Errorf("%s asks, and not %s", m.requests[0].Agent.Name, g.Agent)
	}
	m.CloseMenu(now)
	m.promise = promise{
		pregrant:      cmp.Or(g.Level, protocol.LevelDrive),
		pregrantUntil: now.Add(PregrantFor),
		pregrantFor:   m.remoteLimit(g),
		remote:        g,
	}
	m.remote.Level = m.pregrant
	// invalidates the decision, which must not give control again after the promise expires
	m.epoch++
	return nil
}

// Reclaim takes the keyboard back without its key, for the owner by, or for the user at this
// machine if by is "". When it returns, no agent has control, asks for it, has a promise of it, or
// can get it by an owner's earlier decision. It reports whether there was anything to reclaim.
func (m *Machine) Reclaim(now time.Time, by string) bool {
	had := m.IsSought() || m.pregrant != ""
	m.promise, m.rulesPaused = promise{}, true
	if !m.IsSought() {
		m.epoch++ // invalidates decisions that have not arrived yet
	}
	for _, r := range slices.Clone(m.requests) { // as the key would
		m.endRequest(now, r, Event{Reason: protocol.ReasonRefused, By: by})
	}
	m.endGrant(now, Event{Reason: protocol.ReasonReclaimed, By: by})
	return had
}
