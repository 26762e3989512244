package input

import (
	"errors"
	"time"
)

// ErrLate refuses an input that the user did not let through in time.
var ErrLate = errors.New("the user has not let it through in time")

// lineMax bounds what is remembered of a line that an agent types, in bytes.
const lineMax = 4 << 10

// Ruling is what became of an input that waits for the user's word.
type Ruling uint8

// The rulings. A refusal is none of them: it ends control, and with that the input.
const (
	Unruled Ruling = iota
	Let            // the user let it through
	Late           // nobody decided in time
)

// Line is what agents typed since the program's line was last submitted, by anybody: what an Enter would send off.
type Line struct {
	Pieces [][]byte // as they were written, the newest lineMax bytes
	Lost   int      // bytes before those
	// Mixed says that the user typed in between.
	Mixed bool
	size  int
}

// add notes a piece that the program took.
func (l *Line) add(b []byte) {
	if at := submits(b); at >= 0 {
		*l = Line{}
		b = b[at+1:]
	}
	if len(b) == 0 {
		return
	}
	l.Pieces = append(l.Pieces, append([]byte(nil), b...))
	for l.size += len(b); l.size > lineMax; l.Pieces = l.Pieces[1:] {
		l.Lost += len(l.Pieces[0])
		l.size -= len(l.Pieces[0])
	}
}

// typed notes what the user typed.
func (l *Line) typed(b []byte) {
	switch {
	case submits(b) >= 0:
		*l = Line{}
	case l.size > 0:
		l.Mixed = true
	}
}

// hold asks the job's owner whether the user has to let pieces through first; it reports whether they may go now.
func (p *Pump) hold(now time.Time, job *pending, pieces []Piece) (free bool) {
	if job.Hold == nil {
		return true
	}
	held, err := job.Hold(now, pieces, p.line)
	switch {
	case err != nil:
		p.retire(Receipt{Fate: Refused, Err: err})
	case held:
		job.held = true
	}
	return err == nil && !held
}

// heed does what was decided about the input that is held. What the user let through is prepared anew: its conditions have
// to hold when it is typed, not when it was shown. A user who still types gets its patience anew.
func (p *Pump) heed(now time.Time) {
	if len(p.queue) == 0 || !p.queue[0].held {
		return
	}
	switch job := p.queue[0]; p.Control.Ruled() {
	case Unruled:
	case Let:
		job.held, job.asked = false, false
		if job.Wait > 0 {
			job.deadline = now.Add(job.Wait)
		}
	case Late:
		p.retire(Receipt{Fate: Refused, Err: ErrLate})
	}
}
