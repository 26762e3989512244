package control

import (
	"time"

	"terminalproxy/protocol"
)

// How long control lasts.
const (
	// GrantFor is how long the key gives control for, unless the agent asks for less or the user says otherwise.
	GrantFor = 10 * time.Minute
	// Unlimited, as [Config.For], is the user's word that a grant lasts until it is taken back.
	Unlimited time.Duration = -1
	// AbsentFor is how long an agent may have no connection before it loses control, or its request is withdrawn.
	AbsentFor = 2 * time.Minute
)

// most is the longest grant by the key, 0 for no limit.
func (m *Machine) most() time.Duration {
	if m.conf.For == 0 {
		return GrantFor
	}
	return m.said()
}

// said is the limit that the user set, 0 for none.
func (m *Machine) said() time.Duration { return max(0, m.conf.For) }

// gives is the longest grant that an owner's word allows: the time that it names, else that of the key.
func (m *Machine) gives(g RemoteGrant) time.Duration {
	if g.For > 0 {
		return shortest(g.For, m.said())
	}
	return m.most()
}

// lasts is how long the grant would last that is asked for, or promised, 0 for until it is taken back.
func (m *Machine) lasts() time.Duration {
	switch {
	case m.Announced():
		return shortest(m.wanted, shortest(m.ahead.For, m.said()))
	case m.phase == Asked:
		return shortest(m.wanted, m.most())
	case m.phase == Observing && m.pregrant != "":
		return m.pregrantFor
	case m.phase == Observing && !m.menu.IsZero():
		return m.most()
	}
	return 0
}

// grant gives control to m.agent at m.level, for as long as it wants and for most at the most, 0 for no limit; how says on whose
// word.
func (m *Machine) grant(now time.Time, most time.Duration, how Event) {
	m.phase, m.epoch, m.program = Granted, m.epoch+1, m.front
	m.pregrant, m.remote, m.yield = "", RemoteGrant{}, time.Time{}
	m.until, m.given, m.ahead, m.from = time.Time{}, how, Ahead{}, ""
	if how.Rule == "" && !how.Policy && !how.Own {
		m.resting = false
	}
	if length := shortest(m.wanted, most); length > 0 {
		m.until = now.Add(length)
	}
	if !m.absent.IsZero() {
		m.absent = now // it gets the whole time to come back for what it was given
	}
	if how.Rule == "" {
		m.manners.trusted(m.agent)
	}
	m.closeMenu(now)
	m.over(now, m.agent.ID, how.By == "" && how.Rule == "")
	m.ask(now) // or none, but not this one any more
	m.granted(m.waiting)
	m.waiting = nil
}

// granted tells those who made these requests of the control that the agent has.
func (m *Machine) granted(requests []string) {
	e := m.given
	e.Granted, e.Requests, e.Agent, e.Level, e.Epoch, e.Until = true, requests, m.agent, m.level, m.epoch, m.until
	m.events = append(m.events, e)
	if len(m.holders) < maxWaiters {
		m.holders = append(m.holders, requests...)
	}
}

// Connected tells the machine that an agent has a connection to its gateway, or none any more. One without loses control
// after AbsentFor: nobody may be there to give it back. An agent keeps its own terminal, see [Machine.Own].
func (m *Machine) Connected(now time.Time, agentID string, yes bool) {
	m.Tick(now)
	switch {
	case m.phase == Observing || m.agent.ID != agentID || m.given.Own:
	case yes:
		m.absent = time.Time{}
	case m.absent.IsZero():
		m.absent = now
	}
}

// Slept tells the machine that this computer slept for d until shortly before now, which the clock that counts from one now
// to the next leaves out: what ends with time ends that much earlier.
func (m *Machine) Slept(now time.Time, d time.Duration) {
	for _, t := range []*time.Time{&m.until, &m.asked, &m.absent, &m.pregrantUntil} {
		if !t.IsZero() {
			*t = now.Add(t.Sub(now) - d) // not t less d: its time of day, which people read, is right as it is
		}
	}
	m.Tick(now)
}

// Limited reports whether an agent has control for a time only.
func (m *Machine) Limited() bool { return m.phase == Granted && !m.until.IsZero() }

// gone reports whether the agent has had no connection for AbsentFor.
func (m *Machine) gone(now time.Time) bool { return !m.absent.IsZero() && !now.Before(m.absentEnd()) }

// absentEnd is when an agent without a connection loses control, zero for one that has one.
func (m *Machine) absentEnd() time.Time {
	if m.absent.IsZero() {
		return time.Time{}
	}
	return m.absent.Add(AbsentFor)
}

// shortest is the shorter of two limits of which 0 is none.
func shortest(a, b time.Duration) time.Duration {
	if a == 0 || (b != 0 && b < a) {
		return b
	}
	return a
}

// covers reports whether a grant of level l allows all that one of level other does; "" is the level of no grant.
func covers(l, other protocol.Level) bool {
	return l == other || other == "" || l == protocol.LevelDrive && other == protocol.LevelType
}
