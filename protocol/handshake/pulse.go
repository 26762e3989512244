package handshake

import (
	"sync/atomic"
	"time"
)

// Urgent is the interval of pings on a connection over which an agent types, and MaxMissed is how
// many of them in a row may stay unanswered: a lost agent is noticed half a minute sooner than
// without a grant.
const (
	Urgent    = 5 * time.Second
	MaxMissed = 3
)

// UrgentOfSeveral is the interval if the gateway is one of several: another one can take over, so
// that waiting longer has no benefit.
const UrgentOfSeveral = 600 * time.Millisecond

// Spread is the time over which the clients of a remote gateway spread their reconnections after it
// announces a restart (close code 1012), so that they do not overload it.
const Spread = 500 * time.Millisecond

// Pulse counts unanswered pings. It does not measure time, because this process itself may have
// been stopped. Heard may be called from any goroutine, Lost from only one.
type Pulse struct {
	heard  atomic.Bool
	missed int
}

// Heard notes that something was received.
func (p *Pulse) Heard() { p.heard.Store(true) }

// Answered reports whether anything was received since the last ping.
func (p *Pulse) Answered() bool { return p.heard.Load() }

// Lost must be called before each ping. It reports whether too many earlier pings were not
// answered; without urgent it always reports false.
func (p *Pulse) Lost(urgent bool) bool {
	if p.heard.Swap(false) || !urgent {
		p.missed = 0
	}
	if urgent {
		p.missed++
	}
	return p.missed > MaxMissed
}
