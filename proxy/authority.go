package proxy

import (
	"slices"
	"sync/atomic"
	"time"

	"terminalproxy/proxy/control"
	"terminalproxy/proxy/input"
	"terminalproxy/proxy/keys"
	"terminalproxy/proxy/sleep"
)

// authority is the control state machine as the pump sees it. Its methods belong to the pump's goroutine, except Newest,
// which anybody may read.
type authority struct {
	*control.Machine
	now     atomic.Pointer[control.State]
	changed func(control.State)                             // the state differs from what it was
	typed   func()                                          // the user typed something for the program
	event   func(e control.Event, dropped, unsubmitted int) // control was given, ended or refused
	left    int                                             // bytes that were not submitted when control ended last
	front   func() control.Front                            // the program that has the terminal; nil where it does not matter
	secret  func() bool                                     // a secret is asked for, as the line settings say now
	spotted func()                                          // that was so when an agent's input came
	allowed func()                                          // the user dismissed the prompt for a secret
	shares  func()                                          // the user lets agents type on the line that the user has not submitted
	slept   sleep.Watch
}

// wakeEvery is how often it is looked whether the computer slept, while an agent has control for a time: when it wakes,
// nothing else tells the user soon that the time is over.
const wakeEvery = 30 * time.Second

func newAuthority(conf control.Config) *authority {
	a := &authority{Machine: control.New(conf)}
	state := a.State(time.Now())
	a.now.Store(&state)
	return a
}

// Newest is the newest published state.
func (a *authority) Newest() control.State { return *a.now.Load() }

// Key tells control that the user typed, and whoever shows a remark over the program that it is in the way.
func (a *authority) Key(now time.Time) {
	a.Machine.Key(now)
	a.typed()
}

func (a *authority) ReclaimKey(now time.Time) input.Verdict {
	return verdict(a.Machine.ReclaimKey(now))
}

// Confirm tells control that the user pressed the key that gives it, or dismisses a prompt for a secret. It is Key when it
// turns out to be the program's.
func (a *authority) Confirm(now time.Time) input.Verdict {
	a.woken(now)
	a.look()
	asked, occupied := a.Secret() != control.NoSecret, a.Occupied()
	act := a.Machine.Confirm(now)
	if act == control.Pass {
		a.typed()
	}
	if asked && a.Secret() == control.NoSecret {
		a.allowed()
	}
	if occupied && !a.Occupied() {
		a.shares()
	}
	return verdict(act)
}

// Request, Give, Admit and Tick look which program has the terminal where grants are for one of them, and whether the computer
// slept: nothing announces either.
func (a *authority) Request(now time.Time, r control.Request) error {
	a.woken(now)
	a.look()
	return a.Machine.Request(now, r)
}

// Give is described with Request.
func (a *authority) Give(now time.Time, g control.RemoteGrant) error {
	a.woken(now)
	a.look()
	return a.Machine.Give(now, g)
}

// Admit is described with Request. It also looks at the line settings before every piece of an agent's input: nothing
// announces that a program has begun to read a password.
func (a *authority) Admit(now time.Time, agent string, epoch uint64) error {
	a.look()
	a.woken(now)
	if err := a.Machine.Admit(now, agent, epoch); err != nil || a.Allowed() || !a.secret() {
		return err
	}
	a.Guard(now, control.HardSecret, false)
	a.spotted()
	return control.ErrSecret
}

// Tick is described with Request. An idle session is not looked at.
func (a *authority) Tick(now time.Time) {
	if a.Away() {
		a.look()
	}
	if a.Sought() { // nothing else ends with time that sleep takes away: what begins anew looks first
		a.woken(now)
	}
	a.Machine.Tick(now)
}

// woken tells control that the computer slept, before anything else happens: its time counts.
func (a *authority) woken(now time.Time) {
	if d := a.slept.Since(); d > 0 {
		a.Slept(now, d)
	}
}

// Next is when time itself changes something, or is to be looked at.
func (a *authority) Next(now time.Time) (time.Time, bool) {
	next, ok := a.Machine.Next(now)
	if look := now.Add(wakeEvery); a.Limited() && next.After(look) {
		next = look
	}
	return next, ok
}

func (a *authority) look() {
	if a.front != nil {
		a.Look(a.front())
	}
}

// Left is how many bytes were not submitted when control ended last.
func (a *authority) Left() int { return a.left }

func (a *authority) Driven() bool             { return a.Phase() == control.Granted }
func (a *authority) Sought() bool             { return a.Phase() != control.Observing }
func (a *authority) Decision() input.Decision { return input.Decision(a.Machine.Decision()) } // both count alike
func (a *authority) Overrun(now time.Time)    { a.End(now, control.Reclaimed) }

// Settle publishes what changed, after the pump's queue is clean. The state comes first: an agent that hears of its grant types at
// once, and what it types is looked at by the newest state.
func (a *authority) Settle(now time.Time, dropped, unsubmitted int) {
	events, s := a.TakeEvents(), a.State(now)
	differs := s != a.Newest()
	if differs {
		a.now.Store(&s)
	}
	for _, e := range events {
		if !e.Granted {
			a.left = unsubmitted
		}
		a.event(e, dropped, unsubmitted)
	}
	if differs {
		a.changed(s)
	}
}

func verdict(a control.Act) input.Verdict {
	if a == control.Pass {
		return input.Pass
	}
	return input.Take
}

// detector is the scanner of package keys as the pump sees it. It also takes out the answers to the one question that the
// proxy itself asks the terminal, where the cursor is: they must not be typed into the program. Terminals answer in the
// order of the questions, so it keeps that order.
type detector struct {
	*keys.Scanner
	// asked are the questions for the cursor that have no answer yet, the oldest first: what the proxy does with the
	// answer, nil for a question of the program's.
	asked []func(row int)
	// answered is called when the proxy's own questions have their answers; nil while nobody waits for that.
	answered func()
	// write is asked whether a unit belongs to a message that the user writes, and what of it does not; nil without agents.
	write func(u keys.Unit) (rest []byte, took bool)
	// choose is asked whether a letter was for the proxy; nil without agents.
	choose func(letter byte) bool
	// mute drops the answers of a terminal that was not asked: that of a person who looks on from elsewhere.
	mute bool
	// typed counts the characters that the user types, and keeps none of them.
	typed tally
	// acted is told that a person pressed a key or pasted; nil where it does not matter who.
	acted func()
}

// maxAsked bounds the questions that a terminal may leave without an answer.
const maxAsked = 64

var kinds = [...]input.Kind{
	keys.Key: input.Key, keys.Reclaim: input.Reclaim, keys.Release: input.Release, keys.Confirm: input.Confirm,
	keys.Reply: input.Report, keys.Focus: input.Report, keys.Motion: input.Report, keys.Mouse: input.Key,
	keys.PasteStart: input.PasteStart, keys.Paste: input.Paste, keys.PasteEnd: input.PasteEnd,
}

func (d *detector) Scan(p []byte, emit func(input.Unit)) {
	d.Scanner.Scan(p, func(u keys.Unit) { d.pass(u, emit) })
}

func (d *detector) Flush(emit func(input.Unit)) {
	d.Scanner.Flush(func(u keys.Unit) { d.pass(u, emit) })
}

func (d *detector) pass(u keys.Unit, emit func(input.Unit)) {
	if d.acted != nil && (u.Kind == keys.Key || u.Kind == keys.Reclaim || u.Kind == keys.Confirm || u.Kind == keys.PasteStart) {
		d.acted()
	}
	if u.Kind == keys.Reply && len(d.asked) > 0 {
		if row, ok := keys.CursorReport(u.Bytes); ok {
			take := d.asked[0]
			d.asked = d.asked[1:]
			if take != nil {
				take(row)
				d.whenAnswered(d.answered)
				return
			}
		}
	}
	if d.mute && u.Kind == keys.Reply {
		return
	}
	if d.write != nil {
		if rest, took := d.write(u); took {
			if len(rest) == 0 {
				return
			}
			u.Bytes = rest
		}
	}
	if u.Kind == keys.Key && d.choose != nil {
		if letter, ok := keys.Letter(u.Bytes); ok && d.choose(letter) {
			return
		}
	}
	if u.Kind == keys.Key || u.Kind == keys.Paste {
		d.typed.count(u.Bytes)
	}
	emit(input.Unit{Kind: kinds[u.Kind], Bytes: u.Bytes})
}

// expect says that the terminal was asked for its cursor: by the program, or by the proxy, which takes the answer.
func (d *detector) expect(take func(row int)) {
	if len(d.asked) == maxAsked {
		return
	}
	d.asked = append(d.asked, take)
	d.ExpectCPR(1)
}

// whenAnswered calls do when no question of the proxy's is without its answer: now, or later in place of who waited before.
func (d *detector) whenAnswered(do func()) {
	d.answered = do
	if do == nil || slices.ContainsFunc(d.asked, func(take func(row int)) bool { return take != nil }) {
		return
	}
	d.answered = nil
	do()
}
