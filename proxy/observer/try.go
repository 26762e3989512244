package observer

import (
	"sync"
	"time"
)

// turn is work on the observer's goroutine that is called off when its caller has waited for too long.
type turn struct {
	mu   sync.Mutex // held while a part of the work runs
	off  bool
	done chan struct{}
}

// run does a part of the work unless it was called off.
func (t *turn) run(now time.Time, do func(now time.Time)) (off bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.off && do != nil {
		do(now)
	}
	return t.off
}

// Try is Call that waits for at most limit. When that has passed do is not run any more, unless it has begun; then late is
// called, on the observer's goroutine, when do would have been. over says that the loop has ended.
func (o *Observer) Try(limit time.Duration, do func(now time.Time), late func()) (ran, over bool) {
	return o.TryAround(limit, nil, nil, do, late)
}

// TryAround is Try for what is to be done before a chunk is fed, and after it. Either may be run without the other where time
// is short; the chunk is fed, unless the loop has ended.
func (o *Observer) TryAround(limit time.Duration, before func(now time.Time), chunk []byte, after func(now time.Time), late func()) (ran, over bool) {
	t := turn{done: make(chan struct{})}
	if before != nil {
		o.queue(func(now time.Time) { t.run(now, before) })
		o.Feed(chunk)
	}
	ok := o.Post(func(now time.Time) {
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
	case <-o.done:
		over = true
	case <-patience.C:
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	select {
	case <-t.done: // at the last moment
		return true, false
	default:
		t.off = true
		return false, over
	}
}
