package snapshot

import (
	"unicode/utf8"

	"github.com/clipperhouse/displaywidth"
	"github.com/clipperhouse/uax29/v2/graphemes"
)

// maxCluster is the longest grapheme cluster kept, in bytes; a family emoji has 25. Longer ones are
// cut, since any number of combining marks may follow a character.
const maxCluster = 30

// cell is one column of the unfinished line. The second column of a wide character has width 0 and
// no text.
type cell struct {
	n, width uint8
	text     [maxCluster]byte
}

var blank = cell{n: 1, width: 1, text: [maxCluster]byte{' '}}

// line is the unfinished line: cells with a cursor. While it holds only ASCII and was only
// overwritten and appended to, a cell is one byte of plain; the first thing that needs more turns
// plain into cells.
type line struct {
	limit  int // cells
	origin int // the column of the first cell
	col    int // the cursor, possibly left of origin or right of the last cell
	// If fancy, last is the cell that a combining mark would join: the one printed last, with the
	// cursor unmoved; if not, -1.
	last     int
	hasCells bool
	plain    []byte
	cells    []cell
}

// resetAt empties the line and puts the cursor, and the line's start, at col.
func (l *line) resetAt(col int) {
	l.plain, l.cells, l.hasCells = l.plain[:0], l.cells[:0], false
	l.last = -1
	l.origin = min(max(col, 0), l.limit-1)
	l.col = l.origin
}

// moveTo moves the cursor. A column past the limit is taken for the limit: no terminal is that
// wide.
func (l *line) moveTo(col int) {
	l.col = min(max(col, 0), l.limit-1)
	l.last = -1
}

func (l *line) len() int {
	if l.hasCells {
		return len(l.cells)
	}
	return len(l.plain)
}

// plainText returns the whole line without copying, or nil if appendAll has to build it.
func (l *line) plainText() []byte {
	if l.hasCells {
		return nil
	}
	return l.plain
}

// appendAll appends the whole line to dst.
func (l *line) appendAll(dst []byte) []byte { return l.appendCells(dst, l.len()) }

// appendCells appends the first n cells to dst.
func (l *line) appendCells(dst []byte, n int) []byte {
	n = min(max(n, 0), l.len())
	if !l.hasCells {
		return append(dst, l.plain[:n]...)
	}
	for i := range l.cells[:n] {
		c := &l.cells[i]
		dst = append(dst, c.text[:c.n]...)
	}
	return dst
}

// isBlank reports whether the line has no visible text.
func (l *line) isBlank() bool {
	if !l.hasCells {
		return len(trimBlanks(l.plain, 0)) == 0
	}
	for i := range l.cells {
		if c := &l.cells[i]; c.n > 1 || c.n == 1 && c.text[0] != ' ' {
			return false
		}
	}
	return true
}

// beginPrint prepares for printing at the cursor. If the cursor is left of a line that began in the
// middle of its row, it begins another line.
func (l *line) beginPrint(commit func(end lineEnd)) {
	if l.col >= l.origin {
		return
	}
	if !l.isBlank() {
		commit(lineLeft)
	}
	l.resetAt(l.col)
}

// printRun prints run at the cursor and returns how many of its bytes had room.
func (l *line) printRun(run []byte) (n int) {
	for n < len(run) {
		rest := run[n:]
		a := ascii(rest)
		switch {
		case a > 0 && !l.hasCells:
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

// ascii returns the length of the printable ASCII at the start of run.
func ascii(run []byte) int {
	for i, c := range run {
		if c-' ' >= 0x7f-' ' {
			return i
		}
	}
	return len(run)
}

// printPlain prints ASCII on a line of ASCII while there is room.
func (l *line) printPlain(run []byte) int {
	at := l.col - l.origin
	run = run[:min(len(run), l.limit-at)]
	l.padTo(at)
	n := copy(l.plain[at:], run)
	l.plain = append(l.plain, run[n:]...)
	l.col += len(run)
	l.last = -1
	if len(run) > 0 {
		l.last = at + len(run) - 1
	}
	return len(run)
}

// padTo makes the line at least n cells long.
func (l *line) padTo(n int) {
	for !l.hasCells && len(l.plain) < n {
		l.plain = append(l.plain, ' ')
	}
	for l.hasCells && len(l.cells) < n {
		l.cells = append(l.cells, blank)
	}
}

// printASCII prints ASCII on a line of cells while there is room.
func (l *line) printASCII(run []byte) int {
	for i, c := range run {
		if !l.putCell(cell{n: 1, width: 1, text: [maxCluster]byte{c}}) {
			return i
		}
	}
	return len(run)
}

// printRune prints the first character of run, which is not printable ASCII, and returns its
// length; 0 if there was no room.
func (l *line) printRune(run []byte) int {
	c, n := utf8.DecodeRune(run)
	if c < 0xa0 { // controls arrive as operations
		return n
	}
	l.makeCells()
	if l.joinCluster(c) {
		return n
	}
	next := cell{}
	next.n = uint8(utf8.EncodeRune(next.text[:], c)) // not run[:n]: invalid UTF-8 becomes U+FFFD
	next.width = uint8(displaywidth.Rune(c))
	if next.width == 0 {
		return n // a mark without a character before it
	}
	if !l.putCell(next) {
		return 0
	}
	return n
}

// makeCells turns plain bytes into cells.
func (l *line) makeCells() {
	if l.hasCells {
		return
	}
	l.hasCells = true
	l.cells = l.cells[:0]
	for _, c := range l.plain {
		l.cells = append(l.cells, cell{n: 1, width: 1, text: [maxCluster]byte{c}})
	}
}

// joinCluster adds c to the character printed last if the two form one grapheme cluster (UAX 29).
// It decides character by character, so the division of the text into runs does not matter.
func (l *line) joinCluster(c rune) bool {
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
		l.widenLast()
	}
	return true
}

// aloneCJK reports whether c is a kana or an ideograph, which join nothing; this spares most
// non-Latin text the search for clusters. Two voicing marks stand among the kana.
func aloneCJK(c rune) bool {
	return 0x3041 <= c && c <= 0x9fff && c != 0x3099 && c != 0x309a
}

// widenLast makes the character printed last two columns wide (a variation selector asked for
// emoji).
func (l *line) widenLast() {
	at := l.last
	if at+2 > l.limit {
		return
	}
	l.splitWide(at + 1)
	l.splitWide(at + 2)
	l.padTo(at + 2)
	l.cells[at].width = 2
	l.cells[at+1] = cell{}
	l.col++
}

// putCell overwrites the cell at the cursor; it returns false if the line is full.
func (l *line) putCell(c cell) bool {
	at, end := l.col-l.origin, l.col-l.origin+int(c.width)
	if end > l.limit {
		return false
	}
	l.padTo(at)
	l.splitWide(at)
	l.splitWide(end)
	l.padTo(end)
	l.cells[at] = c
	if c.width == 2 {
		l.cells[at+1] = cell{}
	}
	l.last = at
	l.col += int(c.width)
	return true
}

// splitWide lets a new character begin or end before cell i: a wide one across it becomes blanks.
func (l *line) splitWide(i int) {
	if i > 0 && i < len(l.cells) && l.cells[i].width == 0 {
		l.cells[i-1], l.cells[i] = blank, blank
	}
}

// beginEdit makes cells of the line, and returns the cursor as the index of a cell, which may be
// past the end.
func (l *line) beginEdit() (at int) {
	l.makeCells()
	l.last = -1
	at = max(l.col-l.origin, 0)
	l.splitWide(at)
	return at
}

func (l *line) eraseLine(mode int) {
	at := l.beginEdit()
	switch {
	case mode == 2, mode == 0 && at == 0:
		l.cells = l.cells[:0]
	case mode == 0:
		l.cells = l.cells[:min(at, len(l.cells))]
	case mode == 1 && l.col >= l.origin:
		l.blankCells(0, at+1)
	}
}

// blankCells makes the existing cells from a to b blank.
func (l *line) blankCells(a, b int) {
	b = min(b, len(l.cells))
	l.splitWide(b)
	l.fillBlanks(a, b)
}

func (l *line) eraseChars(n int) {
	at := l.beginEdit()
	left := max(l.origin-l.col, 0) // columns before the line begins
	l.blankCells(at, at+clamp(n, l.limit)-left)
}

// insertChars moves the cells from the cursor on to the right; cells past the limit are lost.
func (l *line) insertChars(n int) {
	at := l.beginEdit()
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
	l.splitWide(size - n) // the cell that would be cut in half at the limit
	l.padTo(size)
	copy(l.cells[at+n:], l.cells[at:])
	l.fillBlanks(at, at+n)
}

// fillBlanks blanks cells without regard to wide characters at the edges: the callers have split
// those.
func (l *line) fillBlanks(a, b int) {
	for i := a; i < b; i++ {
		l.cells[i] = blank
	}
}

func (l *line) deleteChars(n int) {
	at := l.beginEdit()
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
	l.splitWide(at + n)
	l.cells = append(l.cells[:at], l.cells[at+n:]...)
}

// clamp bounds a repeat count from the program's output; 0 counts as 1 there.
func clamp(n, limit int) int { return min(max(n, 1), limit) }
