// Package authority runs control for the pump: it feeds the state machine with the facts that no
// event announces, which must be looked up. These are the foreground program, the user's rules
// about it, whether it has begun to ask for a secret, and whether the computer slept.
//
// It publishes the newest state, and reports changes after the pump has dropped an agent's queued
// input. It must not depend on how keys are read, how anything is displayed, or how agents are
// informed: it asks and reports through its port.
package authority

import (
	"sync/atomic"
	"time"

	"terminalproxy/protocol"
	"terminalproxy/proxy/consent/control"
)

// Session answers an [Authority]'s questions and receives its reports. All methods run on the
// pump's goroutine and return at once.
type Session interface {
	// ForegroundProgram returns the program that has the terminal. It is called if grants are for
	// one program.
	ForegroundProgram() control.Foreground
	// NeverRule returns the user's rule that keeps an agent out of the program that has the
	// terminal, or "". watched means that such rules exist for the agent.
	NeverRule(agent control.Agent) (rule string, watched bool)
	// AsksForSecret reports whether the program asks for a secret, by the present line settings.
	AsksForSecret() bool
	// DialogError returns [control.ErrDialog] while the program asks something that no agent may
	// answer.
	DialogError(agent string) error

	// NoteSecretSeen notes that the program asked for a secret when an agent's input came, and
	// NoteSecretDismissed that the user dismissed the prompt.
	NoteSecretSeen()
	NoteSecretDismissed()
	// NoteLineShared notes that the user lets agents type on a line not yet submitted.
	NoteLineShared()
	// OpenReply opens a line for the user's answer if an agent's message is on the screen.
	OpenReply(now time.Time) (took bool)
	// NoteTyped notes that the user typed for the program, and NoteTypedElsewhere that a person who
	// is not at the terminal did.
	NoteTyped()
	NoteTypedElsewhere(by string)
	// StateChanged gets each new state.
	StateChanged(state control.State)
	// ControlChanged gets each grant, end and refusal of control.
	ControlChanged(e control.Event)
}

// Authority is the control state machine as the pump sees it. Owned by the pump's goroutine; only
// NewestState and Keyboard are safe for concurrent use.
type Authority struct {
	// By value: through a pointer its methods would also be those of an Authority that is a value,
	// and be compiled for it.
	control.Machine
	session     Session
	oneProgram  bool
	newest      atomic.Pointer[control.State]
	unsubmitted int // bytes not submitted at the last end of control
	slept       sleepWatch
}

// wakeEvery is the interval of checks whether the computer slept, while an agent has control for a
// limited time: when the computer wakes, no event ends the grant soon.
const wakeEvery = 30 * time.Second

// New returns an authority without a grant.
func New(conf control.Config, session Session) *Authority {
	a := &Authority{
		Machine: *control.New(conf), session: session, oneProgram: conf.OneProgram,
		slept: sleepWatch{totalSleep, totalSleep()},
	}
	state := a.State(time.Now())
	a.newest.Store(&state)
	return a
}

// NewestState returns the newest published state.
func (a *Authority) NewestState() control.State { return *a.newest.Load() }

// NoteKey tells control that the user typed. Notices drawn over the program give way to the key.
func (a *Authority) NoteKey(now time.Time) {
	a.Machine.NoteKey(now)
	a.session.NoteTyped()
}

// NoteRemoteTyping tells control that a person who is not at the terminal typed, and when. An error
// refuses the input.
func (a *Authority) NoteRemoteTyping(now, at time.Time, by string) error {
	if err := a.Machine.NoteRemoteTyping(now, at); err != nil {
		return err
	}
	a.session.NoteTypedElsewhere(by)
	return nil
}

// NoteGrantKey tells control that the user pressed the grant key, which gives control, answers a
// message, or dismisses a prompt for a secret. If the key turns out to be the program's, it acts as
// NoteKey. inText is described at [control.Machine.NoteGrantKey].
func (a *Authority) NoteGrantKey(now time.Time, inText bool) (took bool) {
	a.noteSleep(now)
	if !inText && a.session.OpenReply(now) {
		return true
	}
	a.UpdateForeground()
	asked, occupied := a.Secret() != protocol.SecretNone, a.IsLineOccupied()
	took = a.Machine.NoteGrantKey(now, inText)
	if !took {
		a.session.NoteTyped()
	}
	if asked && a.Secret() == protocol.SecretNone {
		a.session.NoteSecretDismissed()
	}
	if occupied && !a.IsLineOccupied() {
		a.session.NoteLineShared()
	}
	return took
}

// Request handles an agent's request for control. Request, GrantFromOwner, CheckInput and Tick look
// up which program has the terminal, if grants are for one program, and whether the computer slept:
// no event announces either.
func (a *Authority) Request(now time.Time, r control.Request) error {
	a.noteSleep(now)
	rule, watched := a.session.NeverRule(r.Agent)
	if rule != "" {
		return &control.NeverError{Rule: rule}
	}
	a.UpdateForeground()
	if r.RuleGrant.OneProgram {
		a.SetForeground(a.session.ForegroundProgram())
	}
	if !a.IsSought() {
		a.SetForbidden("", watched)
	}
	return a.Machine.Request(now, r)
}

// GrantFromOwner is described at Request.
func (a *Authority) GrantFromOwner(now time.Time, g control.RemoteGrant) error {
	a.noteSleep(now)
	a.UpdateForeground()
	return a.Machine.GrantFromOwner(now, g)
}

// CheckInput is described at Request. It also reads the line settings before every piece of an
// agent's input: no event announces that a program has begun to read a password.
func (a *Authority) CheckInput(now time.Time, agent string, epoch uint64) error {
	if err := a.session.DialogError(agent); err != nil {
		return err
	}
	a.UpdateForeground()
	a.noteSleep(now)
	if err := a.Machine.CheckInput(now, agent, epoch); err != nil || a.AllowsSecret() ||
		!a.session.AsksForSecret() {
		return err
	}
	a.NoteSecretPrompt(now, protocol.SecretHard, false)
	a.session.NoteSecretSeen()
	return control.ErrSecret
}

// Tick is described at Request. In an idle session it looks nothing up.
func (a *Authority) Tick(now time.Time) {
	if a.IsPausedByProgram() || a.IsAnnounced() {
		a.UpdateForeground()
	}
	if a.IsSought() { // a sleep can end only these; requests check for themselves
		a.noteSleep(now)
	}
	a.Machine.Tick(now)
}

// noteSleep tells control if the computer slept: the sleep counts as time. It comes before other
// calls.
func (a *Authority) noteSleep(now time.Time) {
	if d := a.slept.sinceLast(); d > 0 {
		a.NoteSleep(now, d)
	}
}

// NextTick returns when time itself changes something, or the next check is due.
func (a *Authority) NextTick(now time.Time) (time.Time, bool) {
	next, ok := a.Machine.NextTick(now)
	if look := now.Add(wakeEvery); a.HasTimeLimit() && next.After(look) {
		next = look
	}
	return next, ok
}

// UpdateForeground tells control which program has the terminal, if grants are for one program or
// rules keep agents out of some.
func (a *Authority) UpdateForeground() {
	rule, watched := "", false
	if a.IsSought() {
		rule, watched = a.session.NeverRule(a.Holder())
	}
	if a.oneProgram || a.IsBoundToProgram() || watched {
		a.SetForeground(a.session.ForegroundProgram())
	}
	a.SetForbidden(rule, watched)
}

// Comeback detects that a program waits for input again.
type Comeback interface {
	// IsBack reports whether it waits now; Reset starts over.
	IsBack(now time.Time) bool
	Reset()
}

// ComebackTest returns a test whether the program of a grant has the terminal and waits for more
// input. The test runs on the pump's goroutine.
func (a *Authority) ComebackTest(program Comeback) func(now time.Time) bool {
	return func(now time.Time) bool {
		a.UpdateForeground()
		back := !a.IsPausedByProgram() && program.IsBack(now)
		// again, because the program may have had the terminal only during IsBack
		a.UpdateForeground()
		if back || a.IsPausedByProgram() {
			program.Reset()
		}
		return back && !a.IsPausedByProgram()
	}
}

// LastEnd returns how the newest control or request ended, zero before the first.
func (a *Authority) LastEnd() control.Event {
	e := a.Machine.LastEnd()
	e.Unsubmitted = a.unsubmitted
	return e
}

// PublishChanges publishes changes after the pump's queue is empty. The state comes first: an agent
// types as soon as it learns of its grant, and its input is checked against the newest state.
func (a *Authority) PublishChanges(now time.Time, dropped, unsubmitted int) {
	events, s := a.TakeEvents(), a.State(now)
	differs := s != a.NewestState()
	if differs {
		a.newest.Store(&s)
	}
	for _, e := range events {
		if !e.Granted && e.Reason != protocol.ReasonReplaced {
			a.unsubmitted = unsubmitted
		}
		e.Dropped, e.Unsubmitted = dropped, unsubmitted
		a.session.ControlChanged(e)
	}
	if differs {
		a.session.StateChanged(s)
	}
}
