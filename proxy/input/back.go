package input

import "time"

// Times of the wait for the program to come back, where agents type to one program only.
const (
	// backFirst is when the first look comes after a piece; each further one takes twice as long, up to lookEvery.
	backFirst = time.Millisecond
	// backMax is how long a program that stays in front may not ask for more before the rest is refused.
	backMax = 10 * time.Second
)

// comeback is the wait for the program to ask for more after something that it may act on: it could give the terminal to
// another one, which would read what follows.
type comeback struct {
	open bool
	at   time.Time // of the next look
	gap  time.Duration
}

// acted notes that the program was given something that it may act on.
func (p *Pump) acted(now time.Time) {
	if p.Back != nil && p.driven() && p.Control.Guarded() {
		p.back = comeback{open: true, at: now.Add(backFirst), gap: backFirst}
	}
}

// lookBack looks whether the program is back, while input waits for that.
func (p *Pump) lookBack(now time.Time) {
	if !p.back.open || len(p.queue) == 0 || now.Before(p.back.at) || now.Before(p.heldUntil()) {
		return
	}
	if p.Back(now) {
		p.back = comeback{}
		return
	}
	p.back.gap = min(2*p.back.gap, lookEvery)
	p.back.at = now.Add(p.back.gap)
	switch job := p.queue[0]; {
	case p.Control.Away(): // another program is in front: that may take as long as the input has time
		job.since = time.Time{}
	case job.since.IsZero():
		job.since = now
	case now.Sub(job.since) >= backMax && !job.held:
		p.retire(Receipt{Fate: Busy})
	}
}
