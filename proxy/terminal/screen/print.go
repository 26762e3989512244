package screen

import (
	"encoding/binary"
	"unicode/utf8"
)

// asciiRun returns the length of the run of printable ASCII at the front of p, looking at eight
// bytes at a time.
func asciiRun(p []byte) int {
	const ones, highs = 0x0101010101010101, 0x8080808080808080
	i := 0
	for ; i+8 <= len(p); i += 8 {
		w := binary.LittleEndian.Uint64(p[i:])
		// The high bit of a byte is set if it is not ASCII, below 0x20, or 0x7f.
		if (w|(w-0x20*ones)|(w+ones))&highs != 0 {
			break
		}
	}
	for i < len(p) && p[i]-0x20 < 0x5f {
		i++
	}
	return i
}

// printASCII prints the run of printable ASCII at the front of p and returns its length.
func (t *terminal) printASCII(p []byte) int {
	n := asciiRun(p)
	p = p[:n]
	t.last = lastGraphic{rune(p[n-1]), true}
	if !t.plain {
		for _, c := range p {
			t.printChar(rune(c))
		}
		return n
	}
	t.sinkText(p)
	for base := styled(t.currentPenID()); len(p) > 0; {
		p = p[t.printPart(p, base):]
	}
	return n
}

// printPart copies the part of p that fits in the cursor's row, and returns its length.
func (t *terminal) printPart(p []byte, base cell) int {
	if t.pending && t.modes.AutoWrap {
		t.wrapLine()
	}
	limit := t.rightLimit()
	n := min(len(p), limit+1-t.x)
	took, last := n, p[n-1]
	if !t.modes.AutoWrap {
		// The rest of the run would overwrite the last column again and again: its last character
		// stays.
		took, last = len(p), p[len(p)-1]
	}
	r := t.cursorRow()
	if r.rich {
		r.splitAt(t.x)
		r.splitAt(t.x + n)
	}
	dst := r.cells[t.x : t.x+n]
	for i, c := range p[:len(dst)] {
		dst[i] = base | cell(c)
	}
	dst[n-1] = base | cell(last)
	t.advanceCursor(r, n, limit)
	return took
}

// advanceCursor moves the cursor over n columns that have just been written.
func (t *terminal) advanceCursor(r *row, n, limit int) {
	t.touchRow(t.y)
	t.x += n
	r.used = max(r.used, t.x)
	t.pending = false
	if t.x > limit {
		t.x = limit
		t.pending = true
		if limit == t.cols-1 {
			r.wrapped = false
		}
	}
}

// wrapLine performs the wrap-around that was pending: on to the next row (DECAWM).
func (t *terminal) wrapLine() {
	soft := t.fullWidth()
	y := t.y
	// now, for the history: the row may leave the screen with the next step
	t.grid.rows[y].wrapped = soft
	t.wrapTextLine(soft)
	t.pending = false
	t.x = t.returnColumn()
	t.moveIndex()
	if soft && t.y == y && y > 0 {
		// The screen moved under the cursor, and moving it cuts lines at the margins. This one goes
		// on.
		t.grid.rows[y-1].wrapped = true
	}
}

// decoder holds the bytes of a character that was cut by the end of a Feed.
type decoder struct {
	buf [utf8.UTFMax]byte
	n   int
}

// printUTF8 prints the characters outside ASCII at the front of p and returns how many bytes it
// took.
func (t *terminal) printUTF8(p []byte) int {
	start, i := 0, 0
	for i < len(p) && p[i] >= utf8.RuneSelf {
		if n := t.printSpan(p[i:]); n > 0 {
			i += n
			continue
		}
		r, size := decodeRune(p[i:])
		if size == 1 || r < 0xa0 {
			t.sinkRun(p[start:i])
			return i + t.printOdd(p[i:], r, size)
		}
		if t.charsets.single != 0 {
			t.endShift()
		}
		t.printRune(r)
		i += size
	}
	t.sinkRun(p[start:i])
	return i
}

// printSpan prints characters outside ASCII at the front of p until one does not take cells of its
// own, or the last column is reached, and returns how many bytes it took. The rest goes the long
// way.
func (t *terminal) printSpan(p []byte) int {
	clusters := t.modes.Graphemes
	if t.pending || t.modes.Insert || t.charsets.single != 0 || clusters && !t.afterSimple() {
		return 0
	}
	row, x, last := t.cursorRow(), t.x, t.rightLimit()
	base := styled(t.currentPenID())
	row.splitAt(x)
	i, r := 0, rune(0)
	for i < len(p) && p[i] >= utf8.RuneSelf {
		if wideLead[p[i]].span > 0 {
			if n, columns := printWide(p[i:], row.cells[x:last], base); n > 0 {
				i, x = i+n, x+columns
				r = rune(row.cells[x-2].code())
				continue
			}
		}
		next, size := decodeRune(p[i:])
		w := t.widths.of(next)
		if size == 1 || next < 0xa0 || w == 0 || x+w > last || clusters && !isSimple(next) {
			break
		}
		r = next
		row.cells[x] = base | cell(r)
		if w == 2 {
			row.cells[x] |= wideFlag
			row.cells[x+1] = base | tailFlag
		}
		x += w
		i += size
	}
	if i == 0 {
		return 0
	}
	if row.cells[x].isTail() { // its first half has been overwritten
		row.cells[x] = row.cells[x].withoutContent()
	}
	row.rich = true
	t.last = lastGraphic{r, true}
	t.x = x
	row.used = max(row.used, x)
	t.touchRow(t.y)
	return i
}

// afterSimple says whether what stands before the cursor is simple (see isSimple), or nothing
// stands there.
func (t *terminal) afterSimple() bool {
	x, ok := t.previous()
	if !ok {
		return true
	}
	c := t.cursorRow().cells[x]
	return !c.isCluster() && isSimple(rune(c.code()))
}

// wideLead says for the first byte of a character which second bytes make it a CJK unified
// ideograph or a Hangul syllable: those from low to low+span. The last 36 syllables are left out.
// Texts mix both, so that two ranges of code points to compare with could not be predicted.
var wideLead = func() (t [256]struct{ low, span byte }) {
	for i := range t {
		t[i].low = 0xff // is no second byte
	}
	set := func(first, last, low, high byte) {
		for c := first; c <= last; c++ {
			t[c].low, t[c].span = low, high-low
		}
	}
	set(0xe4, 0xe4, 0xb8, 0xbf)
	set(0xe5, 0xe9, 0x80, 0xbf)
	set(0xea, 0xea, 0xb0, 0xbf)
	set(0xeb, 0xec, 0x80, 0xbf)
	set(0xed, 0xed, 0x80, 0x9d)
	return t
}()

// printWide prints the CJK unified ideographs and Hangul syllables at the front of p into cells
// while there is room, and returns how many bytes and columns these are. They are the bulk of the
// text in those scripts.
func printWide(p []byte, cells []cell, base cell) (n, columns int) {
	head, tail := base|wideFlag, base|tailFlag
	for len(p) >= 3 && len(cells) >= 2 {
		a, b, c := p[0], p[1], p[2]
		lead := wideLead[a]
		if b-lead.low > lead.span || (b|c)&0x40|^(b&c)&0x80 != 0 {
			break
		}
		cells[0] = head | cell(a&0x0f)<<12 | cell(b&0x3f)<<6 | cell(c&0x3f)
		cells[1] = tail
		p, cells = p[3:], cells[2:]
		n += 3
		columns += 2
	}
	return n, columns
}

// printOdd handles what stands among characters outside ASCII without being one: a C1 control, a
// cut or broken character.
func (t *terminal) printOdd(p []byte, r rune, size int) int {
	switch {
	case size > 1:
		t.c1(byte(r))
		return size
	case !utf8.FullRune(p):
		t.parse.utf8.n = copy(t.parse.utf8.buf[:], p)
		return len(p)
	default:
		t.printInvalid()
		return invalidLen(p)
	}
}

// decodeRune is utf8.DecodeRune with a short way for the two or three bytes of most scripts; p[0]
// is not ASCII.
func decodeRune(p []byte) (rune, int) {
	if len(p) >= 3 && p[0] > 0xe0 && p[0] < 0xf0 && (p[0] != 0xed || p[1] < 0xa0) &&
		p[1]&0xc0 == 0x80 && p[2]&0xc0 == 0x80 {
		return rune(p[0]&0x0f)<<12 | rune(p[1]&0x3f)<<6 | rune(p[2]&0x3f), 3
	}
	if len(p) >= 2 && p[0] >= 0xc2 && p[0] < 0xe0 && p[1]&0xc0 == 0x80 {
		return rune(p[0]&0x1f)<<6 | rune(p[1]&0x3f), 2
	}
	if len(p) >= 4 && p[0] == 0xf0 && p[1] >= 0x90 && p[1]&0xc0 == 0x80 && p[2]&0xc0 == 0x80 &&
		p[3]&0xc0 == 0x80 {
		return rune(p[1]&0x3f)<<12 | rune(p[2]&0x3f)<<6 | rune(p[3]&0x3f), 4 // emoji
	}
	return utf8.DecodeRune(p)
}

func (t *terminal) sinkRun(run []byte) {
	if len(run) > 0 {
		t.sinkText(run)
	}
}

// endShift ends a single shift (SS2, SS3): it holds for one character, translated or not.
func (t *terminal) endShift() {
	if t.charsets.single != 0 {
		t.charsets.single = 0
		t.updatePlain()
	}
}

// resumeRune goes on with a character that the last Feed cut, and returns how many bytes of p it
// took.
func (t *terminal) resumeRune(p []byte) int {
	d := &t.parse.utf8
	d.buf[d.n] = p[0]
	part := d.buf[:d.n+1]
	r, size := utf8.DecodeRune(part)
	switch {
	case size > 1:
		d.n = 0
		if r < 0xa0 {
			t.c1(byte(r))
			return 1
		}
		t.sinkText(part)
		t.endShift()
		t.printRune(r)
		return 1
	case utf8.FullRune(part): // not the byte that the character needed: it stands for itself
		d.n = 0
		t.printInvalid()
		return 0
	default:
		d.n++
		return 1
	}
}

// printInvalid prints U+FFFD for bytes that are no character.
func (t *terminal) printInvalid() {
	t.sinkText(utf8.AppendRune(t.scratch[:0], utf8.RuneError))
	t.printRune(utf8.RuneError)
}

// invalidLen returns the length of the "maximal subpart" at the front of p that one U+FFFD stands
// for (Unicode, 3.9).
func invalidLen(p []byte) int {
	n := 1
	for n < len(p) && !utf8.FullRune(p[:n+1]) {
		n++
	}
	return n
}

// printChar prints a character of GL through the character sets.
func (t *terminal) printChar(r rune) {
	r = t.charsets.translate(r)
	t.endShift()
	t.sinkText(utf8.AppendRune(t.scratch[:0], r))
	t.printRune(r)
}

// printRune puts one character on the screen.
func (t *terminal) printRune(r rune) {
	w := t.widths.of(r)
	if (w == 0 || t.modes.Graphemes) && t.combineRune(r, w) {
		return
	}
	if w > 0 {
		t.placeRune(r, w)
	}
}

// placeRune puts a character of one or two columns into cells of its own.
func (t *terminal) placeRune(r rune, width int) {
	t.last = lastGraphic{r, true}
	if t.pending && t.modes.AutoWrap {
		t.wrapLine()
	}
	limit := t.rightLimit()
	if t.x+width > limit+1 && !t.makeRoom(width) {
		return
	}
	limit = t.rightLimit()
	row := t.cursorRow()
	if t.modes.Insert {
		t.insertCells(width)
	}
	if row.rich {
		row.splitAt(t.x)
		row.splitAt(t.x + width)
	}
	c := styled(t.currentPenID()) | cell(r)
	if width == 2 {
		row.cells[t.x+1] = styled(t.currentPenID()) | tailFlag
		c |= wideFlag
	}
	if r >= utf8.RuneSelf {
		row.rich = true
	}
	row.cells[t.x] = c
	t.placed++
	t.work += width
	t.advanceCursor(row, width, limit)
}

// makeRoom handles a wide character in the last column: it is never split, it wraps. Without
// wrap-around, or where not even a whole row has room, there is no place for it.
func (t *terminal) makeRoom(width int) bool {
	if !t.modes.AutoWrap || t.rightLimit()-t.returnColumn()+1 < width {
		return false
	}
	r := t.cursorRow()
	r.fillColumns(t.x, t.x+1, t.blank())
	t.touchRow(t.y)
	t.wrapLine()
	return true
}

// combineRune joins r to the character before the cursor, if it is a mark or, in mode 2027, belongs
// to its cluster.
func (t *terminal) combineRune(r rune, width int) bool {
	x, ok := t.previous()
	if !ok {
		return width == 0
	}
	row := t.cursorRow()
	c := row.cells[x]
	t.work++
	if c.isEmpty() {
		return width == 0
	}
	row.rich = true
	if width > 0 && isSimple(r) && isSimple(rune(c.code())) && !c.isCluster() {
		return false
	}
	graphemes := t.modes.Graphemes
	joined, known := t.clusters.recallJoin(c, r, graphemes)
	if !known {
		text := utf8.AppendRune(t.clusters.appendCell(t.scratch[:0], c), r)
		t.work += lookups + len(text)
		if len(text) > maxCluster && (!graphemes || isOneCluster(text)) {
			return true
		}
		if joined = 0; !graphemes || isOneCluster(text) {
			joined = t.clusters.internText(text)
		}
		t.clusters.rememberJoin(c, r, graphemes, joined)
	}
	if joined == 0 {
		return false
	}
	row.cells[x] = c&^(codeMask|clusterFlag) | joined
	t.touchRow(t.y)
	if graphemes {
		t.refitCluster(row, x, t.clusterColumns(t.lastRune(c), r, c.width(), width))
	}
	return true
}

// lastRune returns the last character of a cell with content.
func (t *terminal) lastRune(c cell) rune {
	if !c.isCluster() {
		return rune(c.code())
	}
	r, _ := utf8.DecodeLastRuneInString(t.clusters.texts[c.code()])
	return r
}

// refitCluster gives the cluster at column x, which the cursor has just left behind, as many
// columns as it needs now.
func (t *terminal) refitCluster(r *row, x, columns int) {
	c := &r.cells[x]
	switch {
	case columns == 2 && !c.isWide() && !t.pending && t.x <= t.rightLimit():
		r.splitAt(t.x + 1)
		*c |= wideFlag
		r.cells[t.x] = styled(c.styleID()) | tailFlag
		r.rich = true
		t.advanceCursor(r, 1, t.rightLimit())
	case columns == 1 && c.isWide():
		*c &^= wideFlag
		r.cells[x+1] = r.cells[x+1].withoutContent()
		t.x, t.pending = x+1, false
	}
}
