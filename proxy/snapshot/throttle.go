package snapshot

import "time"

// The rhythm of a session unless its owner asks for another.
const (
	DefaultInterval = 500 * time.Millisecond
	DefaultSettle   = 30 * time.Millisecond
)

// quietBefore is how long nothing must have changed for a change to be shown at once. Who waits for a program that answers
// now and then sees each answer when it is there; a program that prints without pause is not followed line by line.
const quietBefore = 100 * time.Millisecond

// maxHold bounds synchronised output (DEC mode 2026): a program that never ends its update is looked at all the same.
const maxHold = time.Second

// Throttle says when the next snapshot is due. These are its rules, in order:
//
//  1. Nothing changed since the last snapshot, and that one showed a settled screen: nothing is due, and no timer runs.
//  2. A change after quiet, which is 100 ms without any or the interval if that is shorter, is due at once. So is one of control,
//     as soon as the settle time after the last snapshot is over.
//  3. Otherwise a change is due when it settles, which is the settle time after the last change. If the snapshot sent last
//     was settled too, that waits for the interval since it. And it is never later than the interval after the first
//     change that was not sent.
//  4. A snapshot of an unsettled screen is followed by one that says that the screen has settled, even if nothing
//     changed in between.
//  5. A program that has shown nothing yet is starting: a blank screen does not settle before [Throttle.Starting] says.
//  6. While the program holds its output (synchronised update), its screen is half drawn: nothing is due and
//     nothing settles, for at most one second.
//
// So a key's echo is seen at once and its settled screen just after; output that never pauses for long gives two snapshots
// an interval at most. The time passed in never decreases.
//
// One goroutine owns it.
type Throttle struct {
	interval, settle time.Duration

	pending     bool
	urgent      bool      // what changed is not the screen alone
	fresh       bool      // the first change not sent came after quiet
	first, last time.Time // first change not sent, last change
	sent        time.Time // last snapshot
	sentSettled bool

	held     time.Time // begin of the hold, zero for none
	starting time.Time // until when a blank screen is not settled
}

// NewThrottle is the rhythm with the given interval and settle time; what is not above zero becomes the default.
func NewThrottle(interval, settle time.Duration) *Throttle {
	if interval <= 0 {
		interval = DefaultInterval
	}
	if settle <= 0 {
		settle = DefaultSettle
	}
	return &Throttle{interval: interval, settle: settle, sentSettled: true}
}

// Changed says that an observer would see a difference from now on.
func (t *Throttle) Changed(now time.Time) {
	if !t.pending {
		t.pending, t.first = true, now
		t.fresh = now.Sub(t.last) >= min(quietBefore, t.interval)
	}
	t.last = now
}

// Urge says that what changed is known elsewhere already, as who has the keyboard: it is due at once, and no more often than a
// screen settles.
func (t *Throttle) Urge(now time.Time) {
	t.Changed(now)
	t.urgent = true
}

// Hold says whether the program holds its output (mode 2026), after each look at the terminal model.
func (t *Throttle) Hold(now time.Time, on bool) {
	switch {
	case !on:
		t.held = time.Time{}
	case t.held.IsZero():
		t.held = now
	}
}

// Starting says that the screen shows nothing yet and does not settle before until; the zero time, that it shows something.
func (t *Throttle) Starting(until time.Time) { t.starting = until }

// Due reports whether a snapshot is to be sent now.
func (t *Throttle) Due(now time.Time) bool {
	at, ok := t.Next()
	return ok && !now.Before(at)
}

// Next is when to ask [Throttle.Due] again unless something changes before; false when there is nothing to wait for.
func (t *Throttle) Next() (time.Time, bool) {
	settles := t.Settles()
	switch {
	case t.pending && t.fresh:
		return t.unheld(t.first), true
	case t.pending && t.urgent:
		return t.unheld(later(t.first, t.sent.Add(t.settle))), true
	case t.pending:
		at := settles
		if t.sentSettled {
			at = later(at, t.sent.Add(t.interval))
		}
		if latest := t.first.Add(t.interval); latest.Before(at) {
			at = latest
		}
		return t.unheld(at), true
	case !t.sentSettled:
		return settles, true
	}
	return time.Time{}, false
}

// Sent says that a snapshot of the present screen was sent.
func (t *Throttle) Sent(now time.Time) {
	t.sentSettled = t.Settled(now)
	t.pending, t.urgent, t.sent = false, false, now
}

// LastChange is when the screen changed last, the zero time if it never did.
func (t *Throttle) LastChange() time.Time { return t.last }

// Settled reports whether the screen has been quiet for the settle time and is not held half drawn.
func (t *Throttle) Settled(now time.Time) bool { return !now.Before(t.Settles()) }

// Settles is when the screen has been quiet for the settle time, if nothing changes before.
func (t *Throttle) Settles() time.Time { return t.QuietFrom(t.settle) }

// QuietFrom is the moment from which the screen counts as quiet for the given time, if nothing changes before. What is
// held half drawn is not quiet, nor is one that a program which is starting left blank.
func (t *Throttle) QuietFrom(quiet time.Duration) time.Time {
	return later(t.unheld(t.last.Add(quiet)), t.starting)
}

// unheld is t, or the end of the hold if that is later. A hold that lasts longer than it may counts as none.
func (t *Throttle) unheld(until time.Time) time.Time {
	if t.held.IsZero() {
		return until
	}
	return later(until, t.held.Add(maxHold))
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}
