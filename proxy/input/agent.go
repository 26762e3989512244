package input

import (
	"errors"
	"time"
)

// ErrFull refuses input while too many wait already.
var ErrFull = errors.New("too much input waits to be typed already")

// accept takes a job into the queue, or refuses it.
func (p *Pump) accept(now time.Time, j Job) {
	if err := p.admit(now, j); err != nil {
		j.Done(Receipt{Fate: Refused, Err: err})
		return
	}
	if len(p.queue) >= queueMax {
		j.Done(Receipt{Fate: Refused, Err: ErrFull})
		return
	}
	job := &pending{Job: j}
	if j.Wait > 0 {
		job.deadline = now.Add(j.Wait)
	}
	p.queue = append(p.queue, job)
}

// admit says why nothing of j may be written now, nil if it may.
func (p *Pump) admit(now time.Time, j Job) error {
	err := p.Control.Admit(now, j.Agent, j.Epoch)
	if err != nil && j.Excuse != nil && j.Excuse(err) {
		return nil
	}
	return err
}

// heldUntil is the moment until which no agent byte is written: the user typed, or a key must be seen alone.
func (p *Pump) heldUntil() time.Time {
	if t := p.Control.PausedUntil(); t.After(p.quietUntil) {
		return t
	}
	return p.quietUntil
}

// agentReady reports whether this turn could write or ask for a piece of agent input.
func (p *Pump) agentReady(now time.Time) bool {
	if len(p.queue) == 0 || now.Before(p.heldUntil()) || p.Control.Away() || p.Control.Occupied() || p.back.open {
		return false
	}
	return !p.queue[0].asked || p.queue[0].ready
}

// writeAgent writes one piece of agent input at the most. It is only called in a turn in which the keyboard was looked at
// and had nothing.
func (p *Pump) writeAgent(now time.Time) {
	if len(p.user) > 0 { // writeUser has just tried: the program takes nothing
		p.stuck(now)
		return
	}
	if !p.agentReady(now) {
		return
	}
	job := p.queue[0]
	if err := p.admit(now, job.Job); err != nil {
		// guard has dropped the queue whenever the epoch moved; this is for the day somebody forgets to call it.
		p.retire(Receipt{Fate: Refused, Err: err})
		return
	}
	switch {
	case p.Control.Away(): // as Admit has just seen
	case job.stale:
		job.stale, job.ready, job.asked = false, false, false
	case !job.asked:
		p.ask(job)
	default:
		p.writePiece(now, job)
	}
}

// ask has the head of the queue prepared, or what is left of it. The answer comes as a post; by then the user may be typing
// again, so it is asked anew when its turn comes again.
func (p *Pump) ask(job *pending) {
	job.asked = true
	if job.given {
		job.ready = true
		return
	}
	if job.written == 0 {
		job.pieces = nil
	}
	job.Prepare(job.pieces, func(pieces []Piece, err error) {
		p.Post(func(now time.Time) { p.prepared(now, job, pieces, err) })
	})
}

func (p *Pump) prepared(now time.Time, job *pending, pieces []Piece, err error) {
	if len(p.queue) == 0 || p.queue[0] != job || job.ready {
		return // dropped meanwhile, and answered
	}
	occupied, waits := errors.AsType[*Occupied](err)
	switch {
	case waits:
		job.asked, job.stale = false, false
		p.Control.Occupy(now, occupied.Line)
	case err != nil:
		p.retire(Receipt{Fate: Refused, Err: err})
	case job.stale, now.Before(p.heldUntil()):
		job.asked, job.stale = false, false
	case p.refuseLong(job, pieces):
	case p.hold(now, job, pieces):
		job.pieces, job.ready = pieces, true
	}
}

// writePiece writes the next piece of job, or what is left of it.
func (p *Pump) writePiece(now time.Time, job *pending) {
	if len(job.pieces) == 0 {
		p.finishJob(job)
		return
	}
	piece := &job.pieces[0]
	if !job.begun && job.Holds != nil && !job.Holds() {
		job.stale, job.ready, job.asked = false, false, false
		return
	}
	if !job.begun && p.refuseLong(job, job.pieces) { // again: the mode may be another one, and the user may have typed
		return
	}
	if p.Line != nil && !job.begun && piece.Say == "" {
		p.Line.Agent(piece.Bytes)
	}
	n, err := p.give(job, piece.Bytes[:min(len(piece.Bytes), PieceMax)], piece.Say != "")
	p.count(job, n)
	if !p.took(now, err) {
		p.stuck(now)
		return
	}
	if len(piece.Bytes) == 0 {
		p.nextPiece(now, job)
	}
}

// finishPiece writes the rest of a piece that is half written; it reports whether nothing is left of it.
func (p *Pump) finishPiece(now time.Time) bool {
	if len(p.queue) == 0 || !p.queue[0].begun {
		return true
	}
	job := p.queue[0]
	for len(job.pieces[0].Bytes) > 0 {
		n, err := p.give(job, job.pieces[0].Bytes, job.pieces[0].Say != "")
		p.count(job, n)
		if !p.took(now, err) {
			return len(p.queue) == 0
		}
	}
	p.nextPiece(now, job)
	return true
}

// count notes that the program took n bytes of the head of job.
func (p *Pump) count(job *pending, n int) {
	if n == 0 {
		return
	}
	piece := &job.pieces[0]
	if job.Wrote != nil {
		job.Wrote(piece.Bytes[:n])
	}
	if piece.Say == "" {
		p.stands(piece.Bytes[:n])
	}
	piece.Bytes = piece.Bytes[n:]
	job.written += n
	job.begun, p.wrote = true, true
}

// stands notes what stands on the program's line now.
func (p *Pump) stands(b []byte) {
	if at := submits(b); at >= 0 {
		p.unsubmitted = len(b) - at - 1
	} else {
		p.unsubmitted += len(b)
	}
	p.line.add(b)
}

// nextPiece goes on to the piece after the one that is written.
func (p *Pump) nextPiece(now time.Time, job *pending) {
	job.begun = false
	if job.pieces[0].Acts {
		p.acted(now)
	}
	if gap := job.pieces[0].Gap; gap > 0 {
		p.quietUntil = now.Add(gap)
	}
	switch job.pieces = job.pieces[1:]; {
	case len(job.pieces) == 0:
		p.finishJob(job)
	case job.pieces[0].Step != 0:
		job.asked, job.ready, job.stale, job.fits = false, false, false, 0
	}
}

// stuck fails what waits for a program that does not read. It is called after a write that took nothing, never on the
// memory of one: the program may have read since.
func (p *Pump) stuck(now time.Time) {
	if p.blocked.IsZero() || now.Sub(p.blocked) < stuckAfter {
		return
	}
	p.drop(Receipt{Fate: NotReading})
}

// waits reports whether input waits for the user to stop typing or to submit the line, or for its program to be in front and to
// ask for more.
func (p *Pump) waits(now time.Time) bool {
	return now.Before(p.Control.PausedUntil()) || p.Control.Away() || p.Control.Occupied() || p.back.open
}

// expireJobs fails the jobs whose patience with the user's typing, or with another program, is over. Otherwise there is
// nothing to be impatient with: what is slow then is the program, or the queue.
func (p *Pump) expireJobs(now time.Time) {
	if !p.waits(now) {
		return
	}
	fate := UserTyping
	switch {
	case p.Control.Away():
		fate = Elsewhere
	case !now.Before(p.Control.PausedUntil()) && !p.Control.Occupied():
		fate = Busy
	}
	for i := 0; i < len(p.queue); {
		if job := p.queue[i]; job.begun || job.held || job.given || job.deadline.IsZero() || now.Before(job.deadline) {
			i++
			continue
		}
		p.answer(i, Receipt{Fate: fate})
	}
	p.vacate(now)
}

// vacate says that no input waits for the user's line any more, where that is so.
func (p *Pump) vacate(now time.Time) {
	if len(p.queue) == 0 && p.Control.Occupied() {
		p.Control.Vacate(now)
		p.guard(now)
	}
}

// retire answers the head of the queue.
func (p *Pump) retire(r Receipt) { p.answer(0, r) }

// drop answers everything in the queue alike, and returns how many bytes were accepted and did not reach the program.
func (p *Pump) drop(r Receipt) (dropped int) {
	for len(p.queue) > 0 {
		dropped += p.queue[0].left()
		p.answer(0, r)
	}
	return dropped
}

// answer takes job i out of the queue and tells its owner.
func (p *Pump) answer(i int, r Receipt) {
	job := p.queue[i]
	p.queue = append(p.queue[:i], p.queue[i+1:]...)
	r.Written, r.Dropped, r.Held = job.written, job.left(), job.held
	if r.Fate == Dropped {
		r.Unsubmitted = p.unsubmitted
	}
	if job.held {
		p.Control.WithdrawConfirmation()
	}
	job.done = true
	job.Done(r)
}

// left is how many bytes of the job are not written, as far as that is known before it was prepared, or were taken back.
func (j *pending) left() int {
	if j.pieces == nil {
		return j.Size
	}
	n := j.flushed + j.cut
	for _, piece := range j.pieces {
		n += len(piece.Bytes)
	}
	return n
}
