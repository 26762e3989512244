package control

import (
	"time"

	"terminalproxy/protocol"
)

// Tick does what time does: grants, requests and menus end.
func (m *Machine) Tick(now time.Time) {
	m.latest = now
	switch {
	case m.phase == Granted && !m.until.IsZero() && !now.Before(m.until):
		m.end(now, protocol.ReasonExpired)
	case m.phase == Asked && !now.Before(m.asked.Add(AskFor)):
		m.end(now, protocol.ReasonExpired)
	case m.phase != Observing && m.gone(now):
		m.end(now, protocol.ReasonLink)
	case !m.announceEnd().IsZero() && now.Sub(m.announceEnd()) > lateMost:
		m.ask(now)
	case !m.announceEnd().IsZero() && !now.Before(m.announceEnd()):
		m.redeem(now)
	case !m.menu.IsZero() && !now.Before(m.menu.Add(MenuFor)):
		m.closeMenu(now)
	case m.pregrant != "" && !m.pregrantUntil.IsZero() && !now.Before(m.pregrantUntil):
		m.pregrant, m.remote, m.pregrantUntil = "", RemoteGrant{}, time.Time{}
	case m.confirming() && !now.Before(m.pending.Until):
		m.decide(now, false)
	}
}

// Next is the next moment at which Tick has something to do; false when only an event from outside changes anything.
func (m *Machine) Next(now time.Time) (time.Time, bool) {
	var next time.Time
	for _, t := range []time.Time{m.grantEnd(), m.announceEnd(), m.absentEnd(), m.menuEnd(), m.pregrantEnd(), m.yieldEnd(now), m.pending.Until} {
		if !t.IsZero() && (next.IsZero() || t.Before(next)) {
			next = t
		}
	}
	return next, !next.IsZero()
}

func (m *Machine) grantEnd() time.Time {
	if m.phase == Asked {
		return m.asked.Add(AskFor)
	}
	return m.until
}

func (m *Machine) menuEnd() time.Time {
	if m.menu.IsZero() {
		return time.Time{}
	}
	return m.menu.Add(MenuFor)
}

func (m *Machine) pregrantEnd() time.Time {
	if m.pregrant == "" {
		return time.Time{}
	}
	return m.pregrantUntil
}

// yieldEnd is when the pause ends, zero when there is none: somebody shows that the agent goes on.
func (m *Machine) yieldEnd(now time.Time) time.Time {
	if !now.Before(m.yield) {
		return time.Time{}
	}
	return m.yield
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}
