package pump

import (
	"bytes"
	"errors"
	"strings"
	"time"

	"terminalproxy/proxy/terminal/keys"
)

// ErrLate refuses an input that the user did not let through in time.
var ErrLate = errors.New("the user has not let it through in time")

// maxLine bounds the remembered part of a line that an agent types, in bytes.
const maxLine = 4 << 10

// Line is the text that agents typed since an agent or the user last submitted the program's line:
// the text that an Enter would send. Only Enter submits: text that an agent has erased or
// interrupted may come back (a kill ring, a history).
type Line struct {
	Pieces [][]byte // as written, at most the newest maxLine bytes
	Lost   int      // bytes before those
	// Mixed means that the user typed in between.
	Mixed bool
	// User counts the user's typing, on this line and before.
	User int
	size int

	agent, user lineEndFinder
}

// quotedInsert holds the keys that make the next key text (^V, ^Q). escape is Escape, which many
// editors combine with a following Enter into one key.
const (
	quotedInsert = "\x16\x11"
	escape       = 0x1b
)

// lineEndFinder finds the ends of lines in typed bytes, cut anywhere: CR and LF, except in a
// bracketed paste and behind a key that quotes, where they are text.
type lineEndFinder struct {
	last      []byte // the newest bytes
	paste     bool
	ownEscape bool // an Escape that ends a piece is a key by itself
}

// lastEnd returns the index of the last end of a line in b, or -1.
func (e *lineEndFinder) lastEnd(b []byte) int {
	at := -1
	for i, c := range b {
		if len(e.last) == len(keys.PasteBegins) {
			e.last = append(e.last[:0], e.last[1:]...)
		}
		switch e.last = append(e.last, c); {
		case c == '~' && string(e.last) == keys.PasteBegins:
			e.paste = true
		case c == '~' && string(e.last) == keys.PasteEnds:
			e.paste = false
		case (c == '\r' || c == '\n') && !e.paste && !e.isNewestQuoted(i > 0 || !e.ownEscape):
			at = i
		}
	}
	return at
}

// isNewestQuoted reports whether the byte before the newest one turns that into text. sameUnit
// means that both are in one unit.
func (e *lineEndFinder) isNewestQuoted(sameUnit bool) bool {
	if len(e.last) < 2 {
		return false
	}
	before := e.last[len(e.last)-2]
	return strings.IndexByte(quotedInsert, before) >= 0 || sameUnit && before == escape
}

// addPiece notes a piece that the program took.
func (l *Line) addPiece(b []byte) {
	if at := l.agent.lastEnd(b); at >= 0 {
		l.clear()
		b = b[at+1:]
	}
	if len(b) == 0 {
		return
	}
	l.Pieces = append(l.Pieces, append([]byte(nil), b...))
	for l.size += len(b); l.size > maxLine; l.Pieces = l.Pieces[1:] {
		l.Lost += len(l.Pieces[0])
		l.size -= len(l.Pieces[0])
	}
}

// noteTyped notes keys of the user. The user's interrupt clears the line.
func (l *Line) noteTyped(b []byte) {
	l.User++
	l.user.ownEscape = true // the pump passes whole keys
	switch {
	case l.user.lastEnd(b) >= 0, bytes.IndexByte(b, 0x03) >= 0:
		l.clear()
	default:
		l.Mixed = true
	}
}

func (l *Line) clear() { *l = Line{agent: l.agent, user: l.user, User: l.User} }

// holdForUser asks the job's owner whether the user must confirm the pieces first. It reports
// whether they may be written now.
func (q *jobs) holdForUser(now time.Time, job *pending, pieces []Piece) (free bool) {
	if job.Hold == nil {
		return true
	}
	held, err := job.Hold(now, pieces, q.line)
	switch {
	case err != nil:
		q.answerHead(Failed, err)
	case held:
		q.advance(job, AskedUser)
	}
	return err == nil && !held
}

// applyDecision applies the decision about a held input. Confirmed input is prepared again: its
// conditions must hold when it is typed, not when it was shown. Its time limit starts again, in case
// the user still types.
func (q *jobs) applyDecision(now time.Time) {
	if len(q.queue) == 0 || q.queue[0].Life.State() != Held {
		return
	}
	switch decided, let := q.Control.TakeDecision(); {
	case !decided:
	case !let:
		q.answerHead(NotAllowed, ErrLate)
	default:
		job := q.queue[0]
		q.advance(job, LetThrough)
		if job.Wait > 0 {
			job.deadline = now.Add(job.Wait)
		}
	}
}
