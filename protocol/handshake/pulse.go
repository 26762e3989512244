package handshake

import (
	"sync/atomic"
	"time"
)

// Urgent is the rhythm of pings on a connection over which an agent types, and MostMissed how many of them in a row may stay without
// an answer: half a minute less than without a grant says that somebody drives who is gone.
const (
	Urgent     = 5 * time.Second
	MostMissed = 3
)

// UrgentOfSeveral is that rhythm where the gateway is one of several: with another at hand, so much silence is no reason to stay.
const UrgentOfSeveral = 600 * time.Millisecond

// Spread is the time over which those whom a gateway elsewhere lost come back when it says that it restarts (close code 1012): many at
// once would keep it from its work.
const Spread = 500 * time.Millisecond

// Pulse counts pings that nobody answered. It counts pings and not time: this process itself may have been stopped. Heard may be
// called from any goroutine, Lost from one.
type Pulse struct {
	heard  atomic.Bool
	missed int
}

// Heard notes a sign of life.
func (p *Pulse) Heard() { p.heard.Store(true) }

// Answered reports whether there was one since the last ping.
func (p *Pulse) Answered() bool { return p.heard.Load() }

// Lost is called before each ping, and reports whether too many before it were not answered. Without urgent there is none to answer.
func (p *Pulse) Lost(urgent bool) bool {
	if p.heard.Swap(false) || !urgent {
		p.missed = 0
	}
	if urgent {
		p.missed++
	}
	return p.missed > MostMissed
}
