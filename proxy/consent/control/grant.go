package control

import (
	"time"

	"terminalproxy/protocol"
)

// Limits of the length of control.
const (
	// GrantFor is the length of a grant by the key, unless the agent asks for less or the user sets
	// another.
	GrantFor = 10 * time.Minute
	// Unlimited, as [Config.For], means that a grant lasts until it is taken back.
	Unlimited time.Duration = -1
	// AbsentFor is how long an agent may have no connection before it loses control, or its request
	// is withdrawn.
	AbsentFor = 2 * time.Minute
)

// maxKeyGrant returns the longest grant by the key, 0 for no limit.
func (g *grant) maxKeyGrant() time.Duration {
	if g.conf.For == 0 {
		return GrantFor
	}
	return g.userLimit()
}

// userLimit returns the limit that the user set, or 0.
func (g *grant) userLimit() time.Duration { return max(0, g.conf.For) }

// remoteLimit returns the longest grant that a remote owner's decision allows: the time that it
// names, otherwise that of the key.
func (g *grant) remoteLimit(promise RemoteGrant) time.Duration {
	if promise.For > 0 {
		return shorterLimit(promise.For, g.userLimit())
	}
	return g.maxKeyGrant()
}

// offeredLength returns the length of the requested or promised grant. 0 means until it is taken
// back.
func (g *grant) offeredLength() time.Duration {
	switch {
	case g.IsAnnounced():
		return shorterLimit(g.wanted, shorterLimit(g.ruleGrant.For, g.userLimit()))
	case g.phase == Asked:
		return shorterLimit(g.wanted, g.maxKeyGrant())
	case g.phase == Observing && g.pregrant != "":
		return g.pregrantFor
	case g.phase == Observing && !g.menu.IsZero():
		return g.maxKeyGrant()
	}
	return 0
}

// giveControl gives control to m.agent at m.level, for the requested time but at most for limit (0
// is no limit). event records who gave it.
func (m *Machine) giveControl(now time.Time, limit time.Duration, event Event) {
	m.phase, m.epoch, m.program = Granted, m.epoch+1, m.foreground
	m.pregrant, m.remote, m.yield = "", RemoteGrant{}, time.Time{}
	m.until, m.given, m.ruleGrant, m.askingProgram = time.Time{}, event, RuleGrant{}, ""
	if event.Rule == "" && !event.Policy && !event.OwnTerminal {
		m.rulesPaused = false
	}
	if length := shorterLimit(m.wanted, limit); length > 0 {
		m.until = now.Add(length)
	}
	if !m.absent.IsZero() {
		m.absent = now // an agent without a connection has all of AbsentFor to return
	}
	if event.Rule == "" {
		m.noteTrust(m.agent)
	}
	m.closeMenu(now)
	m.endQuestion(now, m.agent.ID, event.By == "" && event.Rule == "")
	m.startQuestion(now) // ends this question
	m.reportGranted(m.waiting)
	m.waiting = nil
}

// reportGranted answers these requests with the control that the agent has.
func (g *grant) reportGranted(requests []string) {
	e := g.given
	e.Granted, e.Requests = true, requests
	e.Agent, e.Level, e.Epoch, e.Until = g.agent, g.level, g.epoch, g.until
	g.events = append(g.events, e)
	if len(g.holders) < maxWaiters {
		g.holders = append(g.holders, requests...)
	}
}

// SetConnected notes whether an agent has a connection to its gateway. An agent without one loses
// control after AbsentFor: it could not give it back. An agent keeps its own terminal, see
// [Machine.GrantOwnTerminal].
func (m *Machine) SetConnected(now time.Time, agentID string, yes bool) {
	m.Tick(now)
	switch {
	case m.phase == Observing || m.agent.ID != agentID || m.given.OwnTerminal:
	case yes:
		m.absent = time.Time{}
	case m.absent.IsZero():
		m.absent = now
	}
}

// NoteSleep notes that this computer slept for d until shortly before now. The clock does not count
// that time, so the limits of grants, requests, absences and promises end that much earlier.
func (m *Machine) NoteSleep(now time.Time, d time.Duration) {
	for _, t := range []*time.Time{&m.until, &m.asked, &m.absent, &m.pregrantUntil} {
		if !t.IsZero() {
			// Not t.Add(-d), which would also move the time of day, which people read and which is
			// right already.
			*t = now.Add(t.Sub(now) - d)
		}
	}
	m.Tick(now)
}

// HasTimeLimit reports whether an agent has control for a limited time.
func (g *grant) HasTimeLimit() bool { return g.phase == Granted && !g.until.IsZero() }

// isAbsentTooLong reports whether the agent has had no connection for AbsentFor.
func (g *grant) isAbsentTooLong(now time.Time) bool {
	return !g.absent.IsZero() && !now.Before(g.absentEnd())
}

// absentEnd returns when an agent without a connection loses control; zero if it is connected.
func (g *grant) absentEnd() time.Time {
	if g.absent.IsZero() {
		return time.Time{}
	}
	return g.absent.Add(AbsentFor)
}

// shorterLimit returns the shorter of two limits, 0 being no limit.
func shorterLimit(a, b time.Duration) time.Duration {
	if a == 0 || (b != 0 && b < a) {
		return b
	}
	return a
}

// coversLevel reports whether a grant of level l allows all that one of level other does; "" is the
// level without a grant.
func coversLevel(l, other protocol.Level) bool {
	return l == other || other == "" || l == protocol.LevelDrive && other == protocol.LevelType
}
