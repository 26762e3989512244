package observer

import (
	"sync"
	"time"
)

// turn is work on the observer's goroutine, cancelled if its caller has waited too long.
type turn struct {
	mu        sync.Mutex // held while a part of the work runs
	cancelled bool
	done      chan struct{}
}

// run does a part of the work unless it was cancelled.
func (t *turn) run(now time.Time, do func(now time.Time)) (off bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.cancelled && do != nil {
		do(now)
	}
	return t.cancelled
}

// TryCall is Call with a limit on the wait. If do has not begun by then, late is called on the
// observer's goroutine in its place. over reports that the loop has ended.
func (i *inlet) TryCall(limit time.Duration, do func(now time.Time), late func()) (ran, over bool) {
	return i.TryAround(limit, nil, nil, do, late)
}

// TryAround is TryCall around the feeding of a chunk. Either function may run without the other if
// time is short; the chunk is fed unless the loop has ended.
func (i *inlet) TryAround(
	limit time.Duration, before func(now time.Time), chunk []byte, after func(now time.Time),
	late func(),
) (ran, over bool) {
	t := turn{done: make(chan struct{})}
	if before != nil {
		i.enqueuePost(func(now time.Time) { t.run(now, before) })
		i.Feed(chunk)
	}
	ok := i.Post(func(now time.Time) {
		if t.run(now, after) {
			late()
			return
		}
		close(t.done)
	})
	if !ok {
		return false, true
	}
	patience := time.NewTimer(limit)
	defer patience.Stop()
	select {
	case <-t.done:
		return true, false
	case <-i.done:
		over = true
	case <-patience.C:
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	select {
	case <-t.done: // at the last moment
		return true, false
	default:
		t.cancelled = true
		return false, over
	}
}
