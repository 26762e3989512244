package auth

import (
	"sync"
	"time"
)

// Bounds of guesses.
const (
	freeFailures  = 10          // in one window
	failureWindow = time.Minute // of a peer
	failureDelay  = time.Second // for each further failure
	maxFailing    = 4096        // remembered peers
)

// Failures counts failed attempts by peer and decides how long the next answer is delayed. The zero
// value is ready. All methods are safe for concurrent use.
type Failures struct {
	// Now is the clock. If nil, the system's clock is used.
	Now func() time.Time

	mu    sync.Mutex
	peers map[string]failing
}

type failing struct {
	since time.Time
	count int
}

// NoteFailure records a failed attempt by a peer, an IP address, and returns how long to delay the
// answer.
func (f *Failures) NoteFailure(peer string) time.Duration {
	now := time.Now()
	if f.Now != nil {
		now = f.Now()
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.peers == nil {
		f.peers = make(map[string]failing)
	}
	p, known := f.peers[peer]
	if !known || now.Sub(p.since) >= failureWindow {
		p = failing{since: now}
	}
	p.count++
	if !known && len(f.peers) >= maxFailing {
		f.dropExpired(now)
	}
	f.peers[peer] = p
	if p.count > freeFailures {
		return failureDelay
	}
	return 0
}

// dropExpired forgets peers whose window is over. If too many remain, it forgets all, because
// memory must stay bounded.
func (f *Failures) dropExpired(now time.Time) {
	for name, p := range f.peers {
		if now.Sub(p.since) >= failureWindow {
			delete(f.peers, name)
		}
	}
	if len(f.peers) >= maxFailing {
		clear(f.peers)
	}
}
