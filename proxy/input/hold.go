package input

import (
	"bytes"
	"errors"
	"strings"
	"time"
)

// ErrLate refuses an input that the user did not let through in time.
var ErrLate = errors.New("the user has not let it through in time")

// lineMax bounds what is remembered of a line that an agent types, in bytes.
const lineMax = 4 << 10

// Line is what agents typed since the program's line was last submitted, by anybody: what an Enter would send off. Nothing
// but Enter submits: what an agent has erased or interrupted may come back (a kill ring, a history).
type Line struct {
	Pieces [][]byte // as they were written, the newest lineMax bytes
	Lost   int      // bytes before those
	// Mixed says that the user typed in between.
	Mixed bool
	// User is how often the user has typed, on this line and before.
	User int
	size int

	agent, user ender
}

// Keys that take the next one as text, and Escape, which many editors take for one key with an Enter that follows.
const (
	quotedInsert = "\x16\x11"
	escape       = 0x1b
)

// ender finds the ends of lines in what somebody types, cut anywhere: CR and LF outside of a bracketed paste, in which they
// are text, as they are behind a key that quotes.
type ender struct {
	last  []byte // the newest bytes
	paste bool
	apart bool // an Escape at the end of a piece is a key by itself
}

// The marks of a bracketed paste (xterm ctlseqs, DECSET 2004).
const (
	pasteBegins = "\x1b[200~"
	pasteEnds   = "\x1b[201~"
)

// find is the index of the last end of a line in b, -1 for none.
func (e *ender) find(b []byte) int {
	at := -1
	for i, c := range b {
		if len(e.last) == len(pasteBegins) {
			e.last = append(e.last[:0], e.last[1:]...)
		}
		switch e.last = append(e.last, c); {
		case c == '~' && string(e.last) == pasteBegins:
			e.paste = true
		case c == '~' && string(e.last) == pasteEnds:
			e.paste = false
		case (c == '\r' || c == '\n') && !e.paste && !e.quoted(i > 0 || !e.apart):
			at = i
		}
	}
	return at
}

// quoted reports whether the newest byte is text by the one before it, which is in the same unit or not.
func (e *ender) quoted(same bool) bool {
	if len(e.last) < 2 {
		return false
	}
	before := e.last[len(e.last)-2]
	return strings.IndexByte(quotedInsert, before) >= 0 || same && before == escape
}

// add notes a piece that the program took.
func (l *Line) add(b []byte) {
	if at := l.agent.find(b); at >= 0 {
		l.clear()
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

// typed notes what the user typed. The user's own interrupt gives the line up.
func (l *Line) typed(b []byte) {
	l.User++
	l.user.apart = true // the pump hands a key over whole
	switch {
	case l.user.find(b) >= 0, bytes.IndexByte(b, 0x03) >= 0:
		l.clear()
	default:
		l.Mixed = true
	}
}

func (l *Line) clear() { *l = Line{agent: l.agent, user: l.user, User: l.User} }

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
	switch decided, let := p.Control.Decision(); {
	case !decided:
	case !let:
		p.retire(Receipt{Fate: Refused, Err: ErrLate})
	default:
		job := p.queue[0]
		job.held, job.asked = false, false
		if job.Wait > 0 {
			job.deadline = now.Add(job.Wait)
		}
	}
}
