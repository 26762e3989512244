// Package snapshot decides what agents are told and when: the rolling text of a session, the rate
// of its snapshots, whether its screen has settled, and the waits for a fact on it.
//
// It uses no sockets, no terminal model and no clock, and starts no goroutines: the observer
// owns every value of this package, passes the time in, and asks when to look again.
package snapshot

import "math"

// Rolling is the newest text that a program printed, as a person reading along would have it:
// without escape sequences, each line in the state in which the program left it.
//
// A terminal model feeds it through Print, Control and the methods named after the program's
// operations (with their ECMA-48 names). It is a one-line editor: operations within a row edit the
// unfinished line, and leaving the row ends it. A row that the terminal wrapped is one line here.
//
// Most of a flood is never read. So operations are only logged, and applied when the text is asked
// for; those too old for the text are dropped from the log unapplied. While a wait for text is
// open, each line has to be examined, and everything is applied at once.
//
// One goroutine owns it. Its memory is bounded. Once its line has grown to its length, feeding it
// allocates only where characters need a search for clusters.
type Rolling struct {
	kept record
	log  editLog

	text      string // the last result of String
	textValid bool   // still valid
}

// NewRolling returns an empty text of at most maxRunes characters, at least one.
func NewRolling(maxRunes int) *Rolling {
	maxRunes = max(maxRunes, 1)
	// A log of ASCII or CJK is searched in its newest quarter at most to drop the rest.
	return newRolling(maxRunes, max(16*maxRunes, 4096), max(2*maxRunes, 512))
}

func newRolling(maxRunes, logBytes, logOps int) *Rolling {
	return &Rolling{kept: newRecord(maxRunes), log: newEditLog(logBytes, logOps)}
}

// Print adds a run of printable UTF-8 text. It skips other bytes: controls have their own method.
func (r *Rolling) Print(run []byte) {
	r.textValid = false
	switch {
	case len(run) == 0:
		return
	case r.kept.ended != nil:
		r.kept.printRun(run)
		return
	case len(run) > cap(r.log.text)-len(r.log.text):
		if r.makeRoom(); len(run) > cap(r.log.text)-len(r.log.text) {
			r.catchUp()
			r.kept.printRun(run)
			return
		}
	}
	if run[0]&0xc0 == 0x80 {
		r.cutRun() // the rest of a character begun in an earlier run does not count
	}
	r.log.text = append(r.log.text, run...)
}

// Control applies BS, HT, LF or CR, and skips other controls. A bare line feed keeps the column.
func (r *Rolling) Control(c byte) {
	switch c {
	case '\b', '\t', '\r', '\n':
		r.logOp(opControl, int(c))
	}
}

// Column moves the cursor within its row (CHA, HPA, CUF, CUB, ...) to col, counted from 0.
func (r *Rolling) Column(col int) { r.logOp(opColumn, col) }

// Row moves the cursor to column col of another row (CUP, VPA, CUU, CUD, ...). The unfinished line
// ends if it has text. Later text is put at the start of its line, in any column: otherwise a
// full-screen program that prints at its right edge would fill the record with blanks.
func (r *Rolling) Row(col int) { r.logOp(opRow, col) }

// Erase is EL: it clears from the cursor to the end (0), from the start to the cursor (1), or the
// whole row (2).
func (r *Rolling) Erase(mode int) { r.logOp(opErase, mode) }

// EraseChars is ECH: it blanks n cells from the cursor on.
func (r *Rolling) EraseChars(n int) { r.logOp(opEraseChars, n) }

// InsertChars is ICH: it inserts n blanks at the cursor.
func (r *Rolling) InsertChars(n int) { r.logOp(opInsertChars, n) }

// DeleteChars is DCH: it removes n cells from the cursor on.
func (r *Rolling) DeleteChars(n int) { r.logOp(opDeleteChars, n) }

// Clear notes that the screen was erased or exchanged. The text stays, since it is a record; the
// unfinished line ends.
func (r *Rolling) Clear() { r.logOp(opClear, 0) }

// logOp logs an operation, or applies it while lines are watched.
func (r *Rolling) logOp(kind opKind, n int) {
	r.textValid = false
	o := op{
		at:   int32(len(r.log.text)),
		n:    int32(min(max(n, math.MinInt32), math.MaxInt32)),
		kind: kind,
	}
	if r.kept.ended != nil {
		r.kept.playOp(o)
		return
	}
	if len(r.log.ops) == cap(r.log.ops) {
		r.makeRoom()
		o.at = int32(len(r.log.text))
	}
	r.log.ops = append(r.log.ops, o)
}

// cutRun separates earlier from later text in the log.
func (r *Rolling) cutRun() {
	if n := len(r.log.ops); len(r.log.text) > 0 &&
		(n == 0 || int(r.log.ops[n-1].at) < len(r.log.text)) {
		r.logOp(opCut, 0)
	}
}

// makeRoom frees half of a full log, so that it runs again only after as much text.
func (r *Rolling) makeRoom() {
	if r.shedOld(); len(r.log.text) > cap(r.log.text)/2 || len(r.log.ops) > cap(r.log.ops)/2 {
		r.playLog()
	}
}

// shedOld drops operations on lines that are too old for the text, and older kept lines.
func (r *Rolling) shedOld() {
	at, col, ok := r.log.findDroppable(r.kept.max)
	if !ok {
		return
	}
	r.kept.restartAt(col, r.kept.printed+uint64(r.log.ops[at].at))
	r.log.dropThrough(at)
}

// catchUp brings the record up to date.
func (r *Rolling) catchUp() {
	if len(r.log.ops) > 0 || len(r.log.text) > 0 {
		r.shedOld()
		r.playLog()
	}
}

// playLog applies the log to the record and empties it.
func (r *Rolling) playLog() {
	at := int32(0)
	for _, o := range r.log.ops {
		r.kept.printRun(r.log.text[at:o.at])
		r.kept.playOp(o)
		at = o.at
	}
	r.kept.printRun(r.log.text[at:])
	r.log.text, r.log.ops = r.log.text[:0], r.log.ops[:0]
}

// watchLines calls ended with each line that ends from now on, and Total at that moment; nil stops
// it.
func (r *Rolling) watchLines(ended func(text []byte, total uint64, end lineEnd)) {
	r.catchUp()
	r.kept.ended = ended
}

// String returns the text, lines joined by line feeds, the unfinished one last. Its trailing blanks
// are kept up to the cursor, so that a prompt looks like one. It is valid UTF-8. A repeated call
// costs nothing until the next operation.
func (r *Rolling) String() string {
	if !r.textValid {
		r.catchUp()
		r.text, r.textValid = r.kept.textFrom(0, true), true
	}
	return r.text
}

// Total counts the bytes printed so far. It never decreases. A value of it is a mark for
// [Rolling.TextSince] that stays valid while the unfinished line is edited or ended, which prints
// nothing.
func (r *Rolling) Total() uint64 {
	r.cutRun() // a full line notes the end of its run, which must not be after the mark
	return r.kept.printed + uint64(len(r.log.text))
}

// TextSince returns the held text from the first line on that got text after Total was mark. Lines
// are whole: a line unfinished at the mark comes with its start if text was added since, and is
// left out if it was only ended or erased.
func (r *Rolling) TextSince(mark uint64) string {
	r.catchUp()
	return r.kept.textSince(mark)
}

// BytesAhead returns how many bytes at the end of the text are right of the cursor: the program
// prints before them.
func (r *Rolling) BytesAhead() int {
	r.catchUp()
	return r.kept.bytesAhead()
}

// unfinishedLine returns the unfinished line without the blanks right of the cursor. some is false
// if it has no cells.
func (r *Rolling) unfinishedLine() (text []byte, some bool) {
	r.catchUp()
	return r.kept.unfinishedLine(), r.kept.line.len() > 0
}
