package link

import (
	"context"
	"sync/atomic"
	"time"
)

// worthAfter is how long a program that has printed nothing has to run before a gateway hears of it: until then it may have ended.
const worthAfter = 3 * time.Millisecond

// Worth decides whether a gateway hears of a session: of a program that ends at once and in silence nobody has anything to see, or to
// wait for. Its methods may be called from any goroutine.
type Worth struct {
	Always bool            // whatever the program does
	Begun  <-chan struct{} // closed when the program has printed something

	decided atomic.Int32
}

const (
	undecided int32 = iota
	worth
	silent // it ended before
)

// Wait waits for the decision, which is no when ctx ends before.
func (w *Worth) Wait(ctx context.Context) bool {
	if !w.Always {
		select {
		case <-ctx.Done():
			return false
		case <-w.Begun:
		case <-time.After(worthAfter):
		}
	}
	return w.decided.CompareAndSwap(undecided, worth)
}

// Now reports whether a gateway hears of the session, as it is now.
func (w *Worth) Now() bool {
	select {
	case <-w.Begun:
		return true
	default:
		return w.Always || w.decided.Load() == worth
	}
}

// Ended is Now when the program has ended and all it printed was seen: a session that no gateway has heard of by then stays unheard of.
func (w *Worth) Ended() bool { return w.Now() || !w.decided.CompareAndSwap(undecided, silent) }
