// Package control decides who may type: the user always, an agent while the user's grant lasts. It
// is a state machine without I/O and without its own clock. The one goroutine that writes to the
// program asks it before every piece of agent input and tells it every key of the user, so its
// answers are in program order with both.
package control

import (
	"errors"
	"fmt"
	"time"

	"terminalproxy/protocol"
)

// Times of the machine.
const (
	// SwallowFor is how long after the end of control the reclaim key is swallowed: people press
	// twice and keys repeat, and a stray press would kill a program with SIGQUIT.
	SwallowFor = 1500 * time.Millisecond
	// SwallowMore is how much each swallowed key prolongs that: a held key repeats every 40 ms,
	// after 650 ms at first.
	SwallowMore = 700 * time.Millisecond
	// MenuFor is how long the menu stays open untouched.
	MenuFor = 10 * time.Second
	// AskFor is how long a request stays open.
	AskFor = 10 * time.Minute
	// PregrantFor is how long the menu's offer to the next agent that asks stays valid.
	PregrantFor = 2 * time.Minute
)

// maxWaiters bounds the requests of one agent that one decision answers.
const maxWaiters = 16

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

// Agent identifies an agent. ID comes from the gateway, Name is for people. Identity stays the same
// under another id: the name of its token, or the name that it gives itself; it may be "".
//
// Token is the name of the local token that it proved, or "".
type Agent struct{ ID, Name, Identity, Token string }

// Request is an agent's question to the user.
type Request struct {
	ID     string // of the message, to answer it
	Agent  Agent
	Level  protocol.Level
	Reason string
	For    time.Duration // wanted; 0 for no limit
	// RuleGrant is the grant that a rule of the user gives it.
	RuleGrant RuleGrant
	// Program is the program that the agent asks with, and Parent the one that started it, both as
	// the agent reports them.
	Program, Parent string
}

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
type Machine struct {
	grant
	askLimits
	swallow     time.Time // until when reclaim keys are swallowed
	left        bool      // the user has left the terminal
	knownAgents []Agent   // agents that wrote, or asked in a conversation, the newest last
	last        Agent     // the agent that the user last dealt with
	lastMute    Mute      // the last muting or unmuting
	// lastRemoteKey is the time of a remote person's last key. Until remoteBlockedUntil, all are
	// rejected.
	lastRemoteKey, remoteBlockedUntil time.Time
	line                              string // the text of the line while it is occupied
}

// grant holds the agent that has control or asks for it, and the limits.
type grant struct {
	question
	secrecy
	conf    Config
	phase   Phase
	epoch   uint64
	agent   Agent
	level   protocol.Level
	until   time.Time
	reason  string
	waiting []string      // requests that wait for the answer
	holders []string      // requests that control was given to
	wanted  time.Duration // requested length of the grant
	asked   time.Time     // when the agent asked

	given         Event     // who gave the agent control: By, Policy, Rule and OwnTerminal
	ruleGrant     RuleGrant // the announced rule
	askingProgram string    // that the agent asks with
	rulesPaused   bool      // rules may not give control
	forbidden     string    // the rule that keeps the agent out of the foreground program
	watched       bool      // rules may keep it out of the next foreground program
	absent        time.Time // since when the agent has no connection, or zero
	yield         time.Time // until when the agent is paused
	pregrant      protocol.Level
	pregrantUntil time.Time     // zero: no limit
	pregrantFor   time.Duration // longest grant from it, 0 for no limit
	remote        RemoteGrant   // the remote owner's promise behind the pregrant, or zero
	foreground    Foreground    // the last known foreground program
	program       Foreground    // the grant is for it
	events        []Event
	lastEnd       Event
}

// question is the present question to the user, or the message that the user is writing, with the
// times that decide whether a key is meant as the answer.
type question struct {
	message      Message
	number       uint64    // counts the questions
	ignored      uint64    // the question for which the last press of the grant key did not count
	begun        time.Time // when the present question began
	unexpected   bool      // it came while the user did something else
	another      bool      // it came after another agent's question
	menu         time.Time // when the menu was opened, or zero
	shown        time.Time // when the present question was drawn, or zero
	lastQuestion endedQuestion
	typed        time.Time // the user's last key
	pending      Confirmation
	decided      bool      // a confirmation has ended, and TakeDecision was not called yet
	letThrough   bool      // the user let it through
	occupied     bool      // the agent's input waits for the user's line
	agreed       time.Time // when the user last gave control or let something through
	pressed      time.Time // the last press of the key in a row since
	latest       time.Time // the last now that the machine was given
}

// secrecy holds what the user, or a prompt for a secret, hides from agents.
type secrecy struct {
	secret  protocol.SecretPrompt
	allowed bool // the user dismissed the present prompt
	hidden  bool
}

// New returns a machine in the observing phase.
func New(conf Config) *Machine {
	m := &Machine{grant: grant{
		question: question{number: 1},
		conf:     conf,
		epoch:    1,
		pregrant: conf.Pregrant,
	}}
	m.pregrantFor = m.userLimit()
	return m
}

// Epoch returns the number that input must carry now. Every change of control increases it and it
// is never reused: input still on its way when control ended must not match a later grant.
func (g *grant) Epoch() uint64 { return g.epoch }

// LastEnd returns how the newest control or request ended, for an agent that asks why it has no
// control. It is zero before the first.
func (g *grant) LastEnd() Event { return g.lastEnd }

// Phase returns the present phase.
func (g *grant) Phase() Phase { return g.phase }

// IsDriven reports whether an agent has control, and IsSought whether one has it or asks for it.
func (g *grant) IsDriven() bool { return g.phase == Granted }

// IsSought is described at IsDriven.
func (g *grant) IsSought() bool { return g.phase != Observing }

// TakeEvents returns the events since the last call.
func (g *grant) TakeEvents() []Event {
	events := g.events
	g.events = nil
	return events
}

// Request handles an agent's request for control. Its answer is an [Event], at once if the user
// decided in advance. The error is one of this package's, or a *NotNow.
func (m *Machine) Request(now time.Time, r Request) error {
	m.Tick(now)
	if m.phase != Observing && m.agent.ID != r.Agent.ID {
		return fmt.Errorf("%w (%s): try again later", ErrBusy, m.agent.Name)
	}
	m.absent = time.Time{}
	switch {
	case m.IsMuted(r.Agent):
		return &NotNow{Muted: true}
	case m.phase == Granted && coversLevel(m.level, r.Level):
		m.reportGranted([]string{r.ID})
		return nil
	case m.phase == Granted:
		return fmt.Errorf("%w (you, under a lower level: release it first)", ErrBusy)
	case m.left && m.remote == RemoteGrant{}:
		return ErrLeft
	case m.pregrant != "" && coversLevel(m.pregrant, r.Level) && m.remote.isFor(r.Agent):
		if !m.joinsQuestion(r) { // the agent may have asked for more before
			m.withdrawAsked(now)
		}
		m.agent, m.reason, m.waiting, m.wanted = r.Agent, r.Reason, append(m.waiting, r.ID), r.For
		m.level, m.asked = r.Level, now
		m.giveControl(now, m.pregrantFor, Event{By: m.remote.By, Policy: m.pregrantUntil.IsZero()})
		return nil
	case m.left:
		return ErrLeft
	case !m.conf.Keyboard:
		return ErrNobody
	case m.joinsQuestion(r):
		m.addWaiting(r.ID)
		return nil
	}
	if notNow := m.mayAsk(now, r.Agent); notNow != nil {
		return notNow
	}
	m.withdrawAsked(now)
	m.phase, m.agent, m.level, m.reason = Asked, r.Agent, r.Level, r.Reason
	m.waiting, m.wanted, m.asked, m.askingProgram = []string{r.ID}, r.For, now, r.AskingProgram()
	m.closeMenu(now)
	m.announceByRule(r)
	m.startQuestion(now)
	return nil
}

// addWaiting adds a request to those that wait for the answer. Over the limit it ends the oldest.
func (g *grant) addWaiting(id string) {
	g.waiting = append(g.waiting, id)
	if len(g.waiting) > maxWaiters {
		g.reportReplaced(g.waiting[:1])
		g.waiting = g.waiting[1:]
	}
}

// endControl ends control, or refuses the open request.
func (m *Machine) endControl(now time.Time, reason protocol.Reason) {
	m.endWith(now, Event{Reason: reason})
}

func (m *Machine) endWithCause(now time.Time, reason protocol.Reason, cause Cause, by string) {
	m.endWith(now, Event{Reason: reason, By: by, Cause: cause})
}

// endByOwner is endControl by a remote owner.
func (m *Machine) endByOwner(now time.Time, reason protocol.Reason, by string) {
	m.endWith(now, Event{Reason: reason, By: by})
}

// endWith is endControl with the details in event. All ends of control come here.
func (m *Machine) endWith(now time.Time, event Event) {
	if m.phase == Observing {
		return
	}
	reason := event.Reason
	event.Requests, event.Request = m.waiting, m.phase == Asked
	event.Agent, event.Level, event.Epoch = m.agent, m.level, m.epoch
	event.Absent = reason == protocol.ReasonLink && m.isAbsentTooLong(now)
	m.lastEnd, m.last = event, m.agent
	if reason == protocol.ReasonRefused {
		m.lastEnd.Blocked = m.noteRefusal(now, m.agent)
	}
	m.events = append(m.events, m.lastEnd)
	m.rulesPaused = m.rulesPaused || reason == protocol.ReasonRefused || reason == protocol.ReasonReclaimed
	m.ruleGrant, m.askingProgram, m.forbidden, m.watched = RuleGrant{}, "", "", false
	m.closeMenu(now)
	m.endQuestion(now, m.agent.ID, m.phase == Granted)
	m.phase, m.epoch = Observing, m.epoch+1
	m.agent, m.level, m.reason, m.waiting, m.holders = Agent{}, "", "", nil, nil
	m.until, m.yield, m.absent, m.given = time.Time{}, time.Time{}, time.Time{}, Event{}
	m.occupied, m.line = false, ""
	m.pending, m.decided, m.letThrough = Confirmation{}, false, false
	m.startQuestion(now)
	m.swallow = now.Add(SwallowFor)
}

// ReclaimKey notes that the user pressed the reclaim key. When it returns, no agent has the
// keyboard or asks for it. Here as in other methods, took means that the key was for the proxy;
// otherwise it is the program's.
func (m *Machine) ReclaimKey(now time.Time) (took bool) {
	m.Tick(now)
	composing := m.message.Open
	m.message = Message{}
	m.typed = now
	m.pauseRemoteTyping(now)
	switch {
	case m.phase == Granted:
		m.endControl(now, protocol.ReasonReclaimed)
	case m.phase == Asked:
		m.endControl(now, protocol.ReasonRefused)
	case composing:
	case now.Before(m.swallow):
		m.swallow = laterOf(m.swallow, now.Add(SwallowMore))
		m.rulesPaused = true // the agent gave it back just before the user took it
	case m.pregrant != "":
		m.pregrant, m.remote, m.swallow, m.epoch = "", RemoteGrant{}, now.Add(SwallowFor), m.epoch+1
		m.rulesPaused = true
	case m.menu.IsZero():
		m.menu = now
		m.endWaits()
		m.startQuestion(now)
	case m.isAnswerable(now):
		m.closeMenu(now)
		return false
	}
	return true
}

// NoteGrantKey notes that the user pressed the grant key. It is the program's key unless a question
// has been on the screen long enough.
func (m *Machine) NoteGrantKey(now time.Time) (took bool) { return m.handleGrantKey(now, true) }

// ConfirmInText notes that the bytes of the grant key came as part of a text, as in a paste. They
// answer no question, and without a question they are the program's.
func (m *Machine) ConfirmInText(now time.Time) (took bool) { return m.handleGrantKey(now, false) }

func (m *Machine) handleGrantKey(now time.Time, pressed bool) (took bool) {
	m.Tick(now)
	answers := pressed && m.isAnswerable(now)
	switch {
	case m.isRepeatedPress(now):
	case m.IsAnnounced() && answers:
		m.giveAnnounced(now)
		m.noteAnswer(now)
	case m.phase == Asked && answers:
		m.giveControl(now, m.maxKeyGrant(), Event{})
		m.noteAnswer(now)
	case m.phase == Observing && !m.menu.IsZero() && answers:
		m.noteAnswer(now)
		m.closeMenu(now)
		m.pregrant, m.remote = protocol.LevelDrive, RemoteGrant{}
		m.pregrantUntil, m.pregrantFor = now.Add(PregrantFor), m.maxKeyGrant()
	case m.isConfirming() && answers:
		m.endConfirmation(now, true)
		m.noteAnswer(now)
	case m.occupied && answers:
		m.occupied, m.line, m.shown = false, "", time.Time{}
		m.endQuestion(now, m.agent.ID, true)
		m.noteAnswer(now)
	case m.phase == Asked, !m.menu.IsZero(), m.isConfirming(), m.occupied:
		// Pressed before the question could be read: it is neither an answer nor, most likely, the
		// program's.
		m.ignored = m.number
	case m.isDismissible() && answers:
		m.dismissPrompt()
		m.noteAnswer(now)
	case m.isDismissible() && !m.shown.IsZero():
		// As above. A prompt that is not drawn, since there is no agent, is not a question: the key
		// is the program's.
		m.ignored = m.number
	default:
		m.NoteKey(now)
		return false
	}
	return true
}

// NoteKey notes that the user typed something for the program: the menu closes and an agent that
// drives pauses.
func (g *grant) NoteKey(now time.Time) {
	g.typed = now
	g.closeMenu(now)
	if g.phase == Granted {
		g.yield = now.Add(g.conf.Yield)
	}
}

// Release ends the control or the request of one agent. It reports whether the agent had either.
func (m *Machine) Release(now time.Time, agentID string, reason protocol.Reason) bool {
	if m.phase == Observing || m.agent.ID != agentID {
		return false
	}
	m.endControl(now, reason)
	return true
}

// End ends control or the open request.
func (m *Machine) End(now time.Time, reason protocol.Reason) { m.endControl(now, reason) }

// Close ends control or the open request because the session is about to end, while its program
// still runs.
func (m *Machine) Close(now time.Time) { m.endWithCause(now, protocol.ReasonExited, Closing, "") }

// EndSuspended ends control or the open request because the program was stopped, or went to the
// background.
func (m *Machine) EndSuspended(now time.Time) {
	m.endWithCause(now, protocol.ReasonReclaimed, Suspended, "")
}

// EndByOverrun ends control because the user's own input can no longer be held.
func (m *Machine) EndByOverrun(now time.Time) {
	m.endWithCause(now, protocol.ReasonReclaimed, Flooded, "")
}

// KeepsTypedInput reports whether the input of the last grant stays in the program's queue. An
// agent that lost its connection has a receipt for it, and would not learn of its removal; a
// program that ended may have ended because of it.
func (g *grant) KeepsTypedInput() bool {
	return g.lastEnd.Reason == protocol.ReasonLink ||
		g.lastEnd.Reason == protocol.ReasonExited && g.lastEnd.Cause != Closing
}

// CheckInput returns why input of an agent with this epoch may not be written now: ErrNoGrant,
// ErrSecret, ErrHidden, ErrStale, or nil.
func (m *Machine) CheckInput(now time.Time, agentID string, epoch uint64) error {
	m.Tick(now)
	switch {
	case m.phase != Granted, m.agent.ID != agentID:
		return ErrNoGrant
	case m.pauseReason() != nil:
		return m.pauseReason()
	case epoch != m.epoch:
		return ErrStale
	}
	return nil
}

// PausedUntil returns until when agent input is held because the user typed. It may be in the past.
func (g *grant) PausedUntil() time.Time { return g.yield }
