package screen

// scrollUp moves the rows between the margins up by n. Rows that leave the top of the main screen
// enter the history.
func (t *terminal) scrollUp(n int) {
	n = min(n, t.bottom-t.top+1)
	if t.top == 0 && t.grid == t.main && t.fullWidth() {
		if t.bottom < t.rows-1 { // rows below stay, and get other numbers
			t.disturbCommands(t.bottom + 1)
		}
		for _, r := range t.grid.rows[:n] {
			t.hist.pushRow(r, &t.styles, &t.clusters)
		}
	} else {
		t.disturbCommands(t.top)
	}
	t.scrollRows(t.top, n)
}

// scrollRows moves the rows from y to the bottom margin, between the left and right margins, up by
// n, or down where n is negative. Rows that come in are blank.
func (t *terminal) scrollRows(y, n int) {
	height := t.bottom - y + 1
	n = clamp(n, -height, height)
	if t.fullWidth() {
		t.moveRows(y, n)
	} else {
		t.moveParts(y, n)
	}
	t.touchRange(y, t.bottom)
}

// shiftRows is scroll where nothing leaves for the history: the row before y is not followed by
// what was row y.
func (t *terminal) shiftRows(y, n int) {
	t.disturbCommands(y)
	if t.fullWidth() {
		t.cutWrap(y - 1)
	}
	t.scrollRows(y, n)
}

// moveRows is scroll for whole rows.
func (t *terminal) moveRows(y, n int) {
	if y > 0 { // what left the screen for the history goes on in the first row
		t.cutWrap(y - 1)
	}
	fresh, last := y, t.bottom // the rows that come in, and the one that something else follows now
	if n > 0 {
		t.grid.moveUp(y, t.bottom, n)
		fresh, last = t.bottom-n+1, t.bottom-n
	} else {
		n = -n
		t.grid.moveDown(y, t.bottom, n)
	}
	t.work += n + (t.bottom-y)/8
	blank := t.blank()
	for _, r := range t.grid.rows[fresh : fresh+n] {
		r.reset(blank)
	}
	if last >= 0 {
		t.cutWrap(last)
	}
}

// cutWrap ends the line of row y there, because the row after it is no longer its continuation. The
// row before the first one of the main screen is the last one of the history.
func (t *terminal) cutWrap(y int) {
	switch {
	case y >= 0:
		t.grid.rows[y].wrapped = false
	case t.grid == t.main:
		t.hist.cutWrap()
	}
}

// SU scrolls up (ECMA-48 8.3.147).
func (t *terminal) SU() {
	n := t.parse.params.num(0)
	if t.scrollUp(n); n > t.bottom-t.top && t.top == 0 && t.fullWidth() {
		t.cutWrap(-1) // all rows have left
	}
}

// SD scrolls down (ECMA-48 8.3.113). With five parameters it starts highlight tracking, which is
// unsupported.
func (t *terminal) SD() {
	if t.parse.params.count() == 1 {
		t.shiftRows(t.top, -t.parse.params.num(0))
	}
}

// IL inserts rows at the cursor, inside the margins (ECMA-48 8.3.67).
func (t *terminal) IL() {
	if !t.inMargins() {
		return
	}
	t.shiftRows(t.y, -t.parse.params.num(0))
	t.toRowStart()
}

// DL deletes rows at the cursor, inside the margins (ECMA-48 8.3.32).
func (t *terminal) DL() {
	if !t.inMargins() {
		return
	}
	t.shiftRows(t.y, t.parse.params.num(0))
	t.toRowStart()
}

// toRowStart moves to the left margin, as IL and DL do on DEC's terminals.
func (t *terminal) toRowStart() {
	t.x, t.pending = t.left, false
	t.sinkRow()
}

// ICH inserts blanks at the cursor (ECMA-48 8.3.64).
func (t *terminal) ICH() {
	if t.x < t.left || t.x > t.right {
		return
	}
	n := min(t.parse.params.num(0), t.right-t.x+1)
	t.pending = false
	t.insertCells(n)
	t.cursorRow().fillColumns(t.x, t.x+n, t.blank())
	t.settleReturn()
	t.sink.InsertChars(n)
}

// insertCells moves the cells from the cursor to the right margin right by n. The first n keep
// their old content, which the caller replaces.
func (t *terminal) insertCells(n int) {
	if t.x > t.rightLimit() {
		return
	}
	r, end := t.cursorRow(), t.rightLimit()+1
	r.splitAt(t.x)
	r.splitAt(end)
	n = min(n, end-t.x)
	r.splitAt(end - n)
	copy(r.cells[t.x+n:end], r.cells[t.x:end-n])
	t.work += 1 + (end-t.x)/8
	r.used = max(r.used, min(r.used+n, end))
	fillCells(r.cells[t.x:t.x+n], r.cells[t.x].withoutContent())
	r.wrapped = false
	t.touchRow(t.y)
}

// DCH deletes cells at the cursor (ECMA-48 8.3.26).
func (t *terminal) DCH() {
	if t.x < t.left || t.x > t.right {
		return
	}
	n := min(t.parse.params.num(0), t.right-t.x+1)
	t.pending = false
	t.deleteCells(t.x, n)
	t.settleReturn()
	t.sink.DeleteChars(n)
}

// deleteCells removes n cells at column x of the cursor's row; those up to the right margin move
// left.
func (t *terminal) deleteCells(x, n int) {
	r, end := t.cursorRow(), t.right+1
	r.splitAt(x)
	r.splitAt(x + n)
	r.splitAt(end)
	copy(r.cells[x:end-n], r.cells[x+n:end])
	t.work += 1 + (end-x)/8
	blank := t.blank()
	fillCells(r.cells[end-n:end], blank)
	if blank != 0 {
		r.used = max(r.used, end)
	}
	r.wrapped = false
	t.touchRow(t.y)
}

// SL moves everything between the margins left (ECMA-48 8.3.121).
func (t *terminal) SL() { t.moveColumns(t.left, t.parse.params.num(0), false) }

// SR moves everything between the margins right (ECMA-48 8.3.135).
func (t *terminal) SR() { t.moveColumns(t.left, t.parse.params.num(0), true) }

// DECIC inserts columns at the cursor (VT510).
func (t *terminal) DECIC() { t.moveColumns(t.x, t.parse.params.num(0), true) }

// DECDC deletes columns at the cursor (VT510).
func (t *terminal) DECDC() { t.moveColumns(t.x, t.parse.params.num(0), false) }

// DECBI moves left, or everything right at the left margin (VT510).
func (t *terminal) DECBI() {
	if t.x == t.left {
		t.moveColumns(t.left, 1, true)
	} else {
		t.moveTo(t.y, max(t.x-1, 0))
	}
}

// DECFI moves right, or everything left at the right margin (VT510).
func (t *terminal) DECFI() {
	if t.x == t.right {
		t.moveColumns(t.left, 1, false)
	} else {
		t.moveTo(t.y, min(t.x+1, t.cols-1))
	}
}

// moveColumns inserts or deletes n columns at column x in all rows between the margins.
func (t *terminal) moveColumns(x, n int, insert bool) {
	if !t.inMargins() {
		return
	}
	n = min(n, t.right-x+1)
	if !insert {
		n = -n
	}
	blank := t.blank()
	for y := t.top; y <= t.bottom; y++ {
		r := t.grid.rows[y]
		t.work++
		r.moveLater(x, t.right+1, n, blank)
		r.wrapped = false
		t.touchRow(y)
	}
}
