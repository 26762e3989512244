package screen

import "slices"

// eraseRows erases whole rows, [from, to).
func (t *terminal) eraseRows(from, to int) {
	if from >= to {
		return
	}
	t.disturbCommands(from)
	blank := t.blank()
	t.cutWrap(from - 1)
	t.work += to - from
	for _, r := range t.grid.rows[from:to] {
		r.reset(blank)
	}
	t.touchRange(from, to-1)
}

// eraseCells erases the columns [from, to) of row y. A whole row is no longer the rest of the one
// before: what a shell prints there after output without a line end is a line of its own when it is
// wrapped again.
func (t *terminal) eraseCells(y, from, to int) {
	t.clearCells(y, from, to)
	if from == 0 && to == t.cols {
		t.cutWrap(y - 1)
	}
}

// eraseInRow is eraseCells for EL in the cursor's row. A row without text remains the rest of the
// one before: a line editor that has made the terminal wrap clears the row before it goes on.
func (t *terminal) eraseInRow(mode, from, to int) {
	t.settleReturn()
	cuts := from == 0 && to == t.cols && (!t.grid.isContinuation(t.y) || !t.cursorRow().isBlank())
	t.clearCells(t.y, from, to)
	if cuts {
		t.cutWrap(t.y - 1)
	}
	t.sinkErase(mode, cuts)
}

// isBlank reports whether a settled row has no text.
func (r *row) isBlank() bool {
	return !slices.ContainsFunc(r.cells[:r.used], func(c cell) bool { return !c.isBlank() })
}

func (t *terminal) clearCells(y, from, to int) {
	r := t.grid.rows[y]
	r.fillColumns(from, to, t.blank())
	if r.pictures != nil {
		r.pictures = r.picturesExcept(func(p *placed) bool { return from <= p.Col && p.Col < to })
	}
	if to == t.cols {
		r.wrapped = false
	}
	t.touchRow(y)
}

// ED erases in the display (ECMA-48 8.3.39): 0 from the cursor on, 1 up to it, 2 everything, 3 the
// history (xterm). Protected cells of ISO (SPA) survive.
func (t *terminal) ED() {
	if t.private.protectISO {
		t.DECSED()
		return
	}
	switch t.parse.params.at(0, 0) {
	case 0:
		t.settleReturn()
		cuts := !t.pending && t.x == 0
		if !t.pending {
			t.eraseCells(t.y, t.x, t.cols)
		}
		t.eraseRows(t.y+1, t.rows)
		t.sinkErase(0, cuts)
	case 1:
		t.eraseRows(0, t.y)
		t.eraseCells(t.y, 0, t.x+1)
		t.sink.Erase(1)
	case 2:
		t.eraseRows(0, t.rows)
		t.sinkClear()
	case 3:
		t.hist.clear()
		t.sinkClear()
	}
}

// EL erases in the cursor's row (ECMA-48 8.3.41): 0 from the cursor on, 1 up to it, 2 everything.
func (t *terminal) EL() {
	if t.private.protectISO {
		t.DECSEL()
		return
	}
	switch mode := t.parse.params.at(0, 0); mode {
	case 0:
		if t.pending { // the cursor counts as past the end, as in xterm: there is nothing to erase
			t.sinkErase(mode, false)
			return
		}
		t.eraseInRow(mode, t.x, t.cols)
	case 1:
		t.eraseInRow(mode, 0, t.x+1)
	case 2:
		t.eraseInRow(mode, 0, t.cols)
	}
}

// ECH erases characters from the cursor on (ECMA-48 8.3.38).
func (t *terminal) ECH() {
	n := min(t.parse.params.num(0), t.cols-t.x)
	if t.private.protectISO {
		t.eraseUnprotected(t.y, t.x, t.x+n)
	} else {
		t.eraseCells(t.y, t.x, t.x+n)
	}
	t.pending = false
	t.settleReturn()
	t.sink.EraseChars(n)
}

// DECSED is ED that spares protected cells (VT510, CSI ? Ps J).
func (t *terminal) DECSED() {
	from, to := 0, t.rows
	switch t.parse.params.at(0, 0) {
	case 0:
		t.eraseUnprotected(t.y, t.x, t.cols)
		from = t.y + 1
	case 1:
		t.eraseUnprotected(t.y, 0, t.x+1)
		to = t.y
	case 2:
	default:
		return
	}
	for y := from; y < to; y++ {
		t.eraseUnprotected(y, 0, t.cols)
	}
}

// DECSEL is EL that spares protected cells (VT510, CSI ? Ps K).
func (t *terminal) DECSEL() {
	switch t.parse.params.at(0, 0) {
	case 0:
		t.eraseUnprotected(t.y, t.x, t.cols)
	case 1:
		t.eraseUnprotected(t.y, 0, t.x+1)
	case 2:
		t.eraseUnprotected(t.y, 0, t.cols)
	}
}

// eraseUnprotected erases the columns [from, to) of row y, but not protected cells.
func (t *terminal) eraseUnprotected(y, from, to int) {
	if !t.protects {
		t.eraseCells(y, from, to)
		return
	}
	r := t.grid.rows[y]
	t.work++
	r.eraseLater(from, to, t.blank())
	if to == t.cols {
		r.wrapped = false
	}
	t.touchRow(y)
}

// DECSCA protects the characters that follow, or ends that (VT510, CSI Ps " q).
func (t *terminal) DECSCA() {
	p := t.pen
	switch t.parse.params.at(0, 0) {
	case 0, 2:
		p.attrs &^= Protected
	case 1:
		p.attrs |= Protected
		t.protects = true
	}
	t.private.protectISO = false
	t.setPen(p)
}

// SPA protects the characters that follow against ED, EL and ECH (ECMA-48 8.3.139).
func (t *terminal) SPA() {
	p := t.pen
	p.attrs |= Protected
	t.protects = true
	t.private.protectISO = true
	t.setPen(p)
}

// EPA ends what SPA began (ECMA-48 8.3.46).
func (t *terminal) EPA() {
	p := t.pen
	p.attrs &^= Protected
	t.setPen(p)
}

// DECALN fills the screen with E, the pattern for aligning a tube (VT510, ESC # 8).
func (t *terminal) DECALN() {
	t.modes.Origin = false
	t.resetMargins()
	t.eraseRows(0, t.rows)
	for _, r := range t.grid.rows {
		r.coverWith('E')
	}
	t.sinkClear()
	t.moveHome()
}
