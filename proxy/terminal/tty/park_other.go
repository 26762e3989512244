//go:build !linux

package tty

import "time"

// parking is empty: kqueue(2) of macOS does not report terminals, so a poller waits in poll(2).
type parking struct{}

func newParking(*Poller) *parking { return nil }

func (*parking) close() {}

// wait is Wait.
func (p *Poller) wait(want Events, timeout time.Duration) (Events, error) {
	return p.pollEvents(want, timeout)
}
