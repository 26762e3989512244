package input

import (
	"slices"
	"time"
)

// Withdraw gives an input up that waits, is held or, where begun says so, is being written: nothing of it follows but the rest of a key,
// and the end of a paste that the program has the beginning of. It may be called from any goroutine.
func (p *Pump) Withdraw(id string, begun bool) {
	p.Post(func(now time.Time) {
		at := slices.IndexFunc(p.queue, func(j *pending) bool { return j.ID == id && !j.given })
		if at < 0 || !begun && p.queue[at].written > 0 && !p.queue[at].held {
			return
		}
		p.giveUp(now, at)
	})
}

// giveUp cuts off what need not follow of a job.
func (p *Pump) giveUp(now time.Time, at int) {
	job := p.queue[at]
	var rest []Piece
	if job.written > 0 {
		rest = unfinished(job.pieces, job.begun)
	}
	job.cut = job.left() - job.flushed
	for _, piece := range rest {
		job.cut -= len(piece.Bytes)
	}
	if job.pieces = rest; job.pieces == nil {
		job.pieces = []Piece{}
	}
	if len(rest) > 0 {
		if job.held {
			p.Control.WithdrawConfirmation()
			job.held = false
		}
		job.given, job.asked, job.ready, job.stale = true, true, true, false
		return
	}
	p.answer(at, Receipt{Fate: Withdrawn})
	if at == 0 && p.Control.Occupied() {
		p.Control.Vacate(now) // what comes next is looked at anew
	}
}

// unfinished are the pieces that the program has to get in any case: the first, if it is half written, and the end of the paste in
// which the job stands.
func unfinished(pieces []Piece, begun bool) (rest []Piece) {
	if begun {
		rest, pieces = pieces[:1:1], pieces[1:]
	}
	for _, piece := range pieces {
		switch string(piece.Bytes) {
		case pasteBegins:
			return rest
		case pasteEnds:
			return append(rest, piece)
		}
	}
	return rest
}

// finishJob answers a job of which nothing is left to write.
func (p *Pump) finishJob(job *pending) {
	fate := Written
	if job.given {
		fate = Withdrawn
	}
	p.retire(Receipt{Fate: fate})
}
