package pump

import (
	"slices"
	"time"
)

// WithdrawInput gives up an input that waits, is held or, if begun is set, is being written. It may
// be called on any goroutine.
func (p *Pump) WithdrawInput(id string, begun bool) {
	p.Post(func(now time.Time) {
		at := slices.IndexFunc(p.queue, func(j *pending) bool { return j.ID == id })
		if at < 0 {
			return
		}
		written, held := p.queue[at].written > 0, p.queue[at].Life.State() == Held
		if written && !held && !begun {
			return
		}
		p.answerJob(at, GivenUp, nil)
		if written {
			p.closeUnclosed(false)
		}
		if at == 0 && p.Control.IsLineOccupied() {
			p.Control.VacateLine(now) // the next input is checked again
		}
	})
}
