// Package authority is control as the pump asks it: the state machine, with what nothing announces and is looked at when it
// matters. Which program has the terminal, what the user's rules say of that, whether it has begun to ask for a secret, and whether the
// computer slept.
//
// It publishes the newest state, and tells of changes after the pump has dropped what an agent had queued. It must not know
// how keys are read, what is shown, or how agents hear of anything: its port says what it asks and whom it tells.
package authority

import (
	"sync/atomic"
	"time"

	"terminalproxy/protocol"
	"terminalproxy/proxy/control"
	"terminalproxy/proxy/sleep"
)

// Session is what an [Authority] asks and tells. All of it is called on the pump's goroutine, and returns at once.
type Session interface {
	// Front is the program that has the terminal. It is asked where grants are for one program.
	Front() control.Front
	// Never is the user's rule by which an agent may never type into the program that has the terminal, "" for none; watched says that
	// there are such rules for the agent.
	Never(agent control.Agent) (rule string, watched bool)
	// AsksForSecret reports whether the program asks for a secret, as the line settings say now.
	AsksForSecret() bool

	// SecretSeen says that it did when an agent's input came, and SecretDismissed that the user dismissed the prompt.
	SecretSeen()
	SecretDismissed()
	// LineShared says that the user lets agents type on the line that the user has not submitted.
	LineShared()
	// Typed says that the user typed something for the program, and TypedElsewhere that a person did who does not sit at the terminal.
	Typed()
	TypedElsewhere(by string)
	// StateChanged says that the state differs from what it was.
	StateChanged(state control.State)
	// ControlChanged says that control was given, ended or refused.
	ControlChanged(e control.Event)
}

// Authority is the control state machine as the pump sees it. Its methods belong to the pump's goroutine, except Newest,
// which may be called from any.
type Authority struct {
	*control.Machine
	session    Session
	oneProgram bool
	now        atomic.Pointer[control.State]
	left       int // bytes that were not submitted when control ended last
	slept      sleep.Watch
}

// wakeEvery is how often it is looked whether the computer slept, while an agent has control for a time: when it wakes,
// nothing else tells the user soon that the time is over.
const wakeEvery = 30 * time.Second

// New makes an authority, in whose session no agent has control.
func New(conf control.Config, session Session) *Authority {
	a := &Authority{Machine: control.New(conf), session: session, oneProgram: conf.OneProgram}
	state := a.State(time.Now())
	a.now.Store(&state)
	return a
}

// Newest is the newest published state.
func (a *Authority) Newest() control.State { return *a.now.Load() }

// Key tells control that the user typed, and whoever shows a remark over the program that it is in the way.
func (a *Authority) Key(now time.Time) {
	a.Machine.Key(now)
	a.session.Typed()
}

// Elsewhere tells control that a person who does not sit at the terminal typed something, at a time of theirs. An error refuses that.
func (a *Authority) Elsewhere(now, at time.Time, by string) error {
	if err := a.Machine.Elsewhere(now, at); err != nil {
		return err
	}
	a.session.TypedElsewhere(by)
	return nil
}

// Confirm tells control that the user pressed the key that gives it, or dismisses a prompt for a secret. It is Key when it
// turns out to be the program's.
func (a *Authority) Confirm(now time.Time) (took bool) {
	a.woken(now)
	a.LookFront()
	asked, occupied := a.Secret() != protocol.SecretNone, a.Occupied()
	took = a.Machine.Confirm(now)
	if !took {
		a.session.Typed()
	}
	if asked && a.Secret() == protocol.SecretNone {
		a.session.SecretDismissed()
	}
	if occupied && !a.Occupied() {
		a.session.LineShared()
	}
	return took
}

// ConfirmInText tells control that the bytes of that key came as a part of a text.
func (a *Authority) ConfirmInText(now time.Time) (took bool) {
	a.woken(now)
	if took = a.Machine.ConfirmInText(now); !took {
		a.session.Typed()
	}
	return took
}

// Request takes an agent's question. It, Give, Admit and Tick look which program has the terminal where grants are for one of them, and whether the computer
// slept: nothing announces either.
func (a *Authority) Request(now time.Time, r control.Request) error {
	a.woken(now)
	rule, watched := a.session.Never(r.Agent)
	if rule != "" {
		return &control.NeverError{Rule: rule}
	}
	a.LookFront()
	if r.Ahead.Bound {
		a.Look(a.session.Front())
	}
	if !a.Sought() {
		a.Forbid("", watched)
	}
	return a.Machine.Request(now, r)
}

// Give is described with Request.
func (a *Authority) Give(now time.Time, g control.RemoteGrant) error {
	a.woken(now)
	a.LookFront()
	return a.Machine.Give(now, g)
}

// Admit is described with Request. It also looks at the line settings before every piece of an agent's input: nothing
// announces that a program has begun to read a password.
func (a *Authority) Admit(now time.Time, agent string, epoch uint64) error {
	a.LookFront()
	a.woken(now)
	if err := a.Machine.Admit(now, agent, epoch); err != nil || a.Allowed() || !a.session.AsksForSecret() {
		return err
	}
	a.Guard(now, protocol.SecretHard, false)
	a.session.SecretSeen()
	return control.ErrSecret
}

// Tick is described with Request. An idle session is not looked at.
func (a *Authority) Tick(now time.Time) {
	if a.Away() || a.Announced() {
		a.LookFront()
	}
	if a.Sought() { // nothing else ends with time that sleep takes away: what begins anew looks first
		a.woken(now)
	}
	a.Machine.Tick(now)
}

// woken tells control that the computer slept, before anything else happens: its time counts.
func (a *Authority) woken(now time.Time) {
	if d := a.slept.Since(); d > 0 {
		a.Slept(now, d)
	}
}

// Next is when time itself changes something, or is to be looked at.
func (a *Authority) Next(now time.Time) (time.Time, bool) {
	next, ok := a.Machine.Next(now)
	if look := now.Add(wakeEvery); a.Limited() && next.After(look) {
		next = look
	}
	return next, ok
}

// LookFront has control know which program has the terminal, where grants are for one of them or rules keep agents out of some.
func (a *Authority) LookFront() {
	rule, watched := "", false
	if a.Sought() {
		rule, watched = a.session.Never(a.Holder())
	}
	if a.oneProgram || a.Bound() || watched {
		a.Look(a.session.Front())
	}
	a.Forbid(rule, watched)
}

// Comeback tells that a program waits for input again.
type Comeback interface {
	// Look reports whether it waits by now; Reset has it begin anew.
	Look(now time.Time) bool
	Reset()
}

// CameBack is what tests whether the program that a grant is for has the terminal and asks for more. It belongs to the pump's goroutine.
func (a *Authority) CameBack(program Comeback) func(now time.Time) bool {
	return func(now time.Time) bool {
		a.LookFront()
		back := !a.Away() && program.Look(now)
		a.LookFront() // again: it may have been elsewhere only while it was looked at
		if back || a.Away() {
			program.Reset()
		}
		return back && !a.Away()
	}
}

// LastEnd is how the newest control or request ended, zero before the first.
func (a *Authority) LastEnd() control.Event {
	e := a.Machine.LastEnd()
	e.Unsubmitted = a.left
	return e
}

// Settle publishes what changed, after the pump's queue is clean. The state comes first: an agent that hears of its grant types at
// once, and what it types is looked at by the newest state.
func (a *Authority) Settle(now time.Time, dropped, unsubmitted int) {
	events, s := a.TakeEvents(), a.State(now)
	differs := s != a.Newest()
	if differs {
		a.now.Store(&s)
	}
	for _, e := range events {
		if !e.Granted && e.Reason != protocol.ReasonReplaced {
			a.left = unsubmitted
		}
		e.Dropped, e.Unsubmitted = dropped, unsubmitted
		a.session.ControlChanged(e)
	}
	if differs {
		a.session.StateChanged(s)
	}
}
