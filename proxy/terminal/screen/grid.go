package screen

// row is one line of cells. Rows are moved by pointer and reused, never copied while scrolling.
type row struct {
	cells []cell
	// used is a bound: every cell at or after it is zero. It makes clearing, packing and printing
	// short rows cheap.
	used int
	// rest is the look of the cells at or after used, if it is not zero: erasing a row in colour or
	// filling it only notes it, and settle writes the cells when they are read. A program can ask
	// for a million cells with four bytes. It is one column wide.
	rest cell
	// late says that the cells are not up to date yet: rest or deferred is left to be applied.
	late bool
	// wrapped says that the text went on in the next row because it reached the right edge.
	wrapped bool
	// rich says that the row may hold characters outside ASCII: overwriting must look for the
	// halves of wide ones, and packing needs more than a byte.
	rich bool
	t    *terminal // whose row it is
	// pictures are those whose upper left corner is in the row.
	pictures []placed
	// deferred is the work left to be done with the row after rest: see deferred.go.
	deferred deferred
	part     *part // that it lays, or room for one
}

// reset makes every cell equal to blank.
func (r *row) reset(blank cell) {
	r.coverWith(blank)
	r.wrapped, r.rich, r.pictures = false, false, nil
}

// coverWith sets every cell to c. If c is the first half of a wide character it sets every two
// cells; a row of an odd length has no room for the last.
func (r *row) coverWith(c cell) {
	clear(r.cells[:r.used]) // not counted as work, since writing them was
	if r.late {
		r.deferred.kind = noneDeferred
	}
	r.used, r.rest, r.late = 0, c, c != 0
}

// settle writes what was left to be written. It comes before every look at the cells.
func (r *row) settle() *row {
	if r.late {
		r.finishLate()
	}
	return r
}

func (r *row) finishLate() {
	if r.rest != 0 {
		r.spreadRest()
	}
	if r.performDeferred(); r.rest != 0 { // it erased the whole row
		r.spreadRest()
	}
	r.late = false
}

func (r *row) spreadRest() {
	cells := r.cells[r.used:]
	fillCells(cells, r.rest)
	if r.rest.isWide() {
		tail := r.rest.withoutContent() | tailFlag
		for x := 1; x < len(cells); x += 2 {
			cells[x] = tail
		}
	}
	r.t.workOn(len(cells))
	r.used, r.rest = len(r.cells), 0
}

// fillColumns sets the cells in [from, to) to blank, which is one column wide.
func (r *row) fillColumns(from, to int, blank cell) {
	if from >= to {
		return
	}
	if from == 0 && to == len(r.cells) {
		r.coverWith(blank)
		return
	}
	r.settle()
	r.splitAt(from)
	r.splitAt(to)
	if blank == 0 { // not counted as work, as in coverWith
		if from < r.used {
			clear(r.cells[from:min(to, r.used)])
		}
		if to >= r.used {
			r.used = min(r.used, from)
		}
		return
	}
	fillCells(r.cells[from:to], blank)
	r.t.workOn(to - from)
	r.used = max(r.used, to)
}

func fillCells(cells []cell, c cell) {
	for i := range cells {
		cells[i] = c
	}
}

// splitAt makes the boundary before column x fall between characters: a wide character that crosses
// it is erased.
func (r *row) splitAt(x int) {
	if !r.rich || x <= 0 || x >= len(r.cells) || !r.cells[x].isTail() {
		return
	}
	r.cells[x-1] = r.cells[x-1].withoutContent()
	r.cells[x] = r.cells[x].withoutContent()
}

// textEnd returns the bound of the cells that are not blank with the default style.
func (r *row) textEnd() int {
	n := r.used
	for n > 0 && r.cells[n-1].isPlain() {
		n--
	}
	return n
}

// writtenEnd returns the bound of the cells that were written to, blanks among them.
func (r *row) writtenEnd() int {
	n := r.used
	for n > 0 && r.cells[n-1] == 0 {
		n--
	}
	return n
}

// grid is the visible rows of the main or the alternate screen.
//
// rows is a window into buf. Scrolling the whole screen by one row moves the window by one and puts
// the row that left at its end, so it costs the same for any height; when the window reaches the
// end of buf it is copied to the front.
type grid struct {
	rows []*row
	buf  []*row
	off  int
	// revs holds, for every visible position, the revision in which it last changed.
	revs []uint64
	// spare is room for rotate.
	spare []*row
	saved savedCursor
	kitty kittyStack
}

func (t *terminal) newGrid(cols, rows int) *grid {
	g := &grid{}
	t.workOn(cols * rows)
	list := make([]*row, rows)
	cells := make([]cell, rows*cols) // one allocation; rows keep their place in it when they move
	headers := make([]row, rows)
	for i := range list {
		headers[i].cells, headers[i].t = cells[i*cols:(i+1)*cols:(i+1)*cols], t
		list[i] = &headers[i]
	}
	g.setRows(list)
	return g
}

// setRows makes rows the content of the grid.
func (g *grid) setRows(rows []*row) {
	n := len(rows)
	g.buf = make([]*row, 3*n)
	g.off = 0
	g.rows = g.buf[:n:n]
	copy(g.rows, rows)
	g.revs = make([]uint64, n)
	g.spare = make([]*row, n)
}

// at returns the visible row y, ready to be looked at.
func (g *grid) at(y int) *row { return g.rows[y].settle() }

// moveUp moves the rows of [top, bottom] up by n; the n rows that left at the top stand at the
// bottom afterwards, with their old content. 0 < n <= bottom-top+1.
func (g *grid) moveUp(top, bottom, n int) {
	if top == 0 && bottom == len(g.rows)-1 {
		g.slideWindow(n)
		return
	}
	part := g.rows[top : bottom+1]
	if n == 1 {
		first := part[0]
		copy(part, part[1:])
		part[len(part)-1] = first
		return
	}
	copy(g.spare, part[:n])
	copy(part, part[n:])
	copy(part[len(part)-n:], g.spare[:n])
}

func (g *grid) slideWindow(n int) {
	size := len(g.rows)
	if g.off+size+n > len(g.buf) {
		copy(g.buf, g.rows)
		g.off = 0
	}
	if n == 1 {
		g.buf[g.off+size] = g.buf[g.off]
	} else {
		copy(g.buf[g.off+size:], g.buf[g.off:g.off+n])
	}
	g.off += n
	g.rows = g.buf[g.off : g.off+size : g.off+size]
}

// moveDown moves the rows of [top, bottom] down by n; the n rows that left at the bottom stand at
// the top afterwards.
func (g *grid) moveDown(top, bottom, n int) {
	part := g.rows[top : bottom+1]
	copy(g.spare, part[len(part)-n:])
	copy(part[n:], part)
	copy(part, g.spare[:n])
}
