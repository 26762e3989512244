package snapshot

import (
	"math/bits"
	"slices"
	"sort"
	"strings"
	"unicode/utf8"
)

// record is the text itself: a one-line editor and what left it. A [Rolling] feeds it, with the text of many runs at once.
type record struct {
	max  int
	ring []byte // committed text, a ring of a power of two that holds max characters of any length
	end  uint64 // bytes ever committed; the ring's next byte is end modulo its length

	marks []mark // one for each of the newest committed lines, a ring too
	lines uint64 // lines ever committed

	line    line
	printed uint64 // bytes printed, see [Rolling.Total]
	buf     []byte // a line on its way into the ring

	// ended, when set, sees each line as it ends, with printed at that moment. The slice is valid during the call.
	ended func(text []byte, total uint64)
}

// mark remembers where a committed line ends and how much had been printed when it did.
type mark struct{ end, printed uint64 }

func newRecord(maxRunes int) record {
	return record{
		max:   maxRunes,
		ring:  make([]byte, ceilPow2(utf8.UTFMax*maxRunes)),
		marks: make([]mark, ceilPow2(maxRunes+1)),      // a line has its line feed at least
		line:  line{limit: max(maxRunes, 2), last: -1}, // room for one wide character
	}
}

// restart forgets everything. The next line begins at col, after printed bytes.
func (r *record) restart(col int, printed uint64) {
	r.end, r.lines, r.printed = 0, 0, printed
	r.line.clear(col)
}

func ceilPow2(n int) int { return 1 << bits.Len(uint(n-1)) }

func (r *record) print(run []byte) {
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

func (r *record) control(c byte) {
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

func (r *record) row(col int) {
	if !r.line.blank() {
		r.commit(true)
	}
	r.line.clear(col)
}

// commit moves the unfinished line into the ring. A line that ends (lf) loses the blanks at its end; a piece of a line
// that was too long keeps them.
func (r *record) commit(lf bool) {
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
func (r *record) store(text []byte) {
	if over := len(text) - len(r.ring); over > 0 {
		r.end += uint64(over)
		text = text[over:]
	}
	n := copy(r.ring[r.end&uint64(len(r.ring)-1):], text)
	copy(r.ring, text[n:])
	r.end += uint64(len(text))
}

func (r *record) since(mark uint64) string {
	held := min(r.lines, uint64(len(r.marks)))
	first := r.lines - held
	// The marks are in order: find the first line that ended with more printed than mark.
	newer := first + uint64(sort.Search(int(held), func(i int) bool { return r.markOf(first+uint64(i)).printed > mark }))
	start := uint64(0)
	switch {
	case newer > first:
		start = r.markOf(newer - 1).end
	case r.lines > held: // older lines are no longer marked, nor held
		start = r.markOf(first).end
	}
	return r.from(start, r.printed > mark)
}

func (r *record) markOf(line uint64) mark { return r.marks[line&uint64(len(r.marks)-1)] }

// from is the newest max characters of what was committed after start, with the unfinished line if that is wanted.
func (r *record) from(start uint64, unfinished bool) string {
	var tail []byte
	if unfinished {
		tail = newest(r.unfinished(), r.max)
	}
	size := uint64(len(r.ring))
	if r.end > size {
		start = max(start, r.end-size)
	}
	start = r.back(start, r.max-utf8.RuneCount(tail))
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

// back is where the newest n committed characters begin, at least start.
func (r *record) back(start uint64, n int) uint64 {
	at, mask := r.end, uint64(len(r.ring)-1)
	for at > start && n > 0 {
		if at--; utf8.RuneStart(r.ring[at&mask]) {
			n--
		}
	}
	return at
}

// unfinished is the line that has not ended, without the blanks right of the cursor.
func (r *record) unfinished() []byte {
	return trimBlanks(slices.Clip(r.line.append(nil)), r.printing())
}

// printing is the offset of the cursor in the unfinished line, at most its length.
func (r *record) printing() int { return len(r.line.appendTo(nil, r.line.col-r.line.origin)) }

// ahead is how much of the unfinished line is behind the cursor.
func (r *record) ahead() int { return len(r.unfinished()) - r.printing() }

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
