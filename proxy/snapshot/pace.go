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

// Pace says when the next snapshot is due. These are its rules, in order:
//
//  1. Nothing changed since the last snapshot, and that one showed a settled screen: nothing is due, and no timer runs.
//  2. A change after quiet, which is 100 ms without any or the interval if that is shorter, is due at once.
//  3. Otherwise a change is due when it settles, which is the settle time after the last change. If the snapshot sent last
//     was settled too, that waits for the interval since it. And it is never later than the interval after the first
//     change that was not sent.
//  4. A snapshot of an unsettled screen is followed by one that says that the screen has settled, even if nothing
//     changed in between.
//  5. While the program holds its output (synchronised update), its screen is half drawn: nothing is due and
//     nothing settles, for at most one second.
//
// So a key's echo is seen at once and its settled screen just after; output that never pauses for long gives two snapshots
// an interval at most. The time passed in never decreases.
//
// One goroutine owns it.
type Pace struct {
	interval, settle time.Duration

	pending     bool
	fresh       bool      // the first change not sent came after quiet
	first, last time.Time // first change not sent, last change
	sent        time.Time // last snapshot
	sentSettled bool

	held time.Time // begin of the hold, zero for none
}

// NewPace is the rhythm with the given interval and settle time; what is not above zero becomes the default.
func NewPace(interval, settle time.Duration) *Pace {
	if interval <= 0 {
		interval = DefaultInterval
	}
	if settle <= 0 {
		settle = DefaultSettle
	}
	return &Pace{interval: interval, settle: settle, sentSettled: true}
}

// Changed says that an observer would see a difference from now on.
func (p *Pace) Changed(now time.Time) {
	if !p.pending {
		p.pending, p.first = true, now
		p.fresh = now.Sub(p.last) >= min(quietBefore, p.interval)
	}
	p.last = now
}

// Hold says whether the program holds its output (mode 2026), after each look at the terminal model.
func (p *Pace) Hold(now time.Time, on bool) {
	switch {
	case !on:
		p.held = time.Time{}
	case p.held.IsZero():
		p.held = now
	}
}

// Due reports whether a snapshot is to be sent now.
func (p *Pace) Due(now time.Time) bool {
	at, ok := p.Next()
	return ok && !now.Before(at)
}

// Next is when to ask [Pace.Due] again unless something changes before; false when there is nothing to wait for.
func (p *Pace) Next() (time.Time, bool) {
	settles := p.Settles()
	switch {
	case p.pending && p.fresh:
		return p.unheld(p.first), true
	case p.pending:
		at := settles
		if p.sentSettled {
			at = later(at, p.sent.Add(p.interval))
		}
		return p.unheld(earlier(at, p.first.Add(p.interval))), true
	case !p.sentSettled:
		return settles, true
	}
	return time.Time{}, false
}

// Sent says that a snapshot of the present screen was sent.
func (p *Pace) Sent(now time.Time) {
	p.sentSettled = p.Settled(now)
	p.pending, p.sent = false, now
}

// LastChange is when the screen changed last, the zero time if it never did.
func (p *Pace) LastChange() time.Time { return p.last }

// Settled reports whether the screen has been quiet for the settle time and is not held half drawn.
func (p *Pace) Settled(now time.Time) bool { return !now.Before(p.Settles()) }

// Settles is when the screen has been quiet for the settle time, if nothing changes before.
func (p *Pace) Settles() time.Time { return p.QuietFrom(p.settle) }

// QuietFrom is the moment from which the screen counts as quiet for the given time, if nothing changes before. What is
// held half drawn is not quiet.
func (p *Pace) QuietFrom(quiet time.Duration) time.Time { return p.unheld(p.last.Add(quiet)) }

// unheld is t, or the end of the hold if that is later. A hold that lasts longer than it may counts as none.
func (p *Pace) unheld(t time.Time) time.Time {
	if p.held.IsZero() {
		return t
	}
	return later(t, p.held.Add(maxHold))
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

func earlier(a, b time.Time) time.Time {
	if a.Before(b) {
		return a
	}
	return b
}
