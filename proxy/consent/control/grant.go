package control

import (
	"time"

	"terminalproxy/protocol"
	"terminalproxy/proxy/consent/question"
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

// grant is the control of an agent; zero if none has it.
type grant struct {
	driven  bool
	agent   Agent
	level   protocol.Level
	until   time.Time
	holders []string   // calls that control was given to
	given   Event      // who gave it: By, Policy, Rule and OwnTerminal
	program Foreground // that it is for
	yield   time.Time  // until when the agent is paused
}

// maxKeyGrant returns the longest grant by the key, 0 for no limit.
func (m *situation) maxKeyGrant() time.Duration {
	if m.conf.For == 0 {
		return GrantFor
	}
	return m.userLimit()
}

// userLimit returns the limit that the user set, or 0.
func (m *situation) userLimit() time.Duration { return max(0, m.conf.For) }

// remoteLimit returns the longest grant that a remote owner's decision allows: the time that it
// names, otherwise that of the key.
func (m *situation) remoteLimit(promise RemoteGrant) time.Duration {
	if promise.For > 0 {
		return shorterLimit(promise.For, m.userLimit())
	}
	return m.maxKeyGrant()
}

// offeredLength returns the length of the requested or promised grant. 0 means until it is taken
// back.
func (m *situation) offeredLength() time.Duration {
	switch {
	case m.IsCurrent(question.Menu):
		return m.maxKeyGrant()
	case m.driven:
		return 0
	case m.IsAnnounced():
		r := m.requests[0]
		return shorterLimit(r.For, shorterLimit(r.RuleGrant.For, m.userLimit()))
	case len(m.requests) > 0:
		return shorterLimit(m.requests[0].For, m.maxKeyGrant())
	}
	return m.pregrantFor
}

// giveControl gives a request control for the requested time, but at most for limit (0 is no
// limit). event records who gave it. Other requests wait.
func (m *Machine) giveControl(now time.Time, r *request, limit time.Duration, event Event) {
	m.NoteAgent(r.Agent)
	how := question.Withdrawn
	if event.Rule == "" {
		how = question.Answered
		m.NoteTrust(r.Agent)
	}
	m.dropRequest(r)
	m.Queue.End(now, r.question, how, "")
	for _, o := range m.requests {
		m.Queue.End(now, o.question, question.Withdrawn, "")
	}
	m.epoch++
	m.promise = promise{}
	m.grant = grant{
		driven: true, agent: r.Agent, level: r.Level, given: event, program: m.foreground,
	}
	if event.Rule == "" && !event.Policy && !event.OwnTerminal {
		m.rulesPaused = false
	}
	if length := shorterLimit(r.For, limit); length > 0 {
		m.until = now.Add(length)
	}
	if _, ok := m.absent[r.Agent.ID]; ok {
		m.absent[r.Agent.ID] = now // it has all of AbsentFor to return
	}
	m.updatePrompt(now, false)
	m.reportGranted(r.ids)
}

// reportGranted answers these calls with the control that the agent has.
func (m *situation) reportGranted(requests []string) {
	e := m.given
	e.Granted, e.Requests = true, requests
	e.Agent, e.Level, e.Epoch, e.Until = m.agent, m.level, m.epoch, m.until
	m.events = append(m.events, e)
	if len(m.holders) < maxWaiters {
		m.holders = append(m.holders, requests...)
	}
}

// endGrant ends control, if an agent has it. All ends of control come here; event has the details.
// Requests that waited for it are put to the user.
func (m *Machine) endGrant(now time.Time, event Event) {
	if !m.driven {
		return
	}
	event.Agent, event.Level, event.Epoch = m.agent, m.level, m.epoch
	m.lastEnd = event
	m.events = append(m.events, event)
	m.rulesPaused = m.rulesPaused || event.Reason == protocol.ReasonReclaimed
	m.endHeld(now)
	delete(m.absent, m.agent.ID)
	m.grant, m.forbidden, m.watched = grant{}, "", false
	m.epoch++
	m.updatePrompt(now, false)
	m.NoteEnd(now, event.Agent)
	for _, r := range m.requests {
		m.Add(now, r.question)
	}
}

// SetConnected notes whether an agent has a connection to its gateway. An agent without one loses
// control after AbsentFor: it could not give it back. An agent keeps its own terminal, see
// [Machine.GrantOwnTerminal].
func (m *Machine) SetConnected(now time.Time, agentID string, yes bool) {
	m.Tick(now)
	_, isAbsent := m.absent[agentID]
	isOwner := m.driven && m.agent.ID == agentID && m.given.OwnTerminal
	switch {
	case yes:
		delete(m.absent, agentID)
	case !isAbsent && !isOwner && (m.agent.ID == agentID || m.suspended.Agent.ID == agentID ||
		m.findRequest(agentID) != nil):
		m.absent[agentID] = now
	}
}

// NoteSleep notes that this computer slept for d until shortly before now. The clock does not count
// that time, so the limits of grants, requests, absences and promises end that much earlier.
func (m *Machine) NoteSleep(now time.Time, d time.Duration) {
	limits := []*time.Time{&m.until, &m.pregrantUntil}
	for _, r := range m.requests {
		limits = append(limits, &r.asked)
	}
	// Not t.Add(-d), which would also move the time of day, which people read and which is right
	// already.
	earlier := func(t time.Time) time.Time { return now.Add(t.Sub(now) - d) }
	for _, t := range limits {
		if !t.IsZero() {
			*t = earlier(*t)
		}
	}
	for id, since := range m.absent {
		m.absent[id] = earlier(since)
	}
	m.Tick(now)
}

// HasTimeLimit reports whether an agent has control for a limited time.
func (m *situation) HasTimeLimit() bool { return m.driven && !m.until.IsZero() }

// absentEnd returns when an agent without a connection loses control; zero if it is connected.
func (m *situation) absentEnd(a Agent) time.Time {
	since, ok := m.absent[a.ID]
	if !ok {
		return time.Time{}
	}
	return since.Add(AbsentFor)
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
