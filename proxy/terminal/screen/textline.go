package screen

// textLine is the cursor's place in the line that the sink edits, where the rows of a wrapped line
// are one. The zero value is the row in which the line begins.
type textLine struct {
	cols int // columns of the line in the rows above the cursor's
	// returned: CR was reported, and no change of the row since.
	returned bool
}

// maxTextLine bounds textLine.cols: the sink cuts longer lines.
const maxTextLine = 2000

// wrapTextLine notes that the text goes on in the next row, before the cursor moves there. Between
// side margins it does not.
func (t *terminal) wrapTextLine(soft bool) {
	cols := t.line.columnOf(t.x, t.pending)
	if !soft || cols > maxTextLine {
		cols = 0
	}
	t.line = textLine{cols: cols}
}

// columnOf returns the column in the line of a cursor in column x of its row.
func (l textLine) columnOf(x int, pending bool) int {
	if pending {
		x++
	}
	return l.cols + x
}

// refitTextLine keeps the line over a resize. The cursor was in column col of it.
func (t *terminal) refitTextLine(col int) {
	returned := t.line.returned
	t.line = textLine{}
	if cols := col - t.line.columnOf(t.x, t.pending); cols > 0 && t.grid.isContinuation(t.y) {
		t.line = textLine{cols: cols, returned: returned}
	}
}

// isContinuation reports whether row y is the rest of the one before.
func (g *grid) isContinuation(y int) bool { return y > 0 && g.rows[y-1].wrapped }

// sinkReturn reports CR, before the cursor moves. For the sink it leads to the start of the line,
// until settleReturn knows better.
func (t *terminal) sinkReturn() {
	t.sink.Control('\r')
	if t.line.cols > 0 {
		t.line.returned = true
	}
}

// settleReturn moves the sink to the start of the row before output follows CR, if the row has at
// most one character: a line editor prints one, and returns, to make the terminal wrap. Output over
// a longer row replaces the whole line, as with a progress bar wider than the screen.
func (t *terminal) settleReturn() {
	switch {
	case !t.line.returned:
	case t.grid.isContinuation(t.y) && t.cursorRow().hasOnlyFirst():
		t.line.returned = false
		t.sink.Column(t.line.cols)
	default:
		t.line = textLine{}
	}
}

// hasOnlyFirst reports whether nothing stands in the row after its first character.
func (r *row) hasOnlyFirst() bool {
	for x := 1; x < r.used; x++ {
		r.t.work++
		if c := r.cells[x]; !c.isBlank() && (x > 1 || !c.isTail()) {
			return false
		}
	}
	return true
}

// sinkText reports a run of text before it changes the screen.
func (t *terminal) sinkText(run []byte) {
	if t.line.returned {
		t.settleReturn()
	}
	t.sink.Print(run)
}

// sinkMove reports that the cursor has moved from a row, or within it.
func (t *terminal) sinkMove(from int) {
	if t.y != from {
		t.sinkRow()
		return
	}
	t.line.returned = false
	t.sink.Column(t.line.cols + t.x)
}

// sinkRow reports that the cursor begins a line of its own.
func (t *terminal) sinkRow() {
	t.line = textLine{}
	t.sink.Row(t.x)
}

func (t *terminal) sinkClear() {
	t.line = textLine{}
	t.sink.Clear()
}

// sinkErase reports EL, or the part of ED in the cursor's row. cuts says that the row is not the
// rest of the one before any longer.
func (t *terminal) sinkErase(mode int, cuts bool) {
	switch cols := t.line.cols; {
	case cols > 0 && cuts && mode == 0:
		t.sink.Erase(0)
		t.sinkRow()
	case cols > 0 && cuts:
		t.line = textLine{}
		t.sink.Erase(mode)
	case cols > 0 && mode == 2:
		t.sink.Column(cols)
		t.sink.Erase(0)
		t.sink.Column(cols + t.x)
	default:
		t.sink.Erase(mode)
	}
}
