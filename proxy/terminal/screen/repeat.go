package screen

import "unicode/utf8"

// REP repeats the character before it (ECMA-48 8.3.103), at most as often as the screen has room
// for it.
func (t *terminal) REP() {
	if !t.last.valid {
		return
	}
	n := min(t.parse.params.num(0), t.cols*t.rows/max(t.widths.of(t.last.r), 1))
	t.sinkRepeated(t.last.r, n)
	t.repeatRune(t.last.r, n)
	t.last.valid = false
}

// sinkRepeated tells the sink of n times r.
func (t *terminal) sinkRepeated(r rune, n int) {
	if t.sink == (noSink{}) {
		return
	}
	var text [256]byte
	size := len(utf8.AppendRune(text[:0], r))
	most := min(n, len(text)/size)
	for done := size; done < most*size; done *= 2 {
		copy(text[done:most*size], text[:done])
	}
	for ; n > 0; n -= most {
		t.sinkText(text[:min(n, most)*size])
	}
}

// repetition holds the effect of printing a character again and again.
type repetition struct {
	r       rune
	cell    cell // without a style
	each    int  // how many r make one
	squeeze bool // the column left over at a row's end takes a cell all the same
}

// repeatRune prints n times r: a few bytes may ask for thousands. Those at the end of a row are
// printed one by one, the cells before it are filled, and whole rows are covered.
func (t *terminal) repeatRune(r rune, n int) {
	p, ok := t.repetitionOf(r)
	for scrolled := false; n > 0; {
		if t.pending && !t.modes.AutoWrap {
			// One takes the place of the other, or joins it. The result after a few is the result
			// after any number, but for two that take turns.
			n = min(n, maxCluster+n%2)
		}
		took := 0
		if ok {
			if !scrolled {
				scrolled = true
				n -= t.scrollAhead(&p, n)
			}
			if took = t.coverRow(&p, n); took == 0 {
				took = t.fillRow(&p, n)
			}
		}
		if took == 0 {
			if took = 1; !t.repeatOnce(r) {
				return
			}
			p, ok = t.repetitionOf(r)
		}
		n -= took
	}
}

// repetitionOf returns the character before the cursor if it consists of r alone, and another r
// begins another cell.
func (t *terminal) repetitionOf(r rune) (p repetition, ok bool) {
	x, ok := t.previous()
	if !ok {
		return p, false
	}
	c := t.cursorRow().cells[x].content()
	switch p = (repetition{r: r, cell: c, each: 1}); {
	case c&^wideFlag == cell(r):
		return p, !t.modes.Graphemes || isSimple(r) ||
			!isOneCluster(utf8.AppendRune(utf8.AppendRune(t.scratch[:0], r), r))
	case r >= 0x1f1e6 && r <= 0x1f1ff && c.isCluster(): // two regional indicators are a flag
		p.each, p.squeeze, p.cell = 2, t.widths.of(r) == 1, c|wideFlag
		return p, t.modes.Graphemes && t.clusters.texts[c.code()] == string([]rune{r, r})
	}
	return p, false
}

// repeatOnce prints r once more, and reports whether that changed anything: there may be no room
// for it, or too many have joined one cluster.
func (t *terminal) repeatOnce(r rune) bool {
	placed, before := t.placed, t.beforeCursor()
	t.printRune(r)
	return t.placed != placed || t.beforeCursor() != before
}

func (t *terminal) beforeCursor() cell {
	x, ok := t.previous()
	if !ok {
		return 0
	}
	return t.cursorRow().cells[x]
}

// inRow returns how many r fit into a number of columns.
func (p *repetition) inRow(columns int) int {
	cells := columns / p.cell.width()
	if p.squeeze {
		cells += columns % p.cell.width()
	}
	return cells * p.each
}

// scrollAhead scrolls as far between the side margins as n more r will, so that the rows are moved
// once, and returns how many of the r would leave the screen thereby.
func (t *terminal) scrollAhead(p *repetition, n int) (gone int) {
	perRow, room := p.inRow(t.right-t.left+1), 0
	if !t.pending {
		room = p.inRow(t.right + 1 - t.x)
	}
	if t.fullWidth() || !t.inMargins() || !t.modes.AutoWrap || perRow == 0 || n <= room {
		return 0
	}
	by := (n-room-1)/perRow + 1 - (t.bottom - t.y)
	if by <= 0 {
		return 0
	}
	t.scrollUp(by)
	if t.y -= by; t.y < t.top {
		gone = room + (t.top-t.y-1)*perRow
		t.x, t.y, t.pending = t.left, t.top, false
	}
	return gone
}

// coverRow makes r the whole of a row if n are enough, and returns how many it took: the cursor's
// row if it stands in the first column, or the next one if a wrap is pending.
func (t *terminal) coverRow(p *repetition, n int) (took int) {
	width := p.cell.width()
	if took = t.cols / width; p.each != 1 || !t.pending || n < took || t.cols%width != 0 ||
		t.cols == 1 || !t.fullWidth() || !t.modes.AutoWrap {
		return 0
	}
	t.wrapLine()
	line := t.grid.rows[t.y]
	line.coverWith(styled(t.currentPenID()) | p.cell)
	line.rich, line.wrapped = p.r >= utf8.RuneSelf, false
	t.work++
	t.touchRow(t.y)
	t.x, t.pending = t.cols-1, true
	return took
}

// fillRow fills cells of the cursor's row short of the last column, and returns how many r it took.
func (t *terminal) fillRow(p *repetition, n int) (took int) {
	width := p.cell.width()
	cells := min(n/p.each, (t.rightLimit()-t.x)/width)
	if t.pending || cells < 1 {
		return 0
	}
	row, from, to := t.cursorRow(), t.x, t.x+cells*width
	if t.modes.Insert {
		t.insertCells(to - from)
	}
	row.splitAt(from)
	row.splitAt(to)
	row.rich = row.rich || p.cell >= utf8.RuneSelf
	fillCells(row.cells[from:to], styled(t.currentPenID())|p.cell)
	for x := from + 1; width == 2 && x < to; x += 2 {
		row.cells[x] = styled(t.currentPenID()) | tailFlag
	}
	t.workOn(to - from)
	t.advanceCursor(row, to-from, t.rightLimit())
	return cells * p.each
}
