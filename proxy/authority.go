package proxy

import (
	"sync/atomic"
	"time"

	"terminalproxy/proxy/control"
	"terminalproxy/proxy/input"
	"terminalproxy/proxy/keys"
)

// authority is the control state machine as the pump sees it. Its methods belong to the pump's goroutine, except state,
// which anybody may read.
type authority struct {
	*control.Machine
	now     atomic.Pointer[control.State]
	changed func(control.State)                             // the state differs from what it was
	event   func(e control.Event, dropped, unsubmitted int) // control was given, ended or refused
}

func newAuthority(conf control.Config) *authority {
	a := &authority{Machine: control.New(conf)}
	state := a.State(time.Now())
	a.now.Store(&state)
	return a
}

// state is the newest published state.
func (a *authority) state() control.State { return *a.now.Load() }

func (a *authority) Chord(now time.Time) input.Verdict   { return verdict(a.Machine.Chord(now)) }
func (a *authority) Confirm(now time.Time) input.Verdict { return verdict(a.Machine.Confirm(now)) }
func (a *authority) Driven() bool                        { return a.Phase() == control.Granted }
func (a *authority) Sought() bool                        { return a.Phase() != control.Observing }
func (a *authority) Overrun(now time.Time)               { a.End(now, control.Reclaimed) }

// Settle publishes what changed, after the pump's queue is clean.
func (a *authority) Settle(now time.Time, dropped, unsubmitted int) {
	for _, e := range a.TakeEvents() {
		a.event(e, dropped, unsubmitted)
	}
	if s := a.State(now); s != a.state() {
		a.now.Store(&s)
		a.changed(s)
	}
}

func verdict(a control.Act) input.Verdict {
	if a == control.Pass {
		return input.Pass
	}
	return input.Take
}

// detector is the scanner of package keys as the pump sees it. It also swallows the answer to the one question that the
// proxy itself asked the terminal, should that come late: it must not be typed into the program.
type detector struct {
	*keys.Scanner
	// ours is the number of cursor reports that the proxy waits for, theirs the number that the program does.
	ours, theirs int
}

var kinds = [...]input.Kind{
	keys.Key: input.Key, keys.Reclaim: input.Chord, keys.Release: input.Release, keys.Confirm: input.Confirm,
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
	if u.Kind == keys.Reply && isCursorReport(u.Bytes) {
		switch {
		case d.ours > 0:
			d.ours--
			return
		case d.theirs > 0:
			d.theirs--
		}
	}
	emit(input.Unit{Kind: kinds[u.Kind], Bytes: u.Bytes})
}

// ask says that the proxy asked the terminal for its cursor and got no answer in time.
func (d *detector) ask() {
	d.ours++
	d.ExpectCPR(1)
}

// expect says that the program asked the terminal for its cursor n times.
func (d *detector) expect(n int) {
	d.theirs += n
	d.ExpectCPR(n)
}

// isCursorReport recognises CPR (CSI row ; col R, ECMA-48 8.3.14).
func isCursorReport(b []byte) bool {
	return len(b) > 3 && b[0] == 0x1b && b[1] == '[' && b[len(b)-1] == 'R' && b[2] >= '0' && b[2] <= '9'
}
