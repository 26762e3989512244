package screen

import "unicode/utf8"

// rect is an area of the screen, [top, bottom) x [left, right).
type rect struct{ top, left, bottom, right int }

// rectAt reads the four parameters from i on as an area, in the program's coordinates, cut to the
// screen (VT510: "Pt;Pl; Pb;Pr"). ok is false if it is empty.
func (t *terminal) rectAt(i int) (r rect, ok bool) {
	p := &t.parse.params
	top, left, height, width := 0, 0, t.rows, t.cols
	if t.modes.Origin {
		top, left = t.top, t.left
		height, width = t.bottom+1, t.right+1
	}
	r = rect{top + p.num(i) - 1, left + p.num(i+1) - 1, height, width}
	if b := p.at(i+2, 0); b > 0 {
		r.bottom = min(top+b, height)
	}
	if c := p.at(i+3, 0); c > 0 {
		r.right = min(left+c, width)
	}
	return r, r.top < r.bottom && r.left < r.right
}

// DECFRA fills an area with a character (VT510, CSI Pch;Pt;Pl;Pb;Pr $ x).
func (t *terminal) DECFRA() {
	c := t.parse.params.at(0, 0)
	r, ok := t.rectAt(1)
	if !ok || c < 0x20 || c == 0x7f || c > 0xff || c >= 0x80 && c < 0xa0 {
		return
	}
	t.fillRect(r, styled(t.currentPenID())|cell(t.charsets.translate(rune(c))))
}

// DECERA erases an area (VT510, CSI Pt;Pl;Pb;Pr $ z).
func (t *terminal) DECERA() {
	if r, ok := t.rectAt(0); ok {
		t.fillRect(r, t.blank())
	}
}

// DECSERA erases an area, but not protected cells (VT510, CSI Pt;Pl;Pb;Pr $ {).
func (t *terminal) DECSERA() {
	if r, ok := t.rectAt(0); ok {
		for y := r.top; y < r.bottom; y++ {
			t.eraseUnprotected(y, r.left, r.right)
		}
	}
}

func (t *terminal) fillRect(r rect, c cell) {
	for y := r.top; y < r.bottom; y++ {
		row := t.grid.rows[y]
		t.work++
		row.fillColumns(r.left, r.right, c)
		row.rich = row.rich || c.content() >= utf8.RuneSelf
		if r.right == t.cols {
			row.wrapped = false
		}
		t.touchRow(y)
	}
}

// DECCRA copies an area (VT510, CSI Pts;Pls;Pbs;Prs;Pps;Ptd;Pld;Ppd $ v) within the only page.
func (t *terminal) DECCRA() {
	p := &t.parse.params
	r, ok := t.rectAt(0)
	if !ok {
		return
	}
	top, left := p.num(5)-1, p.num(6)-1
	if t.modes.Origin {
		top, left = top+t.top, left+t.left
	}
	height := min(r.bottom-r.top, t.rows-top)
	width := min(r.right-r.left, t.cols-left)
	if height <= 0 || width <= 0 {
		return
	}
	for i := range height {
		k := i
		if top > r.top { // overlapping areas: from the far end
			k = height - 1 - i
		}
		to, from := top+k, r.top+k
		isOverwritten := from != to && from >= top && from < top+height
		if isOverwritten && width == t.cols {
			t.moveCells(to, from)
		} else {
			t.copyCells(to, left, from, r.left, width)
		}
	}
}

// moveCells gives all cells of a row to another. The first row gets cells that the caller
// overwrites: what copyCells does, at a cost that does not depend on the width.
func (t *terminal) moveCells(toY, fromY int) {
	to, from := t.grid.rows[toY], t.grid.rows[fromY]
	t.work++
	to.cells, from.cells = from.cells, to.cells
	to.used, from.used = from.used, to.used
	to.rest, from.rest = from.rest, to.rest
	to.late, from.late = from.late, to.late
	to.rich, from.rich = from.rich, to.rich
	if to.late || from.late {
		to.deferred, from.deferred = from.deferred, to.deferred
		to.part, from.part = from.part, to.part
	}
	to.wrapped = false
	t.touchRow(toY)
	t.touchRow(fromY)
}

// copyCells copies width cells of a row into another; the two may be the same.
func (t *terminal) copyCells(toY, toX, fromY, fromX, width int) {
	to, from := t.grid.at(toY), t.grid.at(fromY)
	from.splitAt(fromX)
	from.splitAt(fromX + width)
	to.splitAt(toX)
	to.splitAt(toX + width)
	t.work++
	if to != from || toX != fromX {
		copy(to.cells[toX:toX+width], from.cells[fromX:fromX+width])
		t.workOn(width)
	}
	to.used = max(to.used, toX+width)
	to.rich = to.rich || from.rich
	if toX+width == t.cols {
		to.wrapped = false
	}
	t.touchRow(toY)
	t.touchRow(fromY)
}

// DECSACE chooses what DECCARA and DECRARA change: a stream of positions or a rectangle (VT510, CSI
// Ps * x).
func (t *terminal) DECSACE() { t.private.rectExtent = t.parse.params.at(0, 0) == 2 }

// DECCARA changes attributes in an area (VT510, CSI Pt;Pl;Pb;Pr;Ps... $ r).
func (t *terminal) DECCARA() {
	if t.parse.params.count() > 4 {
		c := t.rendition(4)
		t.restyleArea(&c)
	} else {
		t.restyleArea(&noChange)
	}
}

// DECRARA reverses attributes in an area (VT510, CSI Pt;Pl;Pb;Pr;Ps... $ t).
func (t *terminal) DECRARA() {
	c := t.reversal(4)
	t.restyleArea(&c)
}

// restyleArea makes a change to the cells of the area at parameters 0 to 3. Without DECSACE 2 the
// area is the stream of positions from its first corner to its second.
func (t *terminal) restyleArea(c *change) {
	r, ok := t.rectAt(0)
	if !ok {
		return
	}
	for y := r.top; y < r.bottom; y++ {
		from, to := r.left, r.right
		if !t.private.rectExtent {
			if y > r.top {
				from = 0
			}
			if y < r.bottom-1 {
				to = t.cols
			}
		}
		t.work++
		t.grid.rows[y].restyleLater(from, to, c)
		t.touchRow(y)
	}
}
