package snapshot

import (
	"math/bits"
	"slices"
	"sort"
	"strings"
	"unicode/utf8"
)

// record is the text: a one-line editor and the lines that left it. A [Rolling] feeds it the text
// of many runs at once.
type record struct {
	max int
	// committed text, a ring whose size is a power of two and that holds max characters of any
	// length
	ring []byte
	end  uint64 // all bytes committed; the ring's next byte is end modulo its length

	marks []mark // a ring with one mark for each of the newest committed lines
	lines uint64 // all lines committed

	line    line
	printed uint64 // all bytes printed, see [Rolling.Total]
	buf     []byte // a line on its way into the ring

	// ended, if set, gets each line as it ends, with printed at that moment. The slice is valid
	// during the call.
	ended func(text []byte, total uint64, end lineEnd)
}

// lineEnd says how a line ended.
type lineEnd uint8

const (
	lineFull lineEnd = iota // its text goes on in the next piece
	lineLeft                // the cursor moved away
	lineFed                 // a line feed
)

// mark is the end of a committed line, and the bytes printed until then.
type mark struct{ end, printed uint64 }

func newRecord(maxRunes int) record {
	return record{
		max:   maxRunes,
		ring:  make([]byte, ceilPow2(utf8.UTFMax*maxRunes)),
		marks: make([]mark, ceilPow2(maxRunes+1)),      // each line has at least its line feed
		line:  line{limit: max(maxRunes, 2), last: -1}, // room for one wide character
	}
}

// restartAt forgets everything. The next line begins at col, after printed bytes.
func (r *record) restartAt(col int, printed uint64) {
	r.end, r.lines, r.printed = 0, 0, printed
	r.line.resetAt(col)
}

func ceilPow2(n int) int { return 1 << bits.Len(uint(n-1)) }

func (r *record) printRun(run []byte) {
	r.printed += uint64(len(run))
	for len(run) > 0 {
		r.line.beginPrint(r.commitLine)
		n := r.line.printRun(run)
		if run = run[n:]; len(run) > 0 {
			r.commitLine(lineFull) // its text goes on
			r.line.resetAt(0)
		}
	}
}

func (r *record) playControl(c byte) {
	switch c {
	case '\b':
		r.line.moveTo(r.line.col - 1)
	case '\t':
		r.line.moveTo((r.line.col/8 + 1) * 8)
	case '\r':
		r.line.moveTo(0)
	case '\n':
		col := r.line.col
		r.commitLine(lineFed)
		r.line.resetAt(0)
		r.line.moveTo(col)
	}
}

func (r *record) leaveRow(col int) {
	if !r.line.isBlank() {
		r.commitLine(lineLeft)
	}
	r.line.resetAt(col)
}

// commitLine moves the unfinished line into the ring. A line that ends loses its trailing
// blanks; a piece of an overlong line keeps them.
func (r *record) commitLine(end lineEnd) {
	lf := end != lineFull
	text := r.line.plainText()
	if text == nil || !lf {
		r.buf = r.line.appendAll(r.buf[:0])
		text = r.buf
	}
	if lf {
		text = trimBlanks(text, 0)
	}
	if r.ended != nil {
		r.ended(text, r.printed, end)
	}
	r.storeText(text)
	if lf {
		r.ring[r.end&uint64(len(r.ring)-1)] = '\n'
		r.end++
	}
	r.marks[r.lines&uint64(len(r.marks)-1)] = mark{end: r.end, printed: r.printed}
	r.lines++
}

// storeText appends text to the ring, over the oldest.
func (r *record) storeText(text []byte) {
	if over := len(text) - len(r.ring); over > 0 {
		r.end += uint64(over)
		text = text[over:]
	}
	n := copy(r.ring[r.end&uint64(len(r.ring)-1):], text)
	copy(r.ring, text[n:])
	r.end += uint64(len(text))
}

func (r *record) textSince(mark uint64) string {
	held := min(r.lines, uint64(len(r.marks)))
	first := r.lines - held
	// The marks are in order: find the first line that ended with more printed than mark.
	newer := first + uint64(sort.Search(int(held), func(i int) bool {
		return r.markOf(first+uint64(i)).printed > mark
	}))
	start := uint64(0)
	switch {
	case newer > first:
		start = r.markOf(newer - 1).end
	case r.lines > held: // older lines have left marks and ring
		start = r.markOf(first).end
	}
	return r.textFrom(start, r.printed > mark)
}

func (r *record) markOf(line uint64) mark { return r.marks[line&uint64(len(r.marks)-1)] }

// textFrom returns the newest max characters committed after start, with the unfinished line if
// unfinished is set.
func (r *record) textFrom(start uint64, unfinished bool) string {
	var tail []byte
	if unfinished {
		tail = newestRunes(r.unfinishedLine(), r.max)
	}
	size := uint64(len(r.ring))
	if r.end > size {
		start = max(start, r.end-size)
	}
	start = r.startOfNewest(start, r.max-utf8.RuneCount(tail))
	var out strings.Builder
	out.Grow(int(r.end-start) + len(tail)) //nolint:gosec // at most the ring and a line
	if start < r.end {
		a, b := start&(size-1), r.end&(size-1)
		if a < b {
			out.Write(r.ring[a:b])
		} else {
			out.Write(r.ring[a:])
			out.Write(r.ring[:b])
		}
	}
	out.Write(tail)
	return out.String()
}

// startOfNewest returns where the newest n committed characters begin, at least start.
func (r *record) startOfNewest(start uint64, n int) uint64 {
	at, mask := r.end, uint64(len(r.ring)-1)
	for at > start && n > 0 {
		if at--; utf8.RuneStart(r.ring[at&mask]) {
			n--
		}
	}
	return at
}

// unfinishedLine returns the unfinished line without the blanks right of the cursor.
func (r *record) unfinishedLine() []byte {
	return trimBlanks(slices.Clip(r.line.appendAll(nil)), r.cursorOffset())
}

// cursorOffset returns the offset of the cursor in the unfinished line, at most its length.
func (r *record) cursorOffset() int {
	return len(r.line.appendCells(nil, r.line.col-r.line.origin))
}

// bytesAhead returns how many bytes of the unfinished line are behind the cursor.
func (r *record) bytesAhead() int { return len(r.unfinishedLine()) - r.cursorOffset() }

// trimBlanks cuts trailing blanks, down to length keep.
func trimBlanks(text []byte, keep int) []byte {
	n := len(text)
	for n > keep && text[n-1] == ' ' {
		n--
	}
	return text[:n]
}

// newestRunes returns the last n characters of text.
func newestRunes(text []byte, n int) []byte {
	i := len(text)
	for ; i > 0 && n > 0; n-- {
		_, size := utf8.DecodeLastRune(text[:i])
		i -= size
	}
	return text[i:]
}
