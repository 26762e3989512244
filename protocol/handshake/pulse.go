package handshake

import (
	"sync/atomic"
	"time"
)

// Urgent spaces the pings on a connection over which an agent types, and MostMissed bounds how many
// of them in a row may stay without an answer: a lost driver is noticed half a minute sooner than
// without a grant.
const (
	Urgent     = 5 * time.Second
	MostMissed = 3
)

// UrgentOfSeveral spaces them if the gateway is one of several: with another at hand, so much
// silence is no reason to stay.
const UrgentOfSeveral = 600 * time.Millisecond

// Spread is the time over which the clients of a remote gateway reconnect after it announces a
// restart (close code 1012), so that they do not overload it.
const Spread = 500 * time.Millisecond

// Pulse counts unanswered pings. It counts pings and not time: this process itself may have been
// stopped. Heard may be called from any goroutine, Lost from one.
type Pulse struct {
	heard  atomic.Bool
	missed int
}

// Heard notes that something was received.
func (p *Pulse) Heard() { p.heard.Store(true) }

// Answered reports whether anything was received since the last ping.
func (p *Pulse) Answered() bool { return p.heard.Load() }

// Lost is called before each ping, and reports whether too many before it were not answered.
// Without urgent it reports false.
func (p *Pulse) Lost(urgent bool) bool {
	if p.heard.Swap(false) || !urgent {
		p.missed = 0
	}
	if urgent {
		p.missed++
	}
	return p.missed > MostMissed
}
