package screen

// A scroll between side margins moves a part of every row, and a byte may ask for one. So the parts
// are taken out of their rows, where they wait as deferred work, and change places: a row lays its
// part when its cells are needed. Where text is printed and scrolled in turns, only the rows with
// the text are copied.

// part is the content of some columns of a row. The row's own cells are zero there.
type part struct {
	cells []cell
	blank cell // the look of the columns after cells
	rich  bool // as the row was
}

// takePart makes the columns [from, to) the row's part. Content that is lost is not copied.
func (r *row) takePart(from, to int, lost bool) {
	r.settle()
	r.splitAt(from)
	r.splitAt(to)
	if r.part == nil {
		r.part = &part{}
	}
	cells := r.cells[from:max(from, min(r.used, to))]
	*r.part = part{cells: r.part.cells[:0], rich: r.rich}
	if !lost {
		r.part.cells = append(r.part.cells, cells...)
		r.t.workOn(len(cells))
	}
	clear(cells)
	if r.used <= to {
		r.used = min(r.used, from)
	}
	r.deferred, r.late = deferred{kind: lays, from: from, to: to}, true
}

// layPart puts the part into its columns.
func (r *row) layPart(from, to int) {
	p := r.part
	end := from + copy(r.cells[from:to], p.cells)
	if p.blank != 0 {
		fillCells(r.cells[end:to], p.blank)
		end = to
	}
	r.t.workOn(end - from)
	if end > from {
		r.used = max(r.used, end)
	}
	r.rich = r.rich || p.rich
}

// returnPart lays the part if it waits for that: every cell stands in its row then.
func (r *row) returnPart() {
	if r.deferred.kind == lays {
		r.performDeferred()
	}
}

// mayHoldText is false only for a row in which every cell is zero.
func (r *row) mayHoldText() bool {
	return r.used > 0 || r.late && (r.deferred.kind != lays || len(r.part.cells) > 0 || r.part.blank != 0)
}

// moveParts is scrollRows for the columns between the left and right margins. The rows' lines end
// with them.
func (t *terminal) moveParts(y, n int) {
	from, to, last := t.left, t.right+1, t.bottom-y
	rows, parts := t.grid.rows[y:t.bottom+1], t.parts[:0]
	for i, r := range rows {
		if d := &r.deferred; d.kind != lays || d.from != from || d.to != to {
			r.takePart(from, to, i < n || i > last+n)
		}
		r.wrapped = false
		parts = append(parts, r.part)
	}
	t.parts = parts
	t.work += len(rows)
	blank := t.blank()
	for i, p := range parts {
		target := i - n
		if target < 0 || target > last { // it leaves at one end, and comes in at the other
			target = (target + len(rows)) % len(rows)
			*p = part{cells: p.cells[:0], blank: blank}
		}
		rows[target].part = p
	}
}
