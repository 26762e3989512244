package pump

import "time"

// Times of the wait for the program's return, if agents type to one program only.
const (
	// firstComebackCheck is the delay of the first check after a piece. Each further delay is twice
	// as long, up to lookEvery.
	firstComebackCheck = time.Millisecond
	// maxComebackWait is how long the foreground program may take to ask for more input. After that
	// the rest is refused.
	maxComebackWait = 10 * time.Second
)

// comeback is the wait until the program asks for more input, after input that it may act on: it
// could give the terminal to another program, which would read the next input.
type comeback struct {
	open bool
	at   time.Time // of the next check
	gap  time.Duration
}

// awaitProgram begins the wait for the program after input that it may act on.
func (q *jobs) awaitProgram(now time.Time) {
	if q.IsProgramBack != nil && q.isDriven() && q.Control.DependsOnProgram() {
		q.comeback = comeback{open: true, at: now.Add(firstComebackCheck), gap: firstComebackCheck}
	}
}

// checkComeback checks whether the program is back, while input waits for that.
func (q *jobs) checkComeback(now time.Time) {
	if !q.comeback.open || len(q.queue) == 0 || now.Before(q.comeback.at) || now.Before(q.heldUntil()) {
		return
	}
	if q.IsProgramBack(now) {
		q.comeback = comeback{}
		return
	}
	q.comeback.gap = min(2*q.comeback.gap, lookEvery)
	q.comeback.at = now.Add(q.comeback.gap)
	switch job := q.queue[0]; {
	case q.Control.IsPausedByProgram(): // the input's own time limit applies
		job.since = time.Time{}
	case job.since.IsZero():
		job.since = now
	case now.Sub(job.since) >= maxComebackWait && job.Life.canHappen(NotBack):
		q.answerHead(NotBack, nil)
	}
}
