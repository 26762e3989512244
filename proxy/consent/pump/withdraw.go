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
		at := slices.IndexFunc(p.queue, func(j *pending) bool { return j.ID == id && !j.Life.isGivenUp() })
		if at < 0 || !begun && p.queue[at].written > 0 && p.queue[at].Life.State() != Held {
			return
		}
		p.giveUp(now, at)
	})
}

// giveUp cuts off the pieces of a job that the program should not get.
func (q *jobs) giveUp(now time.Time, at int) {
	job := q.queue[at]
	var rest []Piece
	if job.written > 0 {
		rest = unfinishedPieces(job.pieces, job.Life.isHalfWritten())
	}
	job.cut = job.bytesLeft() - job.flushed
	for _, piece := range rest {
		job.cut -= len(piece.Bytes)
	}
	if job.pieces = rest; job.pieces == nil {
		job.pieces = []Piece{}
	}
	if len(rest) > 0 {
		if job.Life.State() == Held {
			q.Control.WithdrawConfirmation()
		}
		q.advance(job, CutOff)
		return
	}
	q.answerJob(at, GivenUp, nil)
	if at == 0 && q.Control.IsLineOccupied() {
		q.Control.VacateLine(now) // the next input is checked again
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
