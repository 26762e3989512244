package link

import (
	"context"
	"sync/atomic"
	"time"
)

// worthAfter is how long a silent program must run before a gateway learns of it: until then it may
// have ended.
const worthAfter = 3 * time.Millisecond

// Worth decides whether a gateway learns of a session: a program that ends at once and in silence
// leaves nothing to see or to wait for. Its methods may be called on any goroutine.
type Worth struct {
	Always bool            // independent of the program
	Begun  <-chan struct{} // closed when the program has printed something

	decided atomic.Int32
}

const (
	undecided int32 = iota
	worth
	silent // it ended before
)

// WaitWorth waits for the decision. It is false if ctx ends before.
func (w *Worth) WaitWorth(ctx context.Context) bool {
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

// IsWorthNow reports whether a gateway learns of the session, as of now.
func (w *Worth) IsWorthNow() bool {
	select {
	case <-w.Begun:
		return true
	default:
		return w.Always || w.decided.Load() == worth
	}
}

// DecideAtEnd is IsWorthNow once the program has ended and all of its output was seen: a session
// unknown to gateways by then stays unknown.
func (w *Worth) DecideAtEnd() bool {
	return w.IsWorthNow() || !w.decided.CompareAndSwap(undecided, silent)
}
