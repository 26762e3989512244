package snapshot

import "time"

const (
	// repaintFor is how long a screen is watched before the rows that change count as repainted.
	repaintFor = time.Second
	// minRepaints is the number of changes in that time that make a row repainted: a clock that
	// ticks more slowly is quiet between two ticks.
	minRepaints = 3
)

// repaintPace watches which rows change, and how often. The zero value begins with the first look.
type repaintPace struct {
	began time.Time
	first uint64 // [View.FirstLine]: text that scrolls is no repaint
	rows  []rowPace
}

type rowPace struct {
	rev         uint64
	text        string // from the first change on: most rows do not change, and need not be read
	textChanged bool   // its text changed, not only its look
	changes     int
	last        time.Time
}

// watchRows notes the rows that changed since the last look.
func (p *repaintPace) watchRows(v View, now time.Time) {
	_, rows := v.Size()
	if first := v.FirstLine(); p.began.IsZero() || p.first != first || len(p.rows) != rows {
		*p = repaintPace{began: now, first: first, rows: make([]rowPace, rows)}
		for row := range p.rows {
			p.rows[row].rev = v.RowRev(row)
		}
		return
	}
	for row := range p.rows {
		if r, rev := &p.rows[row], v.RowRev(row); rev != r.rev {
			text := v.RowText(row)
			textChanged := r.textChanged || r.changes > 0 && text != r.text
			*r = rowPace{rev: rev, text: text, textChanged: textChanged, changes: r.changes + 1, last: now}
		}
	}
}

// repaintedRows returns the rows whose text is repainted, and whether all other rows have been quiet
// for that long, at most repaintFor.
func (p *repaintPace) repaintedRows(now time.Time, quiet time.Duration) (rows []int, othersQuiet bool) {
	from := now.Add(-repaintFor)
	if p.began.After(from) {
		return nil, false
	}
	othersQuiet = true
	for row, r := range p.rows {
		switch {
		case r.last.Before(from):
		case r.changes < minRepaints:
			othersQuiet = othersQuiet && !r.last.After(now.Add(-min(quiet, repaintFor)))
		case r.textChanged:
			rows = append(rows, row)
		}
	}
	return rows, othersQuiet
}

// isRepainting notes the rows that the program keeps repainting, and reports whether a condition
// that lets them repaint is met because all others are quiet. While the waiter must not see the
// screen, it notes no rows.
func (o *waiter) isRepainting(v View, w *Waits, now time.Time) bool {
	if o.repainting = nil; w.blind {
		return false
	}
	o.pace.watchRows(v, now)
	rows, othersQuiet := o.pace.repaintedRows(now, o.Condition.quiet)
	o.repainting = rows
	return o.Condition.repaints && othersQuiet
}
