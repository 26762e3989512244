package pump

import (
	"errors"
	"time"
)

// ErrFull refuses input while too many wait already.
var ErrFull = errors.New("too much input waits to be typed already")

// acceptJob queues a job, or refuses it.
func (p *Pump) acceptJob(now time.Time, j Job) {
	if err := p.admitJob(now, j); err != nil {
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

// admitJob returns why j may not be written now, or nil.
func (p *Pump) admitJob(now time.Time, j Job) error {
	err := p.Control.CheckInput(now, j.Agent, j.Epoch)
	if err != nil && j.Excuse != nil && j.Excuse(err) {
		return nil
	}
	return err
}

// heldUntil returns until when no agent byte is written: the user typed, or a key must be seen
// alone.
func (p *Pump) heldUntil() time.Time {
	if t := p.Control.PausedUntil(); t.After(p.quietUntil) {
		return t
	}
	return p.quietUntil
}

// isAgentReady reports whether this turn could write or prepare a piece of agent input.
func (p *Pump) isAgentReady(now time.Time) bool {
	if len(p.queue) == 0 || now.Before(p.heldUntil()) || p.Control.IsPausedByProgram() ||
		p.Control.IsLineOccupied() || p.back.open {
		return false
	}
	return !p.queue[0].asked || p.queue[0].ready
}

// writeAgent writes at most one piece of agent input. It is only called in a turn in which the
// keyboard was read and had no input.
func (p *Pump) writeAgent(now time.Time) {
	if len(p.user) > 0 { // writeUser has just tried: the program does not read
		p.failIfStuck(now)
		return
	}
	if !p.isAgentReady(now) {
		return
	}
	job := p.queue[0]
	if err := p.admitJob(now, job.Job); err != nil {
		// syncControl has dropped the queue whenever the epoch moved; this is for a caller that
		// forgets it.
		p.answerHead(Receipt{Fate: Refused, Err: err})
		return
	}
	switch {
	case p.Control.IsPausedByProgram(): // as CheckInput has just seen
	case job.stale:
		job.stale, job.ready, job.asked = false, false, false
	case !job.asked:
		p.prepareHead(job)
	default:
		p.writePiece(now, job)
	}
}

// prepareHead has the head of the queue prepared, or its unwritten rest. The answer comes as a
// post. The user may be typing again by then, so it is prepared again when its turn comes.
func (p *Pump) prepareHead(job *pending) {
	job.asked = true
	if job.given {
		job.ready = true
		return
	}
	if job.written == 0 {
		job.pieces = nil
	}
	job.Prepare(job.pieces, func(pieces []Piece, err error) {
		p.Post(func(now time.Time) { p.handlePrepared(now, job, pieces, err) })
	})
}

func (p *Pump) handlePrepared(now time.Time, job *pending, pieces []Piece, err error) {
	if len(p.queue) == 0 || p.queue[0] != job || job.ready {
		return // dropped meanwhile, and answered
	}
	occupied, waiting := errors.AsType[*Occupied](err)
	switch {
	case waiting:
		job.asked, job.stale = false, false
		p.Control.OccupyLine(now, occupied.Line)
	case err != nil:
		p.answerHead(Receipt{Fate: Refused, Err: err})
	case job.stale, now.Before(p.heldUntil()):
		job.asked, job.stale = false, false
	case p.refuseLong(job, pieces):
	case p.holdForUser(now, job, pieces):
		job.pieces, job.ready = pieces, true
	}
}

// writePiece writes the next piece of job, or the rest of one.
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
	// Again, since the mode may have changed, and the user may have typed.
	if !job.begun && p.refuseLong(job, job.pieces) {
		return
	}
	if p.Line != nil && !job.begun && piece.Say == "" {
		p.Line.NoteAgentKeys(piece.Bytes)
	}
	n, err := p.writeProgram(job, piece.Bytes[:min(len(piece.Bytes), PieceMax)], piece.Say != "")
	p.countWritten(job, n)
	if !p.noteWrite(now, err) {
		p.failIfStuck(now)
		return
	}
	if len(piece.Bytes) == 0 {
		p.nextPiece(now, job)
	}
}

// finishPiece writes the rest of a half-written piece. It reports whether the piece is complete, or
// its job is gone.
func (p *Pump) finishPiece(now time.Time) bool {
	if len(p.queue) == 0 || !p.queue[0].begun {
		return true
	}
	job := p.queue[0]
	for len(job.pieces[0].Bytes) > 0 {
		n, err := p.writeProgram(job, job.pieces[0].Bytes, job.pieces[0].Say != "")
		p.countWritten(job, n)
		if !p.noteWrite(now, err) {
			return len(p.queue) == 0
		}
	}
	p.nextPiece(now, job)
	return true
}

// countWritten notes that the program took n bytes of the head of job.
func (p *Pump) countWritten(job *pending, n int) {
	if n == 0 {
		return
	}
	piece := &job.pieces[0]
	if job.Wrote != nil {
		job.Wrote(piece.Bytes[:n])
	}
	if piece.Say == "" {
		p.noteOnLine(piece.Bytes[:n])
	}
	piece.Bytes = piece.Bytes[n:]
	job.written += n
	job.begun, p.wrote = true, true
}

// noteOnLine notes what the program's line holds now.
func (p *Pump) noteOnLine(b []byte) {
	if at := lastSubmit(b); at >= 0 {
		p.unsubmitted = len(b) - at - 1
	} else {
		p.unsubmitted += len(b)
	}
	p.line.addPiece(b)
}

// nextPiece moves on from a written piece.
func (p *Pump) nextPiece(now time.Time, job *pending) {
	job.begun = false
	if job.pieces[0].Acts {
		p.awaitProgram(now)
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

// failIfStuck fails all input for a program that does not read. It is called after a write that
// took no bytes, never later: the program may have read since.
func (p *Pump) failIfStuck(now time.Time) {
	if p.blocked.IsZero() || now.Sub(p.blocked) < stuckAfter {
		return
	}
	p.dropQueue(Receipt{Fate: NotReading})
}

// isHeldUp reports whether input waits for the user to stop typing or to submit the line, or for
// its program to come to the foreground and ask for more.
func (p *Pump) isHeldUp(now time.Time) bool {
	return now.Before(p.Control.PausedUntil()) || p.Control.IsPausedByProgram() ||
		p.Control.IsLineOccupied() || p.back.open
}

// expireJobs fails the jobs that have waited too long for the user or for another program. Without
// such a wait no job expires: then the program or the queue is slow.
func (p *Pump) expireJobs(now time.Time) {
	if !p.isHeldUp(now) {
		return
	}
	fate := UserTyping
	switch {
	case p.Control.IsPausedByProgram():
		fate = Elsewhere
	case !now.Before(p.Control.PausedUntil()) && !p.Control.IsLineOccupied():
		fate = Busy
	}
	for i := 0; i < len(p.queue); {
		if job := p.queue[i]; job.begun || job.held || job.given || job.deadline.IsZero() ||
			now.Before(job.deadline) {
			i++
			continue
		}
		p.answerJob(i, Receipt{Fate: fate})
	}
	p.vacateLine(now)
}

// vacateLine tells control when no input waits for the user's line any longer.
func (p *Pump) vacateLine(now time.Time) {
	if len(p.queue) == 0 && p.Control.IsLineOccupied() {
		p.Control.VacateLine(now)
		p.syncControl(now)
	}
}

// answerHead answers the head of the queue.
func (p *Pump) answerHead(r Receipt) { p.answerJob(0, r) }

// dropQueue answers the whole queue alike. It returns how many accepted bytes did not reach the
// program.
func (p *Pump) dropQueue(r Receipt) (dropped int) {
	for len(p.queue) > 0 {
		dropped += p.queue[0].bytesLeft()
		p.answerJob(0, r)
	}
	return dropped
}

// answerJob removes job i from the queue and tells its owner.
func (p *Pump) answerJob(i int, r Receipt) {
	job := p.queue[i]
	p.queue = append(p.queue[:i], p.queue[i+1:]...)
	r.Written, r.Dropped, r.Held = job.written, job.bytesLeft(), job.held
	if r.Fate == Dropped {
		r.Unsubmitted = p.unsubmitted
	}
	if job.held {
		p.Control.WithdrawConfirmation()
	}
	job.done = true
	job.Done(r)
}

// bytesLeft returns how many bytes of the job were not written, or were taken back. Before it is
// prepared, this is an estimate.
func (j *pending) bytesLeft() int {
	if j.pieces == nil {
		return j.Size
	}
	n := j.flushed + j.cut
	for _, piece := range j.pieces {
		n += len(piece.Bytes)
	}
	return n
}
