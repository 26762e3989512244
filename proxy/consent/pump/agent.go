package pump

import (
	"errors"
	"time"

	"terminalproxy/proxy/terminal/keys"
)

// ErrFull refuses input while too many inputs wait already.
var ErrFull = errors.New("too much input waits to be typed already")

// jobs is the queue of agents' input, with the state that decides when its head may be written.
// Owned by the pump.
type jobs struct {
	Config
	queue       []*pending
	quietUntil  time.Time // the gap after a piece
	wrote       bool      // agent bytes were written under this grant
	unsubmitted int       // of those, since the last Enter
	line        Line      // what agents typed on the program's line
	comeback    comeback  // the wait for the program to ask for more
}

// acceptJob queues a job, or refuses it.
func (q *jobs) acceptJob(now time.Time, j Job) {
	err := q.admitJob(now, j)
	if err == nil && len(q.queue) >= maxQueue {
		err = ErrFull
	}
	if err != nil {
		j.Life.Advance(Failed)
		j.Done(Receipt{Fate: fates[Failed], Err: err})
		return
	}
	job := &pending{Job: j}
	if j.Wait > 0 {
		job.deadline = now.Add(j.Wait)
	}
	q.queue = append(q.queue, job)
}

// admitJob returns why j may not be written now, or nil.
func (q *jobs) admitJob(now time.Time, j Job) error {
	err := q.Control.CheckInput(now, j.Agent, j.Epoch)
	if err != nil && j.Excuse != nil && j.Excuse(err) {
		return nil
	}
	return err
}

// heldUntil returns until when no agent byte is written: the user typed, or the program must see a
// key alone.
func (q *jobs) heldUntil() time.Time {
	if t := q.Control.PausedUntil(); t.After(q.quietUntil) {
		return t
	}
	return q.quietUntil
}

// isAgentReady reports whether this turn could write or prepare a piece of agent input.
func (q *jobs) isAgentReady(now time.Time) bool {
	if len(q.queue) == 0 || now.Before(q.heldUntil()) || q.Control.IsPausedByProgram() ||
		q.Control.IsLineOccupied() || q.comeback.open {
		return false
	}
	switch q.queue[0].Life.State() { //nolint:exhaustive // an answer is missing in the others
	case Judging, Voided, Held:
		return false
	}
	return true
}

// writeAgent writes at most one piece of agent input. It is only called in a turn in which the
// keyboard was read and had no input.
func (p *Pump) writeAgent(now time.Time) {
	if p.hasUserInput() { // writeUser has just tried: the program does not read
		p.failIfStuck(now)
		return
	}
	if !p.isAgentReady(now) {
		return
	}
	job := p.queue[0]
	if err := p.admitJob(now, job.Job); err != nil {
		// syncControl drops the queue whenever the epoch changes; this guards against a caller that
		// omits syncControl.
		p.answerHead(Failed, err)
		return
	}
	switch {
	case p.Control.IsPausedByProgram(): // as CheckInput has just seen
	case job.Life.Advance(TurnCame):
		p.prepareHead(job)
	default:
		p.writePiece(now, job)
	}
}

// prepareHead prepares the head of the queue, or its unwritten rest. The answer comes as a post. If
// the user is typing again by then, the job is prepared again when its turn comes.
func (p *Pump) prepareHead(job *pending) {
	if job.written == 0 {
		job.pieces = nil
	}
	job.Prepare(job.pieces, func(pieces []Piece, err error) {
		p.Post(func(now time.Time) { p.handlePrepared(now, job, pieces, err) })
	})
}

func (p *Pump) handlePrepared(now time.Time, job *pending, pieces []Piece, err error) {
	state := job.Life.State()
	if state != Judging && state != Voided {
		return // ended or given up meanwhile
	}
	occupied, waiting := errors.AsType[*OccupiedError](err)
	switch {
	case waiting:
		p.advance(job, LineOccupied)
		p.Control.OccupyLine(now, occupied.Line, occupied.Types)
	case err != nil:
		p.answerHead(Failed, err)
	case state == Voided, now.Before(p.heldUntil()):
		p.advance(job, Postponed)
	case p.refuseLong(job, pieces):
	case p.holdForUser(now, job, pieces):
		job.pieces = pieces
		p.advance(job, Passed)
	}
}

// writePiece writes the next piece of job, or the rest of one.
func (p *Pump) writePiece(now time.Time, job *pending) {
	if len(job.pieces) == 0 {
		p.answerHead(AllWritten, nil)
		return
	}
	piece, begins := &job.pieces[0], !job.Life.isHalfWritten()
	if begins && job.Holds != nil && !job.Holds() {
		p.advance(job, Shifted)
		return
	}
	// Check again: the mode may have changed, and the user may have typed.
	if begins && p.refuseLong(job, job.pieces) {
		return
	}
	if begins && job.reopens {
		job.reopens = false
		p.own = []byte(keys.PasteBegins)
		p.noteOwnMark(keys.PasteBegins)
		return
	}
	if p.Line != nil && begins && piece.Description == "" {
		p.Line.NoteAgentKeys(piece.Bytes)
	}
	n, err := p.writeProgram(spanOf(job), piece.Bytes[:min(len(piece.Bytes), MaxPiece)])
	p.countWritten(job, n)
	if !p.noteWrite(now, err) {
		p.failIfStuck(now)
		return
	}
	if len(piece.Bytes) == 0 {
		p.nextPiece(now, job)
	}
}

// finishPiece writes the rest of a half-written piece. It reports whether the piece is complete or
// its job is gone.
func (p *Pump) finishPiece(now time.Time) bool {
	if len(p.queue) == 0 || !p.queue[0].Life.isHalfWritten() {
		return true
	}
	job := p.queue[0]
	for len(job.pieces[0].Bytes) > 0 {
		n, err := p.writeProgram(spanOf(job), job.pieces[0].Bytes)
		p.countWritten(job, n)
		if !p.noteWrite(now, err) {
			return len(p.queue) == 0
		}
	}
	p.nextPiece(now, job)
	return true
}

// countWritten notes that the program took n bytes of the head of job.
func (q *jobs) countWritten(job *pending, n int) {
	if n == 0 {
		return
	}
	piece := &job.pieces[0]
	if job.Wrote != nil {
		job.Wrote(piece.Bytes[:n])
	}
	if piece.Description == "" {
		q.noteOnLine(piece.Bytes[:n])
	}
	piece.Bytes = piece.Bytes[n:]
	job.written += n
	q.wrote = true
	if len(piece.Bytes) > 0 {
		q.advance(job, PartWritten)
	}
}

// noteOnLine notes the present content of the program's line.
func (q *jobs) noteOnLine(b []byte) {
	if at := lastSubmit(b); at >= 0 {
		q.unsubmitted = len(b) - at - 1
	} else {
		q.unsubmitted += len(b)
	}
	q.line.addPiece(b)
}

// nextPiece moves on from a written piece.
func (q *jobs) nextPiece(now time.Time, job *pending) {
	if job.pieces[0].Acts {
		q.awaitProgram(now)
	}
	if gap := job.pieces[0].Gap; gap > 0 {
		q.quietUntil = now.Add(gap)
	}
	job.pieces = job.pieces[1:]
	switch over := len(job.pieces) == 0; {
	case over:
		q.answerHead(AllWritten, nil)
	case job.pieces[0].Step != 0:
		q.advance(job, StepWritten)
		job.fits = 0
	default:
		q.advance(job, PieceWritten)
	}
}

// failIfStuck fails all input for a program that does not read. It is called after a write that
// took no bytes, never later: the program may have read since.
func (p *Pump) failIfStuck(now time.Time) {
	if p.blocked.IsZero() || now.Sub(p.blocked) < stuckAfter {
		return
	}
	p.dropQueue(Stuck)
}

// isHeldUp reports whether input waits for the user to stop typing or to submit the line, or for
// its program to come to the foreground and ask for more.
func (q *jobs) isHeldUp(now time.Time) bool {
	return now.Before(q.Control.PausedUntil()) || q.Control.IsPausedByProgram() ||
		q.Control.IsLineOccupied() || q.comeback.open
}

// expireJobs fails the jobs that have waited too long for the user or for another program. No job
// expires because the program or the queue is slow.
func (p *Pump) expireJobs(now time.Time) {
	if !p.isHeldUp(now) {
		return
	}
	over := TypedOn
	switch {
	case p.Control.IsPausedByProgram():
		over = StayedAway
	case !now.Before(p.Control.PausedUntil()) && !p.Control.IsLineOccupied():
		over = Unread
	}
	for i := 0; i < len(p.queue); {
		if job := p.queue[i]; !job.expires() || now.Before(job.deadline) {
			i++
			continue
		}
		p.answerJob(i, over, nil)
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

// advance applies an event to a job. An event that the table does not expect changes nothing.
func (q *jobs) advance(job *pending, e Event) {
	if !job.Life.Advance(e) && q.Unexpected != nil {
		q.Unexpected(job.Life.State(), e)
	}
}

// expires reports whether the job has a time limit that counts in its present state.
func (j *pending) expires() bool { return !j.deadline.IsZero() && j.Life.canHappen(TypedOn) }

// answerHead answers the head of the queue.
func (q *jobs) answerHead(end Event, why error) { q.answerJob(0, end, why) }

// dropQueue answers the whole queue alike. It returns how many accepted bytes did not reach the
// program.
func (q *jobs) dropQueue(end Event) (dropped int) {
	for len(q.queue) > 0 {
		dropped += q.queue[0].bytesLeft()
		q.answerJob(0, end, nil)
	}
	return dropped
}

// answerJob removes job i, ended by end, from the queue and sends its receipt to its owner.
func (q *jobs) answerJob(i int, end Event, why error) {
	job := q.queue[i]
	q.queue = append(q.queue[:i], q.queue[i+1:]...)
	r := Receipt{
		Fate: fates[end], Err: why,
		Written: job.written, Dropped: job.bytesLeft(), Held: job.Life.State() == Held,
	}
	if r.Fate == Dropped {
		r.Unsubmitted = q.unsubmitted
	}
	if r.Held {
		q.Control.WithdrawConfirmation()
	}
	q.advance(job, end)
	job.Done(r)
}

// bytesLeft returns how many bytes of the job were not written, or were taken back. Before it is
// prepared, this is an estimate.
func (j *pending) bytesLeft() int {
	if j.pieces == nil {
		return j.Size
	}
	n := j.flushed
	for _, piece := range j.pieces {
		n += len(piece.Bytes)
	}
	return n
}
