package pump

import (
	"slices"
	"time"
)

// WithdrawInput gives up an input that waits, is held or, if begun is set, is being written. Only
// the rest of a key follows, and the end of a paste that has begun. It may be called on any
// goroutine.
func (p *Pump) WithdrawInput(id string, begun bool) {
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
		rest = unfinishedPieces(job.pieces, job.begun)
	}
	job.cut = job.bytesLeft() - job.flushed
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
	p.answerJob(at, Receipt{Fate: Withdrawn})
	if at == 0 && p.Control.IsLineOccupied() {
		p.Control.VacateLine(now) // the next input is checked anew
	}
}

// unfinishedPieces returns the pieces that the program must get in any case: the first, if it is
// half written, and the end of an unfinished paste.
func unfinishedPieces(pieces []Piece, begun bool) (rest []Piece) {
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

// finishJob answers a completely written job.
func (p *Pump) finishJob(job *pending) {
	fate := Written
	if job.given {
		fate = Withdrawn
	}
	p.answerHead(Receipt{Fate: fate})
}
