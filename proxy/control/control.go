// Package control decides who may type: the user always, an agent while the user's grant lasts. It is a state machine
// without I/O and without a clock of its own; the one goroutine that writes to the program asks it before every piece of
// agent input and tells it every key of the user's, so what it says is in program order with both.
package control

import (
	"errors"
	"fmt"
	"time"

	"terminalproxy/protocol"
)

// Times of the machine.
const (
	// SwallowFor is how long after the end of control the reclaim key is swallowed: people press twice and keys repeat, and
	// a stray one would kill a program with SIGQUIT.
	SwallowFor = 1500 * time.Millisecond
	// SwallowMore is how long each swallowed key prolongs that: a held key repeats every 40 ms, after 650 ms at first.
	SwallowMore = 700 * time.Millisecond
	// MenuFor is how long the menu stays open untouched.
	MenuFor = 10 * time.Second
	// AskFor is how long a request stays open.
	AskFor = 10 * time.Minute
	// PregrantFor is how long "the next agent that asks" may take to ask.
	PregrantFor = 2 * time.Minute
)

// maxWaiters bounds the requests of one agent that one decision answers.
const maxWaiters = 16

// Phase is the one word that says where control stands.
type Phase uint8

// The phases.
const (
	Observing Phase = iota // agents may look
	Asked                  // an agent waits for the user's answer
	Granted                // an agent may type
)

// Errors of Request and Admit.
var (
	ErrBusy    = errors.New("another agent has the keyboard or is asking for it")
	ErrNobody  = errors.New("nobody is there to answer: the session has no keyboard")
	ErrLeft    = errors.New("nobody is there to answer: the user has left this terminal, which goes on without a window; they come back to it with gateway attach")
	ErrNoGrant = errors.New("no grant")
	ErrStale   = errors.New("the grant ended: the epoch is an older one")
)

// Agent names an agent: ID as the gateway gave it, Name as people read it. Kin is what it is known by when it comes back under
// another id: its token or the name that it calls itself by; "" for nothing.
//
// Token is the name of the local token that it proved, "" for none.
type Agent struct{ ID, Name, Kin, Token string }

// Request is an agent's question to the user.
type Request struct {
	ID     string // of the message, to answer it
	Agent  Agent
	Level  protocol.Level
	Reason string
	For    time.Duration // wanted; 0 for no limit
	// Ahead is what a rule of the user's gives it.
	Ahead Ahead
	// Program is what the agent asks with, and Parent what started that, as it says.
	Program, Parent string
}

// Config are the user's wishes for the session.
type Config struct {
	Yield    time.Duration  // an agent pauses this long after a user's key
	Pregrant protocol.Level // given to the first agent that asks, without a question
	For      time.Duration  // longest grant; 0: GrantFor for the key, no limit for Pregrant; Unlimited: no limit
	Keyboard bool           // there is a user to ask
	// OneProgram binds every grant to the program that has the terminal when it is given: see Look.
	OneProgram bool
}

// State is what observers see of the machine.
type State struct {
	Phase Phase
	Epoch uint64
	Agent Agent // who drives, or asks
	Level protocol.Level
	Until time.Time // end of the grant, zero for none
	// For is how long the grant would last that is asked for, or that the menu offers or has promised, 0 for until it is
	// taken back.
	For time.Duration
	// Another says that another agent asked for something, or had control, just before this one asked.
	Another bool
	// Mute is what the menu offers about the last agent, Muted what the user took of that last.
	Mute, Muted Mute
	// Silent names the agents that are muted, with commas between.
	Silent string
	// Reason is the asking agent's own words, Asked since when it asks, zero where none does.
	Reason string
	Asked  time.Time
	// Menu says that the user pressed the reclaim key with nothing to reclaim: the proxy's own line is open.
	Menu bool
	// Pregrant says that the user let the next agent that asks have control, from the menu. What the command line said is
	// not repeated.
	Pregrant bool
	// RemotePregrant is what an owner elsewhere said about that.
	RemotePregrant RemoteGrant
	// Paused says that the user typed and the agent's input waits.
	Paused bool
	// Pending is input that waits for the user to confirm it, zero for none.
	Pending Confirmation
	// Occupied says that the agent's input waits because the user has not submitted the line, and Line what stands there, as
	// agents may read it.
	Occupied bool
	Line     string
	// Program is the only program that the grant is for, "" for every one; Away is the one that has the terminal in its
	// place, so that the agent's input waits. Never is the rule that keeps the agent out of that, "" for none.
	Program, Away, Never string
	// Guarded says that it matters which program has the terminal.
	Guarded bool
	// Ahead is the rule by which the agent that asks is about to get control, and From what that agent asks with.
	Ahead Ahead
	From  string
	// Message is a message that the user writes, closed for none.
	Message Message
	// Secret says what the program asks the user for, and Dismissible that Ctrl+G says it is none, or lets the agent answer.
	Secret      protocol.SecretPrompt
	Dismissible bool
	// Hidden says that the user hides the screen from agents.
	Hidden bool
	// Again says that the key that gives control was pressed, and did not count: too soon, or as a
	// part of a text.
	Again bool
	// Question counts the questions to the user (requests, menus, confirmations, prompts), to tell one from the next.
	Question uint64
}

// Asks reports whether the user is asked something, apart from whether a prompt for a secret is one.
func (s State) Asks() bool {
	return !s.Message.Open && (s.Phase == Asked || s.Menu || s.Pending.Keys != "" || s.Occupied)
}

// Machine is the state machine. It belongs to one goroutine.
type Machine struct {
	conf    Config
	phase   Phase
	epoch   uint64
	agent   Agent
	level   protocol.Level
	until   time.Time
	reason  string
	waiting []string      // requests that wait for the answer
	holders []string      // requests that control was given to
	wanted  time.Duration // length of the grant that is asked for
	asked   time.Time     // when an agent came that wanted control

	given         Event     // on whose word the agent has control: By, Policy, Rule and Own
	ahead         Ahead     // is announced
	from          string    // what the asking agent asks with
	resting       bool      // rules give nothing
	forbidden     string    // the rule that keeps the agent out of what is in front
	watched       bool      // rules may keep it out of what comes there
	absent        time.Time // since when the agent has no connection, zero while it has one
	menu          time.Time // when the menu was opened, zero while it is closed
	shown         time.Time // when the present question was drawn, zero while it is not
	swallow       time.Time // until when reclaim keys are swallowed
	yield         time.Time // until when the agent is paused
	pregrant      protocol.Level
	pregrantUntil time.Time     // zero: no limit
	pregrantFor   time.Duration // longest grant that comes of it, 0 for no limit
	remote        RemoteGrant   // what an owner elsewhere said about the pregrant; zero otherwise
	secret        protocol.SecretPrompt
	allowed       bool // the user dismissed the present prompt
	hidden        bool
	left          bool // the user has left the terminal
	events        []Event
	lastEnd       Event
	met           []Agent // that wrote, or asked in a conversation, the newest last
	last          Agent   // the user had to do with

	question uint64    // counts the questions
	ignored  uint64    // the one for which a press of the key that gives control did not count last
	begun    time.Time // when the present one did
	unawares bool      // it came while the user did something else
	another  bool      // after another agent's
	past     past
	typed    time.Time // the newest key of the user's
	// elsewhere is the newest key of a person's who does not sit at the terminal, and until alone none is taken.
	elsewhere, alone time.Time
	latest           time.Time // the newest now that the machine was told
	manners          manners
	front            Front // has the terminal, as far as we were told
	program          Front // the grant is for
	message          Message
	pending          Confirmation
	decided          bool      // about the confirmation that was pending last, until somebody asks for it
	let              bool      // how
	occupied         bool      // the agent's input waits for the user's line
	line             string    // what stands there
	took             Mute      // what the user took last of what the menu offers about an agent
	agreed           time.Time // when the user gave control or let something through last
	pressed          time.Time // the newest press of the key since, while they follow one another
}

// New makes a machine in the observing phase.
func New(conf Config) *Machine {
	m := &Machine{conf: conf, pregrant: conf.Pregrant, epoch: 1, question: 1}
	m.pregrantFor = m.said()
	return m
}

// State is the machine's state at now.
func (m *Machine) State(now time.Time) State {
	s := State{
		RemotePregrant: m.remote, Phase: m.phase, Epoch: m.epoch, Agent: m.agent, Level: m.level, Until: m.until, For: m.lasts(), Reason: m.reason,
		Another: m.phase == Asked && m.another, Mute: m.mute(), Muted: m.took, Silent: m.manners.silent(),
		Menu: !m.menu.IsZero(), Pregrant: m.phase == Observing && m.pregrant != "" && !m.pregrantUntil.IsZero(),
		Paused: m.phase == Granted && now.Before(m.yield), Pending: m.pending, Occupied: m.occupied, Line: m.line, Question: m.question,
		Program: m.grantedTo(), Away: m.inFront(), Guarded: m.Guarded(), Message: m.message,
		Secret: m.secret, Dismissible: m.dismissible(), Hidden: m.hidden,
		Again: m.ignored == m.question,
	}
	if m.phase == Asked {
		s.Asked, s.Ahead, s.From = m.asked, m.ahead, m.from
	}
	if m.Away() {
		s.Never = m.forbidden
	}
	return s
}

// Epoch is the number that input must carry now. Every change of control increases it and none is used twice: input
// still on its way when control ended must not match a later grant.
func (m *Machine) Epoch() uint64 { return m.epoch }

// LastEnd is how the newest control or request ended, for whoever asks why it has none. It is zero before the first.
func (m *Machine) LastEnd() Event { return m.lastEnd }

// Phase is the present phase.
func (m *Machine) Phase() Phase { return m.phase }

// Driven reports whether an agent has control, and Sought whether one has it or asks for it.
func (m *Machine) Driven() bool { return m.phase == Granted }

// Sought is described with Driven.
func (m *Machine) Sought() bool { return m.phase != Observing }

// TakeEvents is what happened since the last call.
func (m *Machine) TakeEvents() []Event {
	events := m.events
	m.events = nil
	return events
}

// Request takes an agent's question. Its answer is an [Event], at once when the user said so beforehand. The error is one of
// this package's, or a *NotNow.
func (m *Machine) Request(now time.Time, r Request) error {
	m.Tick(now)
	if m.phase != Observing && m.agent.ID != r.Agent.ID {
		return fmt.Errorf("%w (%s): try again later", ErrBusy, m.agent.Name)
	}
	m.absent = time.Time{}
	switch {
	case m.manners.muted(r.Agent):
		return &NotNow{Muted: true}
	case m.phase == Granted && covers(m.level, r.Level):
		m.granted([]string{r.ID})
		return nil
	case m.phase == Granted:
		return fmt.Errorf("%w (you, under a lower level: release it first)", ErrBusy)
	case m.left && m.remote == RemoteGrant{}:
		return ErrLeft
	case m.pregrant != "" && covers(m.pregrant, r.Level) && m.remote.isFor(r.Agent):
		if !m.joins(r) { // the agent may have asked for more before
			m.replace(now)
		}
		m.agent, m.reason, m.waiting, m.wanted = r.Agent, r.Reason, append(m.waiting, r.ID), r.For
		m.level, m.asked = r.Level, now
		m.grant(now, m.pregrantFor, Event{By: m.remote.By, Policy: m.pregrantUntil.IsZero()})
		return nil
	case m.left:
		return ErrLeft
	case !m.conf.Keyboard:
		return ErrNobody
	case m.joins(r):
		m.waiting = append(m.waiting, r.ID)
		if len(m.waiting) > maxWaiters {
			m.replaced(m.waiting[:1])
			m.waiting = m.waiting[1:]
		}
		return nil
	}
	if no := m.manners.mayAsk(now, r.Agent); no != nil {
		return no
	}
	m.replace(now)
	m.phase, m.agent, m.level, m.reason = Asked, r.Agent, r.Level, r.Reason
	m.waiting, m.wanted, m.asked, m.from = []string{r.ID}, r.For, now, r.From()
	m.closeMenu(now)
	m.announce(r)
	m.ask(now)
	return nil
}

// end ends control or refuses the request that is open.
func (m *Machine) end(now time.Time, why protocol.Reason) { m.endAs(now, Event{Reason: why}) }

// endSince is endBy with a cause.
func (m *Machine) endSince(now time.Time, why protocol.Reason, cause Cause, by string) {
	m.endAs(now, Event{Reason: why, By: by, Cause: cause})
}

// endBy is end on the word of an owner elsewhere.
func (m *Machine) endBy(now time.Time, why protocol.Reason, by string) {
	m.endAs(now, Event{Reason: why, By: by})
}

// endAs is end with what how says of its reason. Only here does control end, whatever the reason.
func (m *Machine) endAs(now time.Time, how Event) {
	if m.phase == Observing {
		return
	}
	why := how.Reason
	how.Requests, how.Agent, how.Level, how.Epoch, how.Request = m.waiting, m.agent, m.level, m.epoch, m.phase == Asked
	how.Absent = why == protocol.ReasonLink && m.gone(now)
	m.lastEnd, m.last = how, m.agent
	if why == protocol.ReasonRefused {
		m.lastEnd.Shut = m.manners.refused(now, m.agent)
	}
	m.events = append(m.events, m.lastEnd)
	m.resting = m.resting || why == protocol.ReasonRefused || why == protocol.ReasonReclaimed
	m.ahead, m.from, m.forbidden, m.watched = Ahead{}, "", "", false
	m.closeMenu(now)
	m.over(now, m.agent.ID, m.phase == Granted)
	m.phase, m.epoch = Observing, m.epoch+1
	m.agent, m.level, m.reason, m.waiting, m.holders = Agent{}, "", "", nil, nil
	m.until, m.yield, m.absent, m.given = time.Time{}, time.Time{}, time.Time{}, Event{}
	m.occupied, m.line = false, ""
	m.pending, m.decided, m.let = Confirmation{}, false, false
	m.ask(now)
	m.swallow = now.Add(SwallowFor)
}

// ReclaimKey tells the machine that the user pressed the reclaim key. Whatever the phase, an agent that drives or asks has
// lost the keyboard when it returns. Here as elsewhere, took says that the key was for the proxy; else it is the program's.
func (m *Machine) ReclaimKey(now time.Time) (took bool) {
	m.Tick(now)
	composing := m.message.Open
	m.message = Message{}
	m.typed = now
	m.shutOut(now)
	switch {
	case m.phase == Granted:
		m.end(now, protocol.ReasonReclaimed)
	case m.phase == Asked:
		m.end(now, protocol.ReasonRefused)
	case composing:
	case now.Before(m.swallow):
		m.swallow = later(m.swallow, now.Add(SwallowMore))
		m.resting = true // the agent was quicker to give it back than the user to take it
	case m.pregrant != "":
		m.pregrant, m.remote, m.swallow, m.epoch = "", RemoteGrant{}, now.Add(SwallowFor), m.epoch+1
		m.resting = true
	case m.menu.IsZero():
		m.menu = now
		m.manners.relent()
		m.ask(now)
	case m.answerable(now):
		m.closeMenu(now)
		return false
	}
	return true
}

// Confirm tells the machine that the user pressed the key that gives control. It is the program's key unless a question
// has been on the screen long enough.
func (m *Machine) Confirm(now time.Time) (took bool) { return m.confirm(now, true) }

// ConfirmInText tells the machine that the bytes of that key came as a part of a text, as when one
// is pasted: they answer no question, and without one they are the program's.
func (m *Machine) ConfirmInText(now time.Time) (took bool) { return m.confirm(now, false) }

func (m *Machine) confirm(now time.Time, pressed bool) (took bool) {
	m.Tick(now)
	answers := pressed && m.answerable(now)
	switch {
	case m.repeats(now):
	case m.Announced() && answers:
		m.redeem(now)
		m.answered(now)
	case m.phase == Asked && answers:
		m.grant(now, m.most(), Event{})
		m.answered(now)
	case m.phase == Observing && !m.menu.IsZero() && answers:
		m.answered(now)
		m.closeMenu(now)
		m.pregrant, m.remote, m.pregrantUntil, m.pregrantFor = protocol.LevelDrive, RemoteGrant{}, now.Add(PregrantFor), m.most()
	case m.confirming() && answers:
		m.decide(now, true)
		m.answered(now)
	case m.occupied && answers:
		m.occupied, m.line, m.shown = false, "", time.Time{}
		m.over(now, m.agent.ID, true)
		m.answered(now)
	case m.phase == Asked, !m.menu.IsZero(), m.confirming(), m.occupied:
		// Pressed before anybody could have read the question: it is neither an answer nor, most likely, the program's.
		m.ignored = m.question
	case m.dismissible() && answers:
		m.dismiss()
		m.answered(now)
	case m.dismissible() && !m.shown.IsZero():
		// As above. A prompt that is not drawn, since no agent is there, is no question: the key is the program's.
		m.ignored = m.question
	default:
		m.Key(now)
		return false
	}
	return true
}

// Key tells the machine that the user typed something for the program: the menu closes and an agent that drives pauses.
func (m *Machine) Key(now time.Time) {
	m.typed = now
	m.closeMenu(now)
	if m.phase == Granted {
		m.yield = now.Add(m.conf.Yield)
	}
}

// Release ends the control or the request of one agent; it reports whether it had either.
func (m *Machine) Release(now time.Time, agentID string, why protocol.Reason) bool {
	if m.phase == Observing || m.agent.ID != agentID {
		return false
	}
	m.end(now, why)
	return true
}

// End ends whatever control or request there is.
func (m *Machine) End(now time.Time, why protocol.Reason) { m.end(now, why) }

// Close ends it since the session is to end, while its program still runs.
func (m *Machine) Close(now time.Time) { m.endSince(now, protocol.ReasonExited, Closing, "") }

// Suspend ends it since the program was stopped, or is no longer in front.
func (m *Machine) Suspend(now time.Time) { m.endSince(now, protocol.ReasonReclaimed, Suspended, "") }

// Overrun ends control because the user's own input can no longer be held.
func (m *Machine) Overrun(now time.Time) {
	m.endSince(now, protocol.ReasonReclaimed, Flooded, "")
}

// Kept reports whether what was typed under the grant that ended last stays typed: an agent whose connection was lost has a receipt
// for it, and would not hear that it was taken back; a program that ended may have ended by it.
func (m *Machine) Kept() bool {
	return m.lastEnd.Reason == protocol.ReasonLink || m.lastEnd.Reason == protocol.ReasonExited && m.lastEnd.Cause != Closing
}

// Admit says whether input of an agent that carries epoch may be written now: nil, ErrNoGrant, ErrSecret, ErrHidden or
// ErrStale.
func (m *Machine) Admit(now time.Time, agentID string, epoch uint64) error {
	m.Tick(now)
	switch {
	case m.phase != Granted, m.agent.ID != agentID:
		return ErrNoGrant
	case m.barred() != nil:
		return m.barred()
	case epoch != m.epoch:
		return ErrStale
	}
	return nil
}

// PausedUntil is the moment until which agent input is held because the user typed; it is in the past when it is not.
func (m *Machine) PausedUntil() time.Time { return m.yield }
