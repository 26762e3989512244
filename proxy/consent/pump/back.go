package pump

import "time"

// Times of the wait for the program's return, if agents type to one program only.
const (
	// backFirst is the delay of the first check after a piece. Each further delay is twice as long,
	// up to lookEvery.
	backFirst = time.Millisecond
	// backMax is how long a foreground program may not ask for more before the rest is refused.
	backMax = 10 * time.Second
)

// comeback is the wait until the program asks for more after something that it may act on: it could
// give the terminal to another program, which would read what follows.
type comeback struct {
	open bool
	at   time.Time // of the next check
	gap  time.Duration
}

// awaitProgram begins the wait for the program after something that it may act on.
func (q *jobs) awaitProgram(now time.Time) {
	if q.Back != nil && q.isDriven() && q.Control.DependsOnProgram() {
		q.back = comeback{open: true, at: now.Add(backFirst), gap: backFirst}
	}
}

// checkBack checks whether the program is back, while input waits for that.
func (q *jobs) checkBack(now time.Time) {
	if !q.back.open || len(q.queue) == 0 || now.Before(q.back.at) || now.Before(q.heldUntil()) {
		return
	}
	if q.Back(now) {
		q.back = comeback{}
		return
	}
	q.back.gap = min(2*q.back.gap, lookEvery)
	q.back.at = now.Add(q.back.gap)
	switch job := q.queue[0]; {
	case q.Control.IsPausedByProgram(): // wait as long as the input may
		job.since = time.Time{}
	case job.since.IsZero():
		job.since = now
	case now.Sub(job.since) >= backMax && job.Life.canHappen(NotBack):
		q.answerHead(NotBack, nil)
	}
}
