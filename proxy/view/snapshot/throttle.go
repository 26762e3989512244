package snapshot

import "time"

// The rate of a session unless its owner asks for another.
const (
	DefaultInterval = 500 * time.Millisecond
	DefaultSettle   = 30 * time.Millisecond
)

// quietBefore is how long nothing must have changed for a change to be shown at once. An agent sees
// each answer of a program at once if the program prints now and then; continuous output is not
// followed line by line.
const quietBefore = 100 * time.Millisecond

// maxHold bounds synchronised output (DEC mode 2026), for a program that never ends its update.
const maxHold = time.Second

// Throttle decides when the next snapshot is due. These are its rules, in order:
//
//  1. Without a change since the last snapshot, and if that one showed a settled screen, nothing is
//     due and no timer runs.
//  2. A change after quiet is due at once, unless [Throttle.SetPatient] was called. Quiet means no
//     change for 100 ms, or for the interval if that is shorter. A change of control is due once
//     the settle time after the last snapshot is over, and at once of a patient throttle.
//  3. Any other change is due when it settles, the settle time after the last change. If the last
//     snapshot was settled, too, the change also waits for the interval since that one. It is never
//     due later than the interval after the first change that was not sent.
//  4. A snapshot of an unsettled screen is followed by one that tells that the screen has settled,
//     even without a change in between.
//  5. A program that has shown nothing yet is starting: a blank screen does not settle before
//     [Throttle.SetBlankUntil] says.
//  6. While the program holds its output (synchronised update), its screen is half drawn: nothing
//     is due and nothing settles, for at most one second.
//
// So a key's echo is seen at once and its settled screen just after. Output that never pauses for
// long gives at most two snapshots an interval. The time passed in never decreases.
//
// One goroutine owns it.
type Throttle struct {
	interval, settle time.Duration

	pending     bool
	urgent      bool // more than the screen changed
	fresh       bool // first came after quiet
	patient     bool
	first, last time.Time // first change not sent, last change
	sent        time.Time // last snapshot
	sentSettled bool

	held     time.Time // start of the hold, or zero
	starting time.Time // a blank screen is not settled before then
}

// NewThrottle uses the given interval and settle time; one that is not above zero becomes the
// default.
func NewThrottle(interval, settle time.Duration) *Throttle {
	if interval <= 0 {
		interval = DefaultInterval
	}
	if settle <= 0 {
		settle = DefaultSettle
	}
	return &Throttle{interval: interval, settle: settle, sentSettled: true}
}

// NoteChange notes that observers would see a difference from now on.
func (t *Throttle) NoteChange(now time.Time) {
	if !t.pending {
		t.pending, t.first = true, now
		t.fresh = now.Sub(t.last) >= min(quietBefore, t.interval)
	}
	t.last = now
}

// NoteUrgentChange notes a change that others know already, such as who has the keyboard. It is due
// at once, but no more often than a screen settles.
func (t *Throttle) NoteUrgentChange(now time.Time) {
	t.NoteChange(now)
	t.urgent = true
}

// SetPatient sets whether a change after quiet waits like any other. A change that waits already is
// due at once when patience ends.
func (t *Throttle) SetPatient(on bool) { t.patient = on }

// SetHeld sets whether the program holds its output (mode 2026), after each look at the terminal
// model.
func (t *Throttle) SetHeld(now time.Time, on bool) {
	switch {
	case !on:
		t.held = time.Time{}
	case t.held.IsZero():
		t.held = now
	}
}

// SetBlankUntil notes that the screen is still blank and does not settle before until; the zero
// time notes that it shows text.
func (t *Throttle) SetBlankUntil(until time.Time) { t.starting = until }

// Due reports whether to send a snapshot now.
func (t *Throttle) Due(now time.Time) bool {
	at, ok := t.Next()
	return ok && !now.Before(at)
}

// Next returns when to ask [Throttle.Due] again unless something changes before; false if there is
// no such time.
func (t *Throttle) Next() (time.Time, bool) {
	settles := t.SettleTime()
	switch {
	case t.pending && (t.fresh && !t.patient || t.urgent && t.patient):
		return t.afterHold(t.first), true
	case t.pending && t.urgent:
		return t.afterHold(LaterOf(t.first, t.sent.Add(t.settle))), true
	case t.pending:
		at := settles
		if t.sentSettled {
			at = LaterOf(at, t.sent.Add(t.interval))
		}
		if latest := t.first.Add(t.interval); latest.Before(at) {
			at = latest
		}
		return t.afterHold(at), true
	case !t.sentSettled:
		return settles, true
	}
	return time.Time{}, false
}

// NoteSent notes that a snapshot of the present screen was sent.
func (t *Throttle) NoteSent(now time.Time) {
	t.sentSettled = t.Settled(now)
	t.pending, t.urgent, t.sent = false, false, now
}

// LastChange returns when the screen changed last, the zero time if it never did.
func (t *Throttle) LastChange() time.Time { return t.last }

// Settled reports whether the screen has been quiet for the settle time and is not half drawn.
func (t *Throttle) Settled(now time.Time) bool { return !now.Before(t.SettleTime()) }

// SettleTime returns when the screen will have been quiet for the settle time, if nothing changes
// before.
func (t *Throttle) SettleTime() time.Time { return t.QuietFrom(t.settle) }

// QuietFrom returns when the screen will have been quiet for the given time, if nothing changes
// before. A half drawn screen is not quiet, and neither is the blank one of a starting program.
func (t *Throttle) QuietFrom(quiet time.Duration) time.Time {
	return LaterOf(t.afterHold(t.last.Add(quiet)), t.starting)
}

// afterHold returns until, or the end of the hold if that is later. A hold is over after maxHold.
func (t *Throttle) afterHold(until time.Time) time.Time {
	if t.held.IsZero() {
		return until
	}
	return LaterOf(until, t.held.Add(maxHold))
}

// LaterOf returns the later of two times.
func LaterOf(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}
