package screen

import (
	"slices"
	"sort"
	"unicode/utf8"
)

// Resize gives the screen another size. Lines of the main screen and of the history are wrapped
// again; the alternate screen is cut or padded, because its program repaints it. Sizes outside the
// limits are clamped.
func (s *Screen) Resize(cols, rows int) {
	cols, rows = clamp(cols, minSize, MaxCols), clamp(rows, minSize, MaxRows)
	t := &s.t
	if cols == t.cols && rows == t.rows {
		return
	}
	t.tick = s.rev + 1
	t.resize(cols, rows)
	s.commit()
}

func (t *terminal) resize(cols, rows int) {
	t.flushDirty()
	onAlt := t.onAlt()
	textColumn := t.line.columnOf(t.x, t.pending)
	if onAlt { // the main screen's cursor is the one that was saved when it was left
		saved := t.main.saved
		x, y := t.reflow(cols, rows, min(saved.x, t.cols-1), min(saved.y, t.rows-1), saved.pending)
		t.main.saved.x, t.main.saved.y, t.main.saved.pending = min(x, cols-1), y, x == cols
	} else {
		x, y := t.reflow(cols, rows, t.x, t.y, t.pending)
		t.x, t.y, t.pending = min(x, cols-1), y, x == cols
		t.main.saved.clampTo(cols, rows)
	}
	if t.alt != nil {
		t.cropAlt(cols, rows, onAlt)
		t.alt.saved.clampTo(cols, rows)
	}
	t.cols, t.rows = cols, rows
	t.x, t.y = min(t.x, cols-1), min(t.y, rows-1)
	t.pending = t.pending && t.x == cols-1
	t.resetMargins()
	t.dirtyTop, t.dirtyBottom = maxSize, -1
	t.touchAll()
	t.refitTextLine(textColumn)
}

func (c *savedCursor) clampTo(cols, rows int) {
	c.pending = c.pending && c.x < cols
	c.x, c.y = min(c.x, cols-1), min(c.y, rows-1)
}

// cropAlt cuts or pads the alternate screen. Rows are cut at the bottom, but never the cursor's.
func (t *terminal) cropAlt(cols, rows int, active bool) {
	old := t.alt.rows
	skip := 0
	if active && t.y >= rows {
		skip = t.y - rows + 1
		t.y -= skip
	}
	kept := old[skip:min(len(old), skip+rows)]
	list := make([]*row, 0, rows)
	for _, r := range kept {
		list = append(list, r.croppedTo(cols))
	}
	for len(list) < rows {
		list = append(list, t.newRow(cols))
	}
	t.alt.setRows(list)
}

func (t *terminal) newRow(cols int) *row { return &row{cells: make([]cell, cols), t: t} }

// croppedTo returns the row in another width.
func (r *row) croppedTo(cols int) *row {
	n := r.t.newRow(cols)
	r.settle()
	if cols < len(r.cells) {
		r.splitAt(cols)
	}
	copy(n.cells, r.cells[:min(r.used, cols)])
	n.used, n.rich, n.pictures = min(r.used, cols), r.rich, r.pictures
	return n
}

// reflower wraps lines again, row by row: the newest rows fill the screen, those before them a new
// history.
type reflower struct {
	t     *terminal
	cols  int
	line  []cell
	out   []*row // the rows after those that went to the history
	spare []*row // for the next ones
	hist  *history
	base  uint64 // of the history before

	anchors []*anchor // not met yet, the first one first
	open    []*anchor // on the line being read
}

// anchor is a place that follows its text: at column x of row y, of the history and the screen,
// before and then after.
type anchor struct {
	x, y   int
	offset int // in the line being read
}

// rowCount counts the rows so far, including those in the history.
func (f *reflower) rowCount() int {
	return int(f.hist.base-f.base) + f.hist.length + len(f.out) //nolint:gosec // not negative
}

// reflow wraps the history and the main screen for another size and returns the place of the
// cursor, which stood at (x, y). A column equal to cols means that a wrap is pending.
func (t *terminal) reflow(cols, rows, x, y int, pending bool) (newX, newY int) {
	f := &reflower{
		t:    t,
		cols: cols,
		hist: &history{limit: t.hist.limit, base: t.hist.base},
		base: t.hist.base,
	}
	if pending {
		x++
	}
	cursor, first := &anchor{x: x, y: t.hist.length + y}, &anchor{y: t.hist.length}
	renumber := f.followAnchors(t, cursor, first)
	for i := f.older(t, rows); i < t.hist.length; i++ {
		f.meet(i)
		p := t.hist.at(i)
		f.line = p.appendCells(f.line, &t.styles, &t.clusters)
		if !p.wrapped {
			f.flush()
		}
	}
	last := t.lastRow(y)
	for i, r := range t.main.rows[:last+1] {
		f.meet(t.hist.length + i)
		n := r.settle().writtenEnd()
		if r.wrapped {
			n = r.used
		}
		f.line = append(f.line, r.cells[:n]...)
		if !r.wrapped {
			f.flush()
		}
	}
	if t.main.rows[last].wrapped {
		f.flush()
	}
	renumber()
	return f.finish(t, rows, len(t.main.rows)-1-last, cursor, first)
}

// followAnchors has the cursor, the screen's first row and the places of commands follow their
// text. renumber gives those their new numbers; places without a row any longer stay as they are.
func (f *reflower) followAnchors(t *terminal, cursor, first *anchor) (renumber func()) {
	oldest, places := t.hist.base+t.renumbered, make(map[*Place]*anchor)
	f.anchors = []*anchor{cursor, first}
	t.eachPlace(func(p *Place) {
		if p.Line >= oldest {
			a := &anchor{x: p.Col, y: int(p.Line - oldest)} //nolint:gosec // a row that is kept
			places[p], f.anchors = a, append(f.anchors, a)
		}
	})
	sort.SliceStable(f.anchors, func(i, k int) bool { return f.anchors[i].y < f.anchors[k].y })
	if f.cols != t.cols { // other rows, and those of the screen had numbers already
		t.renumbered += uint64(t.hist.length + t.rows)
	}
	oldest = t.hist.base + t.renumbered
	return func() {
		for _, a := range f.anchors { // below all rows
			a.x, a.y = 0, f.rowCount()
		}
		for p, a := range places {
			p.Line, p.Col = oldest+uint64(a.y), a.x //nolint:gosec // not negative
		}
	}
}

// meet opens the anchors of row i, the cells of which come next.
func (f *reflower) meet(i int) {
	for len(f.anchors) > 0 && f.anchors[0].y == i {
		a := f.anchors[0]
		a.offset = len(f.line) + a.x
		f.open, f.anchors = append(f.open, a), f.anchors[1:]
	}
}

// older wraps the part of the history that cannot come back to a screen of rows rows, since as many
// lines follow it, and returns its length. Most lines fit into the width, and stay as they are
// packed.
func (f *reflower) older(t *terminal, rows int) int {
	n := t.hist.length
	for lines := 0; n > 0 && lines < rows; {
		n--
		if n == 0 || !t.hist.at(n-1).wrapped {
			lines++
		}
	}
	for i := range n {
		f.meet(i)
		p := t.hist.at(i)
		if len(f.line) == 0 && !p.wrapped && max(len(p.ascii), len(p.words)) <= f.cols {
			f.place(0, 0, false)
			f.hist.keepPacked(p)
			continue
		}
		f.line = p.appendCells(f.line, &t.styles, &t.clusters)
		if p.wrapped {
			continue
		}
		f.flush()
		for _, r := range f.out {
			f.hist.pushRow(r, &t.styles, &t.clusters)
		}
		f.spare, f.out = append(f.spare, f.out...), f.out[:0]
	}
	return n
}

// lastRow returns the last row of the main screen that matters: the cursor's, or a later one with
// content.
func (t *terminal) lastRow(y int) int {
	for i := len(t.main.rows) - 1; i > y; i-- {
		if t.main.at(i).textEnd() > 0 {
			return i
		}
	}
	return y
}

// flush wraps the line that was read.
func (f *reflower) flush() {
	line := f.line
	f.line = f.line[:0]
	for start := 0; ; {
		end := f.cut(line, start)
		r := f.row()
		n := copy(r.cells, line[start:end])
		if end < len(line) && line[end].isTail() { // one column has no room for it
			r.cells[n-1] = r.cells[n-1].withoutContent()
			end++
		}
		r.used = n
		for _, c := range r.cells[:n] {
			r.rich = r.rich || c.content() >= utf8.RuneSelf
		}
		more := end < len(line)
		r.wrapped = more
		f.place(start, end, more)
		f.out = append(f.out, r)
		start = end
		if !more {
			break
		}
	}
}

func (f *reflower) row() *row {
	n := len(f.spare)
	if n == 0 {
		return f.t.newRow(f.cols)
	}
	r := f.spare[n-1]
	f.spare = f.spare[:n-1]
	r.reset(0)
	return r
}

// cut returns where the row that begins at start ends: after cols cells, or before a wide character
// that would be split.
func (f *reflower) cut(line []cell, start int) int {
	end := min(start+f.cols, len(line))
	if end < len(line) && line[end].isTail() && end-start > 1 {
		end--
	}
	return end
}

// place notes the anchors on the row that comes next, which has the line's cells from start to end.
// Beyond its line the cursor may stand in the middle of nowhere; it stays on the line's last row.
func (f *reflower) place(start, end int, more bool) {
	f.open = slices.DeleteFunc(f.open, func(a *anchor) bool {
		here := a.offset < end || !more
		if here {
			a.x, a.y = min(a.offset-start, f.cols), f.rowCount()
		}
		return here
	})
}

// finish divides the rows between history and screen. The screen shows the newest rows, and the
// cursor. Blank rows below the text make room for it, and stay if the screen has room: a cleared
// part is not filled from the history.
func (f *reflower) finish(t *terminal, rows, blank int, cursor, first *anchor) (x, y int) {
	n, before := len(f.out), f.rowCount()-len(f.out)
	y = cursor.y - before
	top := max(n-rows, min(first.y-before, n+blank-rows), 0)
	top = min(top, y)
	for _, r := range f.out[:top] {
		f.hist.pushRow(r, &t.styles, &t.clusters)
	}
	list := make([]*row, 0, rows)
	list = append(list, f.out[top:min(len(f.out), top+rows)]...)
	for len(list) < rows {
		list = append(list, t.newRow(f.cols))
	}
	t.hist = *f.hist
	t.main.setRows(list)
	return cursor.x, y - top
}

// ShiftRows moves the rows of the main screen so that the cursor, even if the program has moved it
// since, stands by rows lower (higher if negative) than it did. Terminals differ in which rows they
// show after a resize; a caller that asked the real one for its cursor tells the model so. Rows
// that leave at the top go to the history, and come in there from it. On the alternate screen,
// which terminals do not move, it does nothing.
func (s *Screen) ShiftRows(by int) {
	t := &s.t
	if t.onAlt() || by == 0 {
		return
	}
	by = clamp(by, -t.y, t.rows-1-t.y)
	t.tick = s.rev + 1
	top, bottom := t.top, t.bottom
	t.top, t.bottom = 0, t.rows-1
	for _, r := range t.grid.rows[:max(-by, 0)] {
		t.hist.pushRow(r, &t.styles, &t.clusters)
	}
	t.moveRows(0, -by)
	t.touchRange(0, t.bottom)
	t.top, t.bottom = top, bottom
	t.y += by
	if blank := t.takeBack(by); blank > 0 {
		t.eachPlace(func(p *Place) {
			if p.Line >= t.rowNumber(0) {
				p.Line += uint64(blank) //nolint:gosec // not negative
			}
		})
	}
	s.commit()
}

// takeBack fills the first n rows of the screen, all blank, from the history, and returns how many
// are left blank.
func (t *terminal) takeBack(n int) (blank int) {
	for ; n > 0; n-- {
		p, ok := t.hist.takeLast()
		if !ok {
			return n
		}
		r := t.newRow(t.cols)
		r.used = copy(r.cells, p.appendCells(nil, &t.styles, &t.clusters))
		r.rich, r.wrapped = len(p.words) > 0, p.wrapped
		t.grid.rows[n-1] = r
	}
	return 0
}
