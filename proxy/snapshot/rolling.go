// Package snapshot decides what agents are told and when: the rolling text of a session, the rhythm of its
// snapshots, whether its screen has settled, and the waits for a fact on it. It knows no sockets and no terminal model,
// has no clock and starts no goroutine: the observer owns every value of this package, passes the time in, and asks
// when to look again.
package snapshot

import "math"

// Rolling is the text that a program printed, newest last, as somebody reading over its shoulder would have it: without
// escape sequences, each line in the state in which the program left it. It keeps the newest characters only.
//
// A terminal model feeds it through Print, Control and the other methods named after what the program did (ECMA-48 names
// are given with each). It is a one-line editor: whatever happens within a row edits the unfinished line, and leaving the
// row ends it. A row that the terminal wrapped is one line here.
//
// Most of what a flood prints is never read. So what the program did is only logged, and played to the editor when
// somebody asks for the text; what cannot be part of the text any more is dropped from the log unplayed. While somebody
// waits for text, each line has to be seen, and everything is played at once.
//
// One goroutine owns it. Its memory is bounded, and feeding it allocates nothing once its line has grown to its length,
// but where characters need to be searched for clusters.
type Rolling struct {
	kept record
	log  editLog

	text string // what String returned last
	same bool   // and nothing was done since
}

// NewRolling is an empty rolling text of at most maxRunes characters, at least one.
func NewRolling(maxRunes int) *Rolling {
	maxRunes = max(maxRunes, 1)
	// A log of ASCII or CJK needs to be looked at in its newest quarter at most to drop the rest.
	return newRolling(maxRunes, max(16*maxRunes, 4096), max(2*maxRunes, 512))
}

func newRolling(maxRunes, logBytes, logOps int) *Rolling {
	return &Rolling{kept: newRecord(maxRunes), log: newEditLog(logBytes, logOps)}
}

// Print takes a run of printable UTF-8 text. Bytes that are none are passed over: controls have their own method.
func (r *Rolling) Print(run []byte) {
	r.same = false
	switch {
	case len(run) == 0:
		return
	case r.kept.ended != nil:
		r.kept.print(run)
		return
	case len(run) > cap(r.log.text)-len(r.log.text):
		if r.room(); len(run) > cap(r.log.text)-len(r.log.text) {
			r.settle()
			r.kept.print(run)
			return
		}
	}
	if run[0]&0xc0 == 0x80 {
		r.cut() // the rest of a character whose beginning was printed before is none
	}
	r.log.text = append(r.log.text, run...)
}

// Control takes BS, HT, LF or CR. A bare line feed keeps the column. Other controls are passed over.
func (r *Rolling) Control(c byte) {
	switch c {
	case '\b', '\t', '\r', '\n':
		r.do(opControl, int(c))
	}
}

// Column says that the cursor moved within its row (CHA, HPA, CUF, CUB, ...) to col, counted from 0.
func (r *Rolling) Column(col int) { r.do(opColumn, col) }

// Row says that the cursor jumped to column col of another row (CUP, VPA, CUU, CUD, ...). The unfinished line ends if it
// holds text. What is printed next stands at the start of its line whatever the column: a full-screen program that
// touches its right edge shall not fill the record with blanks.
func (r *Rolling) Row(col int) { r.do(opRow, col) }

// Erase is EL: from the cursor to the end (0), from the start to the cursor (1), the whole row (2).
func (r *Rolling) Erase(mode int) { r.do(opErase, mode) }

// EraseChars is ECH: n cells from the cursor become blank.
func (r *Rolling) EraseChars(n int) { r.do(opEraseChars, n) }

// InsertChars is ICH: n blanks come in at the cursor.
func (r *Rolling) InsertChars(n int) { r.do(opInsertChars, n) }

// DeleteChars is DCH: n cells from the cursor go away.
func (r *Rolling) DeleteChars(n int) { r.do(opDeleteChars, n) }

// Clear says that the screen was erased or exchanged. The text stays, since it is a record; the unfinished line ends.
func (r *Rolling) Clear() { r.do(opClear, 0) }

// do logs an operation, or plays it while lines are watched.
func (r *Rolling) do(kind opKind, n int) {
	r.same = false
	o := op{at: int32(len(r.log.text)), n: int32(min(max(n, math.MinInt32), math.MaxInt32)), kind: kind}
	if r.kept.ended != nil {
		r.kept.play(o)
		return
	}
	if len(r.log.ops) == cap(r.log.ops) {
		r.room()
		o.at = int32(len(r.log.text))
	}
	r.log.ops = append(r.log.ops, o)
}

// cut makes what was printed before and what will be two runs.
func (r *Rolling) cut() {
	if n := len(r.log.ops); len(r.log.text) > 0 && (n == 0 || int(r.log.ops[n-1].at) < len(r.log.text)) {
		r.do(opCut, 0)
	}
}

// room makes room in a log that is full: half of it, so that it is looked at again only when as much has come.
func (r *Rolling) room() {
	if r.shed(); len(r.log.text) > cap(r.log.text)/2 || len(r.log.ops) > cap(r.log.ops)/2 {
		r.play()
	}
}

// shed drops what the log says of lines that are too old for the text, and what was kept of older ones.
func (r *Rolling) shed() {
	at, col, ok := r.log.enough(r.kept.max)
	if !ok {
		return
	}
	r.kept.restart(col, r.kept.printed+uint64(r.log.ops[at].at))
	r.log.drop(at)
}

// settle brings the record up to date.
func (r *Rolling) settle() {
	if len(r.log.ops) > 0 || len(r.log.text) > 0 {
		r.shed()
		r.play()
	}
}

// play plays the log to the record and empties it.
func (r *Rolling) play() {
	at := int32(0)
	for _, o := range r.log.ops {
		r.kept.print(r.log.text[at:o.at])
		r.kept.play(o)
		at = o.at
	}
	r.kept.print(r.log.text[at:])
	r.log.text, r.log.ops = r.log.text[:0], r.log.ops[:0]
}

// watch has ended see each line that ends from now on, with Total at that moment; nil for nobody.
func (r *Rolling) watch(ended func(text []byte, total uint64)) {
	r.settle()
	r.kept.ended = ended
}

// String is the text held, lines joined by line feeds, the unfinished one last. Blanks at its end are kept up to the
// cursor, so that a prompt looks like one. It is valid UTF-8. As long as nothing is done to it, it costs nothing to ask again.
func (r *Rolling) String() string {
	if !r.same {
		r.settle()
		r.text, r.same = r.kept.from(0, true), true
	}
	return r.text
}

// Total counts the bytes printed so far. It never decreases, and a value of it is a mark for [Rolling.Since] that keeps
// its sense whatever happens to the unfinished line: editing or ending a line prints nothing.
func (r *Rolling) Total() uint64 {
	r.cut() // a line that ends because it is full notes the end of its run, which must not be after the mark
	return r.kept.printed + uint64(len(r.log.text))
}

// Since is the text from the first line on into which something was printed after Total was mark, as far as it is still
// held. Lines are whole: of a line that was unfinished at the mark and was printed into since, the beginning comes too, and if
// it only was ended or erased since, it does not come at all.
func (r *Rolling) Since(mark uint64) string {
	r.settle()
	return r.kept.since(mark)
}

// Ahead is how many bytes of the text stand behind the cursor, at its end: the program is printing before them.
func (r *Rolling) Ahead() int {
	r.settle()
	return r.kept.ahead()
}

// unfinished is the line that has not ended, without the blanks right of the cursor; no cells, no text.
func (r *Rolling) unfinished() (text []byte, some bool) {
	r.settle()
	return r.kept.unfinished(), r.kept.line.len() > 0
}
