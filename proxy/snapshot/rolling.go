// Package snapshot decides what an observer is told and when: the rolling text of a session, the rhythm of its
// snapshots, whether its screen has settled, and the waits for a fact on it. It knows no sockets and no terminal model,
// has no clock and starts no goroutine: the screen loop owns every value of this package, passes the time in, and asks
// when to look again.
package snapshot

import (
	"slices"
	"unicode/utf8"
)

// Rolling is the text that a program printed, newest last, as somebody reading over its shoulder would have it: without
// escape sequences, each line in the state in which the program left it. It keeps the newest characters only.
//
// A terminal model feeds it through Print, Control and the other methods named after what the program did (ECMA-48 names
// are given with each). It is a one-line editor: whatever happens within a row edits the unfinished line, and leaving the
// row ends it. A row that the terminal wrapped is one line here.
//
// One goroutine owns it. Its memory is bounded, and feeding it ASCII allocates nothing.
type Rolling struct {
	max  int
	ring []byte // committed text, a ring of a power of two that holds max characters of any length
	end  uint64 // bytes ever committed; the ring's next byte is end modulo its length

	marks []mark // one for each of the newest committed lines, a ring too
	lines uint64 // lines ever committed

	line    line
	printed uint64 // see Total
	buf     []byte // a line on its way into the ring

	// ended, when set, sees each line as it ends, with Total at that moment. The slice is valid during the call.
	ended func(text []byte, total uint64)
}

// mark remembers where a committed line ends and how much had been printed when it did.
type mark struct{ end, printed uint64 }

// NewRolling is an empty rolling text of at most maxRunes characters, at least one.
func NewRolling(maxRunes int) *Rolling {
	maxRunes = max(maxRunes, 1)
	return &Rolling{
		max:   maxRunes,
		ring:  make([]byte, ceilPow2(utf8.UTFMax*maxRunes)),
		marks: make([]mark, ceilPow2(maxRunes+1)),      // a line has its line feed at least
		line:  line{limit: max(maxRunes, 2), last: -1}, // room for one wide character
	}
}

func ceilPow2(n int) int {
	p := 1
	for p < n {
		p *= 2
	}
	return p
}

// Print takes a run of printable UTF-8 text. Bytes that are none are passed over: controls have their own method.
func (r *Rolling) Print(run []byte) {
	r.printed += uint64(len(run))
	for len(run) > 0 {
		r.line.begin(r.commit)
		n := r.line.print(run)
		if run = run[n:]; len(run) > 0 {
			r.commit(false) // the line is full; its text goes on, so no line feed comes between
			r.line.clear(0)
		}
	}
}

// Control takes BS, HT, LF or CR. A bare line feed keeps the column. Other controls are passed over.
func (r *Rolling) Control(c byte) {
	switch c {
	case '\b':
		r.line.column(r.line.col - 1)
	case '\t':
		r.line.column((r.line.col/8 + 1) * 8)
	case '\r':
		r.line.column(0)
	case '\n':
		col := r.line.col
		r.commit(true)
		r.line.clear(0)
		r.line.column(col)
	}
}

// Column says that the cursor moved within its row (CHA, HPA, CUF, CUB, ...) to col, counted from 0.
func (r *Rolling) Column(col int) { r.line.column(col) }

// Row says that the cursor jumped to column col of another row (CUP, VPA, CUU, CUD, ...). The unfinished line ends if it
// holds text. What is printed next stands at the start of its line whatever the column: a full-screen program that
// touches its right edge shall not fill the record with blanks.
func (r *Rolling) Row(col int) {
	if !r.line.blank() {
		r.commit(true)
	}
	r.line.clear(col)
}

// Erase is EL: from the cursor to the end (0), from the start to the cursor (1), the whole row (2).
func (r *Rolling) Erase(mode int) { r.line.erase(mode) }

// EraseChars is ECH: n cells from the cursor become blank.
func (r *Rolling) EraseChars(n int) { r.line.eraseChars(n) }

// InsertChars is ICH: n blanks come in at the cursor.
func (r *Rolling) InsertChars(n int) { r.line.insertChars(n) }

// DeleteChars is DCH: n cells from the cursor go away.
func (r *Rolling) DeleteChars(n int) { r.line.deleteChars(n) }

// Clear says that the screen was erased or exchanged. The text stays, since it is a record; the unfinished line ends.
func (r *Rolling) Clear() { r.Row(r.line.col) }

// commit moves the unfinished line into the ring. A line that ends (lf) loses the blanks at its end; a piece of a line
// that was too long keeps them.
func (r *Rolling) commit(lf bool) {
	text := r.line.text()
	if text == nil || !lf {
		r.buf = r.line.append(r.buf[:0])
		text = r.buf
	}
	if lf {
		text = trimBlanks(text, 0)
	}
	if r.ended != nil {
		r.ended(text, r.printed)
	}
	r.store(text)
	if lf {
		r.ring[r.end&uint64(len(r.ring)-1)] = '\n'
		r.end++
	}
	r.marks[r.lines&uint64(len(r.marks)-1)] = mark{end: r.end, printed: r.printed}
	r.lines++
}

// store appends text to the ring, over the oldest.
func (r *Rolling) store(text []byte) {
	if over := len(text) - len(r.ring); over > 0 {
		r.end += uint64(over)
		text = text[over:]
	}
	n := copy(r.ring[r.end&uint64(len(r.ring)-1):], text)
	copy(r.ring, text[n:])
	r.end += uint64(len(text))
}

// String is the text held, lines joined by line feeds, the unfinished one last. Blanks at its end are kept up to the
// cursor, so that a prompt looks like one. It is valid UTF-8.
func (r *Rolling) String() string { return r.from(0, true) }

// Total counts the bytes printed so far. It never decreases, and a value of it is a mark for [Rolling.Since] that keeps
// its sense whatever happens to the unfinished line: editing or ending a line prints nothing.
func (r *Rolling) Total() uint64 { return r.printed }

// Since is the text from the first line on into which something was printed after Total was mark, as far as it is still
// held. Lines are whole: of a line that was unfinished at the mark and was printed into since, the beginning comes too, and if
// it only was ended or erased since, it does not come at all.
func (r *Rolling) Since(mark uint64) string {
	held := min(r.lines, uint64(len(r.marks)))
	first := r.lines - held
	// The marks are in order: find the first line that ended with more printed than mark.
	lo, hi := first, r.lines
	for lo < hi {
		mid := (lo + hi) / 2
		if r.markOf(mid).printed > mark {
			hi = mid
		} else {
			lo = mid + 1
		}
	}
	start := uint64(0)
	switch {
	case lo > first:
		start = r.markOf(lo - 1).end
	case r.lines > held: // older lines are no longer marked, nor held
		start = r.markOf(first).end
	}
	return r.from(start, r.printed > mark)
}

func (r *Rolling) markOf(line uint64) mark { return r.marks[line&uint64(len(r.marks)-1)] }

// from is the newest max characters of what was committed after start, with the unfinished line if that is wanted.
func (r *Rolling) from(start uint64, unfinished bool) string {
	var tail []byte
	if unfinished {
		tail = r.unfinished()
	}
	size := uint64(len(r.ring))
	if r.end > size {
		start = max(start, r.end-size)
	}
	out := make([]byte, 0, int(r.end-start)+len(tail))
	if start < r.end {
		a, b := start&(size-1), r.end&(size-1)
		if a < b {
			out = append(out, r.ring[a:b]...)
		} else {
			out = append(append(out, r.ring[a:]...), r.ring[:b]...)
		}
	}
	out = newest(append(out, tail...), r.max)
	return string(out)
}

// unfinished is the line that has not ended, without the blanks right of the cursor.
func (r *Rolling) unfinished() []byte {
	kept := len(r.line.appendTo(nil, r.line.col-r.line.origin))
	return trimBlanks(slices.Clip(r.line.append(nil)), kept)
}

// trimBlanks cuts blanks from the end of text, down to length keep.
func trimBlanks(text []byte, keep int) []byte {
	n := len(text)
	for n > keep && text[n-1] == ' ' {
		n--
	}
	return text[:n]
}

// newest is the last n characters of text. It cuts between characters.
func newest(text []byte, n int) []byte {
	i := len(text)
	for ; i > 0 && n > 0; n-- {
		_, size := utf8.DecodeLastRune(text[:i])
		i -= size
	}
	return text[i:]
}
