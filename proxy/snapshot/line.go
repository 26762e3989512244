package snapshot

import (
	"unicode/utf8"

	"github.com/clipperhouse/displaywidth"
	"github.com/clipperhouse/uax29/v2/graphemes"
)

// maxCluster is the longest grapheme cluster kept, in bytes; a family emoji has 25. What is longer is cut, since any
// number of combining marks may follow a character.
const maxCluster = 30

// cell is one column of the unfinished line. The second column of a wide character has width 0 and no text.
type cell struct {
	n, width uint8
	text     [maxCluster]byte
}

var blank = cell{n: 1, width: 1, text: [maxCluster]byte{' '}}

// line is the unfinished line: cells with a cursor. While it holds nothing but ASCII and was only written over and
// appended to, a cell is one byte of plain; the first thing that needs more turns it into cells.
type line struct {
	limit  int // cells
	origin int // the column of the first cell
	col    int // the cursor; it may stand left of origin, or right of the last cell
	last   int // the cell that a combining mark would join, if fancy: that printed last, with the cursor unmoved; else -1
	fancy  bool
	plain  []byte
	cells  []cell
}

// clear empties the line and puts the cursor, and the line's beginning, at col.
func (l *line) clear(col int) {
	l.plain, l.cells, l.fancy = l.plain[:0], l.cells[:0], false
	l.last = -1
	l.origin = min(max(col, 0), l.limit-1)
	l.col = l.origin
}

// column moves the cursor. Columns past the limit are at it: no terminal is that wide.
func (l *line) column(col int) {
	l.col = min(max(col, 0), l.limit-1)
	l.last = -1
}

func (l *line) len() int {
	if l.fancy {
		return len(l.cells)
	}
	return len(l.plain)
}

// text is the whole line without copying, nil when it has to be put together with append.
func (l *line) text() []byte {
	if l.fancy {
		return nil
	}
	return l.plain
}

// append appends the whole line to dst.
func (l *line) append(dst []byte) []byte { return l.appendTo(dst, l.len()) }

// appendTo appends the first n cells to dst.
func (l *line) appendTo(dst []byte, n int) []byte {
	n = min(max(n, 0), l.len())
	if !l.fancy {
		return append(dst, l.plain[:n]...)
	}
	for i := range l.cells[:n] {
		c := &l.cells[i]
		dst = append(dst, c.text[:c.n]...)
	}
	return dst
}

// blank reports whether there is nothing to read on the line.
func (l *line) blank() bool {
	if !l.fancy {
		return len(trimBlanks(l.plain, 0)) == 0
	}
	for i := range l.cells {
		if c := &l.cells[i]; c.n > 1 || c.n == 1 && c.text[0] != ' ' {
			return false
		}
	}
	return true
}

// begin prepares for printing at the cursor. Left of a line that began in the middle of its row it begins another.
func (l *line) begin(commit func(lf bool)) {
	if l.col >= l.origin {
		return
	}
	if !l.blank() {
		commit(true)
	}
	l.clear(l.col)
}

// print prints run at the cursor and returns how much of it there was room for.
func (l *line) print(run []byte) (n int) {
	for n < len(run) {
		rest := run[n:]
		a := ascii(rest)
		switch {
		case a > 0 && !l.fancy:
			a = l.printPlain(rest[:a])
		case a > 0:
			a = l.printASCII(rest[:a])
		default:
			a = l.printRune(rest)
		}
		if a == 0 {
			return n
		}
		n += a
	}
	return n
}

// ascii is the length of the printable ASCII at the start of run.
func ascii(run []byte) int {
	for i, c := range run {
		if c-' ' >= 0x7f-' ' {
			return i
		}
	}
	return len(run)
}

// printPlain prints ASCII on a line of ASCII, as far as there is room.
func (l *line) printPlain(run []byte) int {
	at := l.col - l.origin
	run = run[:min(len(run), l.limit-at)]
	l.pad(at)
	n := copy(l.plain[at:], run)
	l.plain = append(l.plain, run[n:]...)
	l.col += len(run)
	l.last = -1
	if len(run) > 0 {
		l.last = at + len(run) - 1
	}
	return len(run)
}

// pad makes the line at least n cells long.
func (l *line) pad(n int) {
	for !l.fancy && len(l.plain) < n {
		l.plain = append(l.plain, ' ')
	}
	for l.fancy && len(l.cells) < n {
		l.cells = append(l.cells, blank)
	}
}

// printASCII prints ASCII on a line of cells, as far as there is room.
func (l *line) printASCII(run []byte) int {
	for i, c := range run {
		if !l.put(cell{n: 1, width: 1, text: [maxCluster]byte{c}}) {
			return i
		}
	}
	return len(run)
}

// printRune prints the first character of run, which is no printable ASCII, and returns its length; 0 for no room.
func (l *line) printRune(run []byte) int {
	c, n := utf8.DecodeRune(run)
	if c < 0xa0 { // a control: not ours
		return n
	}
	l.explode()
	if l.join(c) {
		return n
	}
	next := cell{}
	next.n = uint8(utf8.EncodeRune(next.text[:], c)) // not run[:n]: what is not UTF-8 becomes U+FFFD
	next.width = uint8(displaywidth.Rune(c))
	if next.width == 0 {
		return n // a mark without a character before it
	}
	if !l.put(next) {
		return 0
	}
	return n
}

// explode turns bytes into cells.
func (l *line) explode() {
	if l.fancy {
		return
	}
	l.fancy = true
	l.cells = l.cells[:0]
	for _, c := range l.plain {
		l.cells = append(l.cells, cell{n: 1, width: 1, text: [maxCluster]byte{c}})
	}
}

// join adds c to the character printed last when the two are one grapheme cluster (UAX 29). It decides character by
// character, so that it does not matter how the text was cut into runs.
func (l *line) join(c rune) bool {
	if l.last < 0 || c < 0x300 || aloneCJK(c) {
		return false
	}
	prev := &l.cells[l.last]
	var buf [maxCluster + utf8.UTFMax]byte
	both := utf8.AppendRune(append(buf[:0], prev.text[:prev.n]...), c)
	clusters := graphemes.FromBytes(both)
	if !clusters.Next() || len(clusters.Value()) < len(both) {
		return false
	}
	if len(both) > maxCluster {
		return true // joined, and cut
	}
	prev.n = uint8(copy(prev.text[:], both))
	if w := displaywidth.Bytes(both); w == 2 && prev.width == 1 {
		l.widen()
	}
	return true
}

// aloneCJK reports whether c is one of the kana and ideographs, which join nothing: most of the text that is not Latin is
// spared the search for clusters. Two voicing marks stand among the kana.
func aloneCJK(c rune) bool {
	return 0x3041 <= c && c <= 0x9fff && c != 0x3099 && c != 0x309a
}

// widen makes the character printed last two columns wide (a variation selector asked for emoji).
func (l *line) widen() {
	at := l.last
	if at+2 > l.limit {
		return
	}
	l.cut(at + 1)
	l.cut(at + 2)
	l.pad(at + 2)
	l.cells[at].width = 2
	l.cells[at+1] = cell{}
	l.col++
}

// put writes one character over what is at the cursor; false when the line is full.
func (l *line) put(c cell) bool {
	at, end := l.col-l.origin, l.col-l.origin+int(c.width)
	if end > l.limit {
		return false
	}
	l.pad(at)
	l.cut(at)
	l.cut(end)
	l.pad(end)
	l.cells[at] = c
	if c.width == 2 {
		l.cells[at+1] = cell{}
	}
	l.last = at
	l.col += int(c.width)
	return true
}

// cut makes sure that a new character may begin or end before cell i: a wide one that stands across leaves blanks.
func (l *line) cut(i int) {
	if i > 0 && i < len(l.cells) && l.cells[i].width == 0 {
		l.cells[i-1], l.cells[i] = blank, blank
	}
}

// edit prepares for an edit: the line becomes cells, and at is the cursor as the index of one, which may be past the end.
func (l *line) edit() (at int) {
	l.explode()
	l.last = -1
	at = max(l.col-l.origin, 0)
	l.cut(at)
	return at
}

func (l *line) erase(mode int) {
	at := l.edit()
	switch {
	case mode == 2, mode == 0 && at == 0:
		l.cells = l.cells[:0]
	case mode == 0:
		l.cells = l.cells[:min(at, len(l.cells))]
	case mode == 1 && l.col >= l.origin:
		l.blanks(0, at+1)
	}
}

// blanks makes the cells from a to b blank, as far as there are any.
func (l *line) blanks(a, b int) {
	b = min(b, len(l.cells))
	l.cut(b)
	l.blankOut(a, b)
}

func (l *line) eraseChars(n int) {
	at := l.edit()
	left := max(l.origin-l.col, 0) // columns before the line begins
	l.blanks(at, at+clamp(n, l.limit)-left)
}

// insertChars moves the cells from the cursor on to the right; what leaves the longest line is lost.
func (l *line) insertChars(n int) {
	at := l.edit()
	n = clamp(n, l.limit)
	if l.col < l.origin {
		l.origin = min(l.origin+n, l.limit-1)
		return
	}
	if at >= len(l.cells) {
		return
	}
	n = min(n, l.limit-at)
	size := min(len(l.cells)+n, l.limit)
	l.cut(size - n) // the cell that would be cut in half at the limit
	l.pad(size)
	copy(l.cells[at+n:], l.cells[at:])
	l.blankOut(at, at+n)
}

// blankOut makes cells blank that hold copies of others.
func (l *line) blankOut(a, b int) {
	for i := a; i < b; i++ {
		l.cells[i] = blank
	}
}

func (l *line) deleteChars(n int) {
	at := l.edit()
	n = clamp(n, l.limit)
	if left := l.origin - l.col; left > 0 {
		moved := min(n, left)
		l.origin -= moved
		n -= moved
	}
	if at >= len(l.cells) || n == 0 {
		return
	}
	n = min(n, len(l.cells)-at)
	l.cut(at + n)
	l.cells = append(l.cells[:at], l.cells[at+n:]...)
}

// clamp bounds a repeat count, which has been read from the program's output; 0 counts as 1 there.
func clamp(n, limit int) int { return min(max(n, 1), limit) }
