package hub

import (
	"sync"
	"time"
)

// delayed is an action that waits for its time. Guarded by Hub.mu, which is held while it runs.
type delayed struct{ timer *time.Timer }

// start runs do after a delay, unless an action waits already. mu is Hub.mu.
func (d *delayed) start(mu *sync.Mutex, wait time.Duration, do func()) {
	if d.timer != nil {
		return
	}
	var timer *time.Timer
	timer = time.AfterFunc(wait, func() {
		mu.Lock()
		defer mu.Unlock()
		if d.timer == timer {
			d.timer = nil
			do()
		}
	})
	d.timer = timer
}

// stop drops the action, and reports whether one waited.
func (d *delayed) stop() (waited bool) {
	if d.timer == nil {
		return false
	}
	d.timer.Stop()
	d.timer = nil
	return true
}

// rhythm limits how often a stream sends. What comes too early waits, and the newest is sent when
// the interval is over. Guarded by Hub.mu.
type rhythm struct {
	mu    *sync.Mutex   // Hub.mu
	every time.Duration // the interval
	send  func()        // sends the newest
	last  time.Time     // of the last message
	next  delayed       // sends what came too early
}

// isDue reports whether a message may be sent now. If not, send runs once it may.
func (r *rhythm) isDue() bool {
	if r.next.timer == nil && time.Since(r.last) >= r.every {
		return true
	}
	r.sendLater()
	return false
}

// sendLater runs send once a message may be sent, never before it returns.
func (r *rhythm) sendLater() { r.next.start(r.mu, r.every-time.Since(r.last), r.send) }
