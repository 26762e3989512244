package control

import (
	"time"

	"terminalproxy/protocol"
)

// Tick ends grants, requests, menus and confirmations whose time has run out, and gives announced
// control.
func (m *Machine) Tick(now time.Time) {
	m.latest = now
	switch {
	case m.phase == Granted && !m.until.IsZero() && !now.Before(m.until):
		m.endControl(now, protocol.ReasonExpired)
	case m.phase == Asked && !now.Before(m.asked.Add(AskFor)):
		m.endControl(now, protocol.ReasonExpired)
	case m.phase != Observing && m.isAbsentTooLong(now):
		m.endControl(now, protocol.ReasonLink)
	case !m.announceEnd().IsZero() && now.Sub(m.announceEnd()) > maxLate:
		m.startQuestion(now)
	case !m.announceEnd().IsZero() && !now.Before(m.announceEnd()):
		m.giveAnnounced(now)
	case !m.menu.IsZero() && !now.Before(m.menu.Add(MenuFor)):
		m.closeMenu(now)
	case m.pregrant != "" && !m.pregrantUntil.IsZero() && !now.Before(m.pregrantUntil):
		m.pregrant, m.remote, m.pregrantUntil = "", RemoteGrant{}, time.Time{}
	case m.isConfirming() && !now.Before(m.pending.Until):
		m.endConfirmation(now, false)
	}
}

// NextTick returns the next moment at which Tick has something to do; false means that only an
// event from outside changes anything.
func (g *grant) NextTick(now time.Time) (time.Time, bool) {
	var next time.Time
	for _, t := range []time.Time{
		g.grantEnd(), g.announceEnd(), g.absentEnd(), g.menuEnd(), g.pregrantEnd(),
		g.yieldEnd(now), g.pending.Until,
	} {
		if !t.IsZero() && (next.IsZero() || t.Before(next)) {
			next = t
		}
	}
	return next, !next.IsZero()
}

func (g *grant) grantEnd() time.Time {
	if g.phase == Asked {
		return g.asked.Add(AskFor)
	}
	return g.until
}

func (q *question) menuEnd() time.Time {
	if q.menu.IsZero() {
		return time.Time{}
	}
	return q.menu.Add(MenuFor)
}

func (g *grant) pregrantEnd() time.Time {
	if g.pregrant == "" {
		return time.Time{}
	}
	return g.pregrantUntil
}

// yieldEnd returns when the pause for the user's typing ends, or zero. The end is shown on the
// user's screen.
func (g *grant) yieldEnd(now time.Time) time.Time {
	if !now.Before(g.yield) {
		return time.Time{}
	}
	return g.yield
}

func laterOf(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}
