// Package control decides who may type: the user always, an agent while the user's grant lasts. It
// is a state machine without I/O and without its own clock. The one goroutine that writes to the
// program asks it before every piece of agent input and tells it every key of the user, so its
// answers are in program order with both. What it asks the user waits in a [question.Queue], among
// the questions of others.
package control

import (
	"errors"
	"slices"
	"time"

	"terminalproxy/protocol"
	"terminalproxy/proxy/consent/question"
)

// Times of the machine.
const (
	// AskFor is how long a request stays open.
	AskFor = 10 * time.Minute
	// PregrantFor is how long the menu's offer to the next agent that asks stays valid.
	PregrantFor = 2 * time.Minute
)

// Phase summarises the state of control.
type Phase uint8

// The phases.
const (
	Observing Phase = iota // agents may look
	Asked                  // an agent waits for the user's answer
	Granted                // an agent may type
)

// Errors of Request and CheckInput.
var (
	ErrBusy   = errors.New("another agent has the keyboard or is asking for it")
	ErrNobody = errors.New("no person is there to answer: the session has no keyboard")
	ErrLeft   = errors.New(
		"no person is there to answer: the user has left this terminal, which goes on without a " +
			"window; they come back to it with gateway attach",
	)
	ErrNoGrant = errors.New("no grant")
	ErrStale   = errors.New("the grant ended: the epoch is an old one")
)

// Agent identifies an agent.
type Agent = question.Agent

// Config holds the user's settings for the session.
type Config struct {
	Yield    time.Duration  // an agent pauses this long after a user's key
	Pregrant protocol.Level // given to the first agent that asks, without a question
	// For is the longest grant. 0 means GrantFor for the key and no limit for Pregrant; Unlimited
	// means no limit.
	For      time.Duration
	Keyboard bool // a user can be asked
	// OneProgram binds every grant to the program that has the terminal when it is given: see
	// SetForeground.
	OneProgram bool
}

// Machine is the state machine. One goroutine owns it.
type Machine struct{ situation }

// situation is what a machine knows. It answers questions about that; what changes control is in
// the machine.
type situation struct {
	question.Queue
	conf  Config
	epoch uint64
	grant
	held
	secrecy
	promise
	requests []*request // that wait for the user, in the order in which they came
	asked    time.Time  // when an agent asked last
	// absent holds the agents that have no connection, and since when.
	absent map[string]time.Time

	rulesPaused bool       // rules may not give control
	forbidden   string     // the rule that keeps the agent out of the foreground program
	watched     bool       // rules may keep it out of the next foreground program
	foreground  Foreground // the last known foreground program
	events      []Event
	lastEnd     Event
	suspended   Request   // of the agent that a suspension stopped, or zero
	latest      time.Time // the last now that the machine was given
	left        bool      // the user has left the terminal

	lastMute Mute // the last muting or unmuting
	// lastRemoteKey is the time of a remote person's last key. Until remoteBlockedUntil, all are
	// rejected.
	lastRemoteKey, remoteBlockedUntil time.Time
}

// promise is the control that the next agent that asks gets without a question.
type promise struct {
	pregrant      protocol.Level // "" without a promise
	pregrantUntil time.Time      // zero: no limit
	pregrantFor   time.Duration  // longest grant from it, 0 for no limit
	remote        RemoteGrant    // the remote owner behind it, or zero
}

// New returns a machine in the observing phase.
func New(conf Config) *Machine {
	m := &Machine{situation{
		conf: conf, epoch: 1, promise: promise{pregrant: conf.Pregrant},
		absent: make(map[string]time.Time),
	}}
	m.pregrantFor = m.userLimit()
	return m
}

// Epoch returns the number that input must carry now. Every change of control increases it and it
// is never reused: input still on its way when control ended must not match a later grant.
func (m *situation) Epoch() uint64 { return m.epoch }

// LastEnd returns how the newest control or request ended, for an agent that asks why it has no
// control. It is zero before the first.
func (m *situation) LastEnd() Event { return m.lastEnd }

// Phase returns the present phase.
func (m *situation) Phase() Phase {
	switch {
	case m.driven:
		return Granted
	case len(m.requests) > 0:
		return Asked
	}
	return Observing
}

// IsDriven reports whether an agent has control, and IsSought whether one has it or asks for it.
func (m *situation) IsDriven() bool { return m.driven }

// IsSought is described at IsDriven.
func (m *situation) IsSought() bool { return m.Phase() != Observing }

// Holder returns the agent that has control, or asks for it.
func (m *situation) Holder() Agent {
	if !m.driven && len(m.requests) > 0 {
		return m.requests[0].Agent
	}
	return m.agent
}

// TakeEvents returns the events since the last call.
func (m *situation) TakeEvents() []Event {
	events := m.events
	m.events = nil
	return events
}

// Release ends the control or the request of one agent. It reports whether the agent had either.
func (m *Machine) Release(now time.Time, agentID string, reason protocol.Reason) bool {
	if m.driven && m.agent.ID == agentID {
		m.endGrant(now, Event{Reason: reason})
		return true
	}
	if m.suspended.Agent.ID == agentID {
		m.suspended = Request{}
	}
	r := m.findRequest(agentID)
	if r != nil {
		m.endRequest(now, r, Event{Reason: reason})
	}
	return r != nil
}

// End ends control and the open requests.
func (m *Machine) End(now time.Time, reason protocol.Reason) { m.endAll(now, Event{Reason: reason}) }

// Close ends control and the open requests because the session is about to end, while its program
// still runs.
func (m *Machine) Close(now time.Time) {
	m.endAll(now, Event{Reason: protocol.ReasonExited, Cause: Closing})
}

// EndSuspended ends control and the open requests because the program was stopped, or went to the
// background. OfferToGoOn asks the user later whether the agent that had control may go on.
func (m *Machine) EndSuspended(now time.Time) {
	if m.driven {
		m.suspended = Request{Agent: m.agent, Level: m.level}
		if !m.until.IsZero() {
			m.suspended.For = m.until.Sub(now)
		}
	}
	m.endAll(now, Event{Reason: protocol.ReasonReclaimed, Cause: Suspended})
}

// OfferToGoOn asks the user, who is back, whether the agent that EndSuspended stopped may go on.
func (m *Machine) OfferToGoOn(now time.Time) {
	r := m.suspended
	m.suspended = Request{}
	if r.Agent.ID != "" && !m.IsSought() && m.conf.Keyboard && m.Admit(now, r.Agent) == nil {
		m.addRequest(now, &request{Request: r, asked: now})
	}
}

// EndByOverrun ends control because the user's own input can no longer be held.
func (m *Machine) EndByOverrun(now time.Time) {
	m.endAll(now, Event{Reason: protocol.ReasonReclaimed, Cause: Flooded})
}

func (m *Machine) endAll(now time.Time, event Event) {
	requests := slices.Clone(m.requests)
	for _, r := range requests {
		m.endRequest(now, r, event)
	}
	m.endGrant(now, event)
}

// ReclaimKey notes that the user pressed the reclaim key. When it returns, no agent has the
// keyboard, and the question that the user was asked is refused. Here as in other methods, took
// means that the key was for the proxy; otherwise it is the program's.
func (m *Machine) ReclaimKey(now time.Time) (took bool) {
	m.Tick(now)
	if !m.lastRemoteKey.IsZero() && now.Sub(m.lastRemoteKey) < RemoteKeyFor {
		m.remoteBlockedUntil = now.Add(RemoteBlockFor)
	}
	driven := m.driven
	took, free := m.NoteReclaimKey(now, driven)
	// also if the agent gave it back just before the user took it
	m.rulesPaused = m.rulesPaused || driven || took && !free
	switch {
	case driven:
		m.endGrant(now, Event{Reason: protocol.ReasonReclaimed})
	case free && m.pregrant != "":
		m.promise, m.rulesPaused = promise{}, true
		m.epoch++
		m.NoteEnd(now, Agent{})
	case free:
		m.Open(now, question.New(question.Menu, Agent{}, func(now time.Time, _ bool) {
			if len(m.requests) == 0 { // an agent that asks already is shown to the user first
				m.promise = promise{
					pregrant:      protocol.LevelDrive,
					pregrantUntil: now.Add(PregrantFor),
					pregrantFor:   m.maxKeyGrant(),
				}
			}
		}))
	}
	return took
}

// NoteGrantKey notes that the user pressed the grant key. It is the program's key unless a question
// has been on the screen long enough. inText means that its bytes came as part of a text, as in a
// paste, where they answer nothing.
func (m *Machine) NoteGrantKey(now time.Time, inText bool) (took bool) {
	m.Tick(now)
	if took = m.Queue.NoteGrantKey(now, inText); !took {
		m.NoteKey(now)
	}
	return took
}

// NoteKey notes that the user typed something for the program: the menu closes and an agent that
// drives pauses.
func (m *Machine) NoteKey(now time.Time) {
	m.NoteTyped(now)
	m.CloseMenu(now)
	if m.driven {
		m.yield = now.Add(m.conf.Yield)
	}
}

// KeepsTypedInput reports whether the input of the last grant stays in the program's queue. An
// agent that lost its connection has a receipt for it, and would not learn of its removal; a
// program that ended may have ended because of it.
func (m *situation) KeepsTypedInput() bool {
	return m.lastEnd.Reason == protocol.ReasonLink ||
		m.lastEnd.Reason == protocol.ReasonExited && m.lastEnd.Cause != Closing
}

// CheckInput returns why input of an agent with this epoch may not be written now: ErrNoGrant,
// ErrSecret, ErrHidden, ErrStale, or nil.
func (m *Machine) CheckInput(now time.Time, agentID string, epoch uint64) error {
	m.Tick(now)
	switch {
	case !m.driven, m.agent.ID != agentID:
		return ErrNoGrant
	case m.pauseReason() != nil:
		return m.pauseReason()
	case epoch != m.epoch:
		return ErrStale
	}
	return nil
}

// PausedUntil returns until when agent input is held because the user typed. It may be in the past.
func (m *situation) PausedUntil() time.Time { return m.yield }

// Tick ends grants, requests, menus and confirmations whose time has run out, and gives announced
// control.
func (m *Machine) Tick(now time.Time) {
	m.latest = now
	if isOver(now, m.MenuEnd()) {
		m.CloseMenu(now)
	}
	switch {
	case !m.driven:
	case isOver(now, m.until):
		m.endGrant(now, Event{Reason: protocol.ReasonExpired})
	case isOver(now, m.absentEnd(m.agent)):
		m.endGrant(now, Event{Reason: protocol.ReasonLink, Absent: true})
	case isOver(now, m.pending.Until):
		m.endConfirmation(now, false)
	}
	for _, r := range slices.Clone(m.requests) {
		if isOver(now, r.asked.Add(AskFor)) {
			m.endRequest(now, r, Event{Reason: protocol.ReasonExpired})
		} else if isOver(now, m.absentEnd(r.Agent)) {
			m.endRequest(now, r, Event{Reason: protocol.ReasonLink, Absent: true})
		}
	}
	switch end := m.announceEnd(); {
	case !isOver(now, end):
	case now.Sub(end) > maxLate:
		m.Restart(now)
	default:
		m.giveAnnounced(now, m.requests[0])
	}
	if m.pregrant != "" && isOver(now, m.pregrantUntil) {
		m.promise = promise{}
	}
}

// NextTick returns the next moment at which Tick has something to do; false means that only an
// event from outside changes anything.
func (m *situation) NextTick(now time.Time) (time.Time, bool) {
	moments := []time.Time{
		m.until, m.absentEnd(m.agent), m.announceEnd(), m.MenuEnd(), m.pregrantUntil,
		m.pending.Until,
	}
	for _, r := range m.requests {
		moments = append(moments, r.asked.Add(AskFor), m.absentEnd(r.Agent))
	}
	if now.Before(m.yield) { // the end of the pause is shown on the user's screen
		moments = append(moments, m.yield)
	}
	var next time.Time
	for _, t := range moments {
		if !t.IsZero() && (next.IsZero() || t.Before(next)) {
			next = t
		}
	}
	return next, !next.IsZero()
}

// isOver reports whether a limit has passed; the zero time is no limit.
func isOver(now, limit time.Time) bool { return !limit.IsZero() && !now.Before(limit) }
