package screen

// executeControl performs a C0 control.
func (t *terminal) executeControl(c byte) {
	t.last.valid = false
	switch c {
	case 0x07:
		t.bells++
	case 0x08:
		t.sink.Control(c)
		t.backspace()
	case 0x09:
		if t.line.cols > 0 {
			t.HT()
			t.sinkMove(t.y)
			break
		}
		t.sink.Control(c)
		t.HT()
	case 0x0a, 0x0b, 0x0c:
		t.LF()
	case 0x0d:
		t.sinkReturn()
		t.CR()
	case 0x0e:
		t.shiftSet(1)
	case 0x0f:
		t.shiftSet(0)
	}
}

// LF moves down a row, scrolling at the bottom margin (and to the left, in LNM). VT and FF do the
// same.
func (t *terminal) LF() {
	t.IND()
	if t.modes.NewLine {
		t.sinkReturn()
		t.CR()
	}
}

// CR moves to the left margin.
func (t *terminal) CR() {
	t.x = t.returnColumn()
	t.pending = false
}

// IND moves down a row, scrolling at the bottom margin.
func (t *terminal) IND() {
	t.line = textLine{}
	t.sink.Control('\n')
	t.pending = false
	t.moveIndex()
}

// NEL moves to the beginning of the next row (ECMA-48 8.3.86).
func (t *terminal) NEL() {
	t.IND()
	t.sinkReturn()
	t.CR()
}

// moveIndex is IND without its report: down, scrolling at the bottom margin if the cursor is inside
// the others.
func (t *terminal) moveIndex() {
	switch {
	case t.y == t.bottom:
		if t.x >= t.left && t.x <= t.right {
			t.scrollUp(1)
		}
	case t.y < t.rows-1:
		t.y++
	}
}

// RI moves up a row, scrolling at the top margin (ECMA-48 8.3.104).
func (t *terminal) RI() {
	t.pending = false
	switch {
	case t.y == t.top:
		if t.x >= t.left && t.x <= t.right {
			t.shiftRows(t.top, -1)
		}
	case t.y > 0:
		t.y--
	}
	t.sinkRow()
}

// moveTo puts the cursor at a place of the screen; what lies outside is clamped.
func (t *terminal) moveTo(y, x int) {
	x, y = clamp(x, 0, t.cols-1), clamp(y, 0, t.rows-1)
	from := t.y
	t.x, t.y, t.pending = x, y, false
	t.sinkMove(from)
}

// moveHome is CUP without parameters.
func (t *terminal) moveHome() { t.moveOrigin(0, 0) }

// moveOrigin is moveTo in the coordinates of the program: relative to the margins, and inside them,
// in DECOM.
func (t *terminal) moveOrigin(y, x int) {
	if t.modes.Origin {
		y = clamp(y+t.top, t.top, t.bottom)
		x = clamp(x+t.left, t.left, t.right)
	}
	t.moveTo(y, x)
}

// originRow and originCol are the cursor's place in the coordinates of the program.
func (t *terminal) originRow() int {
	if t.modes.Origin {
		return t.y - t.top
	}
	return t.y
}

func (t *terminal) originCol() int {
	if t.modes.Origin {
		return t.x - t.left
	}
	return t.x
}

// CUU moves up, to the top margin at most if it starts below it (ECMA-48 8.3.22).
func (t *terminal) CUU() { t.moveUp(t.parse.params.num(0)) }

// CUD moves down, to the bottom margin at most if it starts above it (ECMA-48 8.3.19).
func (t *terminal) CUD() { t.moveDown(t.parse.params.num(0)) }

// CUF moves right, to the right margin at most (ECMA-48 8.3.20).
func (t *terminal) CUF() { t.moveTo(t.y, min(t.x+t.parse.params.num(0), t.rightLimit())) }

// CUB moves left, to the left margin at most; in reverse-wrap mode it goes on in the row above
// (ECMA-48 8.3.18).
func (t *terminal) CUB() {
	if t.modes.ReverseWrap && t.modes.AutoWrap {
		t.backWrap(t.parse.params.num(0))
		return
	}
	t.moveTo(t.y, t.leftOf(t.parse.params.num(0)))
}

// CNL moves down to the beginning of a row (ECMA-48 8.3.12).
func (t *terminal) CNL() {
	t.x = t.returnColumn()
	t.CUD()
}

// CPL moves up to the beginning of a row (ECMA-48 8.3.13).
func (t *terminal) CPL() {
	t.x = t.returnColumn()
	t.CUU()
}

func (t *terminal) moveUp(n int) {
	limit := 0
	if t.y >= t.top {
		limit = t.top
	}
	t.moveTo(max(t.y-n, limit), t.x)
}

func (t *terminal) moveDown(n int) {
	limit := t.rows - 1
	if t.y <= t.bottom {
		limit = t.bottom
	}
	t.moveTo(min(t.y+n, limit), t.x)
}

// leftOf returns the column n left of the cursor, stopped by the left margin.
func (t *terminal) leftOf(n int) int { return max(t.x-n, t.leftStop(t.x)) }

func (t *terminal) backspace() {
	if t.modes.ReverseWrap && t.modes.AutoWrap {
		t.backWrap(1)
		return
	}
	t.x = t.leftOf(1)
	t.pending = false
}

// backWrap moves left by n columns and from the left margin on to the right margin of the row above
// (ctlseqs, DECSET 45); from the top it goes to the bottom. A pending wrap counts as a column.
func (t *terminal) backWrap(n int) {
	if t.pending {
		n--
	}
	x, y := t.x, t.y
	for n = min(n, t.cols*t.rows); n > 0; {
		t.work++
		if d := min(n, x-t.leftStop(x)); d > 0 {
			x -= d
			n -= d
			continue
		}
		x = t.right
		n--
		if y == t.top {
			y = t.bottom
		} else if y > 0 {
			y--
		} else {
			y = t.rows - 1
		}
	}
	t.moveTo(y, x)
}

// leftStop returns the column that stops a move to the left: the left margin, or the edge.
func (t *terminal) leftStop(x int) int {
	if x >= t.left {
		return t.left
	}
	return 0
}

// CUP moves to a row and column (ECMA-48 8.3.21). HVP is the same.
func (t *terminal) CUP() { t.moveOrigin(t.parse.params.num(0)-1, t.parse.params.num(1)-1) }

// CHA moves to a column (ECMA-48 8.3.9). HPA is the same.
func (t *terminal) CHA() { t.moveOrigin(t.originRow(), t.parse.params.num(0)-1) }

// HPR moves right (ECMA-48 8.3.59).
func (t *terminal) HPR() { t.moveOrigin(t.originRow(), t.originCol()+t.parse.params.num(0)) }

// VPA moves to a row (ECMA-48 8.3.158).
func (t *terminal) VPA() { t.moveOrigin(t.parse.params.num(0)-1, t.originCol()) }

// HPB moves left (ECMA-48 8.3.58). It is no CUB: it does not go on in the row above, nor stop at a
// margin.
func (t *terminal) HPB() { t.moveOrigin(t.originRow(), t.originCol()-t.parse.params.num(0)) }

// VPR moves down (ECMA-48 8.3.160).
func (t *terminal) VPR() { t.moveOrigin(t.originRow()+t.parse.params.num(0), t.originCol()) }

// DECSLRM sets the left and right margins, in DECLRMM (VT510). Without that mode the same bytes are
// SCOSC.
func (t *terminal) DECSLRM() {
	if !t.modes.LeftRight {
		t.DECSC()
		return
	}
	t.setMargins(&t.left, &t.right, t.cols)
	t.sided = !t.fullWidth()
}

// DECSTBM sets the top and bottom margins (VT510).
func (t *terminal) DECSTBM() { t.setMargins(&t.top, &t.bottom, t.rows) }

// setMargins reads two margins on a screen of a size. Those that leave no room to scroll are
// ignored.
func (t *terminal) setMargins(first, last *int, size int) {
	from, to := t.parse.params.num(0)-1, t.parse.params.at(1, 0)
	if to == 0 || to > size {
		to = size
	}
	if from < to-1 {
		*first, *last = from, to-1
		t.moveHome()
	}
}

// savedCursor is what DECSC saves; each screen has its own.
type savedCursor struct {
	valid    bool
	x, y     int
	pending  bool
	origin   bool
	pen      style
	charsets charsets
}

// DECSC saves the cursor with what comes with it (VT510, ESC 7).
func (t *terminal) DECSC() {
	t.grid.saved = savedCursor{
		valid: true, x: t.x, y: t.y, pending: t.pending,
		origin: t.modes.Origin, pen: t.pen, charsets: t.charsets,
	}
}

// DECRC restores what DECSC saved (VT510, ESC 8); the home position and defaults if nothing was
// saved. A wrap that was pending is over: the terminals in use agree on that.
func (t *terminal) DECRC() {
	c := t.grid.saved
	t.modes.Origin = c.origin
	t.setPen(c.pen)
	t.charsets = c.charsets
	t.updatePlain()
	y, x := c.y, c.x
	if c.origin {
		y, x = clamp(y, t.top, t.bottom), clamp(x, t.left, t.right)
	}
	t.moveTo(y, x)
}

// tabStops are the columns with a tab stop. They reach over the largest screen, so that resizing
// keeps them.
type tabStops struct{ at [MaxCols]bool }

var defaultTabs = func() (s tabStops) {
	for x := 8; x < len(s.at); x += 8 {
		s.at[x] = true
	}
	return s
}()

func (s *tabStops) reset() { *s = defaultTabs }

// HT moves to the next tab stop, to the right margin at most.
func (t *terminal) HT() {
	if x := t.tabColumn(1, 1, t.rightLimit()); x != t.x {
		t.x, t.pending = x, false
	}
}

// tabColumn returns the column n tab stops on, in steps of 1 or -1, and no further than limit.
func (t *terminal) tabColumn(n, step, limit int) int {
	x := t.x
	for ; n > 0 && (limit-x)*step > 0; n-- {
		x += step
		for x != limit && !t.tabs.at[x] {
			x += step
		}
	}
	t.work += (x - t.x) * step
	return x
}

// CHT moves n tab stops right (ECMA-48 8.3.10).
func (t *terminal) CHT() {
	if x := t.tabColumn(t.parse.params.num(0), 1, t.rightLimit()); x != t.x {
		t.moveTo(t.y, x)
	}
}

// CBT moves n tab stops left (ECMA-48 8.3.7).
func (t *terminal) CBT() {
	limit := 0
	if t.modes.Origin {
		limit = t.left
	}
	t.moveTo(t.y, t.tabColumn(t.parse.params.num(0), -1, limit))
}

// HTS sets a tab stop at the cursor (ECMA-48 8.3.62).
func (t *terminal) HTS() { t.tabs.at[t.x] = true }

// TBC clears the tab stop at the cursor, or all (ECMA-48 8.3.154).
func (t *terminal) TBC() {
	switch t.parse.params.at(0, 0) {
	case 0:
		t.tabs.at[t.x] = false
	case 3:
		t.tabs = tabStops{}
	}
}

// DECST8C sets a tab stop every eight columns (VT510, CSI ? 5 W).
func (t *terminal) DECST8C() {
	if t.parse.params.at(0, 0) == 5 {
		t.tabs.reset()
	}
}

// rightLimit returns the last column that text may reach from the cursor.
func (t *terminal) rightLimit() int {
	if t.x > t.right {
		return t.cols - 1
	}
	return t.right
}

// returnColumn returns the column of CR: the left margin, unless the cursor is left of it.
func (t *terminal) returnColumn() int { return t.leftStop(t.x) }
