package screen

// A program can ask for a change of every cell with four bytes, as often as it likes. So an
// operation on whole rows is only noted in each row, and [row.settle] performs it when the cells
// are needed. A row has room for one: the next one joins it where both together are one operation
// again, or is dropped where it changes nothing; otherwise the first is performed. How a row looks
// in the end does not depend on when that happens.

// deferred is the operation that a row has yet to perform, after its rest was spread.
type deferred struct {
	kind     deferredKind
	from, to int // the columns that it concerns, [from, to)

	change change // restyles
	blank  cell   // erases, moves: what comes in

	// moves: n cells from column source on go to column target. All others in [from, to) become
	// blank.
	source, target, n int
	used              int // of the row then
}

type deferredKind uint8

const (
	noneDeferred deferredKind = iota
	restyles
	erases // the unprotected cells
	moves
	lays // the part that is apart: see part.go
)

// restyleLater changes the styles of the columns [from, to).
func (r *row) restyleLater(from, to int, c *change) {
	if d := &r.deferred; d.kind == restyles && d.from == from && d.to == to {
		d.change = d.change.then(c)
		return
	}
	r.settle()
	r.late = true
	r.deferred = deferred{kind: restyles, from: from, to: to, change: *c}
}

// eraseLater erases the unprotected cells in the columns [from, to).
func (r *row) eraseLater(from, to int, blank cell) {
	next := deferred{kind: erases, from: from, to: to, blank: blank}
	if r.deferred != next {
		r.settle()
		r.deferred, r.late = next, true
	}
}

// moveLater moves the cells of [from, to) by n columns to the right, or to the left where n is
// negative. What leaves is lost, and what comes in is blank.
func (r *row) moveLater(from, to, n int, blank cell) {
	d := &r.deferred
	if d.kind != moves || d.from != from || d.to != to || d.blank != blank {
		r.settle()
		r.late = true
		*d = deferred{
			kind:   moves,
			from:   from,
			to:     to,
			blank:  blank,
			source: from,
			target: from,
			n:      to - from,
			used:   r.used,
		}
	}
	d.target += n
	if lost := max(from-d.target, 0); lost > 0 {
		d.source, d.target, d.n = d.source+lost, from, d.n-lost
	}
	if d.n = min(d.n, to-d.target); d.n <= 0 {
		d.source, d.target, d.n = from, from, 0
	}
	switch {
	case blank != 0:
		d.used = max(d.used, to)
	case n > 0:
		if d.used = max(d.used, min(d.used+n, to)); d.used <= from+n {
			d.used = min(d.used, from)
		}
	}
}

// performDeferred does what was deferred.
func (r *row) performDeferred() {
	d := r.deferred
	r.deferred.kind = noneDeferred
	r.late = false
	switch d.kind {
	case restyles:
		r.restyleCells(d.from, d.to, &d.change)
	case erases:
		r.eraseUnprotected(d.from, d.to, d.blank)
	case moves:
		r.moveCells(&d)
	case lays:
		r.layPart(d.from, d.to)
	case noneDeferred:
	}
}

func (r *row) restyleCells(from, to int, c *change) {
	m := r.t.restyler.of(c)
	for cells := r.cells[from:max(from, to)]; len(cells) > 0; {
		old := cells[0].styleID()
		cells = cells[flipRun(cells, styled(old^m.restyled(old, r.t))):]
		r.t.work++
	}
	r.used = max(r.used, to)
}

func (r *row) eraseUnprotected(from, to int, blank cell) {
	for x := from; x < to; {
		id, start := r.cells[x].styleID(), x
		x += styleRun(r.cells[x:to])
		r.t.work++
		if r.t.styles.list[id].attrs&Protected == 0 {
			r.fillColumns(start, x, blank)
		}
	}
}

func (r *row) moveCells(d *deferred) {
	for _, x := range [...]int{d.from, d.to, d.source, d.source + d.n} {
		r.splitAt(x)
	}
	copy(r.cells[d.target:d.target+d.n], r.cells[d.source:d.source+d.n])
	fillCells(r.cells[d.from:d.target], d.blank)
	fillCells(r.cells[d.target+d.n:d.to], d.blank)
	r.t.workOn(d.to - d.from)
	r.used = d.used
}
