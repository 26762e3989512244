package screen

// veiled marks a cell whose content observers shall not see: a password's asterisks, or what was printed while the user
// hid the screen. It is kept as an attribute of the style, so that it goes wherever the cell goes: through scrolling,
// reflow and copying, and into the history. SGR knows nothing of it, and the user's own terminal is painted as if it was
// not there.
const veiled Attr = 1 << 11

// Veil says that what is printed from now on is not for observers: [Screen.AppendRow], [Screen.AppendHistory] and
// [Screen.AppendVeiledRowANSI] show blanks in its place. While it is on, the revision does not grow either, since an
// observer sees nothing change and shall not count keystrokes by it.
func (s *Screen) Veil(on bool) {
	if t := &s.t; t.veil != on {
		t.veil, t.penDirty = on, true
		t.veils = t.veils || on
	}
}

// penStyle numbers the pen, veiled if it is to be.
func (t *terminal) penStyle() uint32 {
	if !t.veil {
		return t.styles.intern(&t.pen)
	}
	pen := t.pen
	pen.attrs |= veiled
	return t.styles.intern(&pen)
}

// VeilCells veils the cells of a visible row from column from on, or shows them again. It is a change of the screen.
func (s *Screen) VeilCells(row, from int, on bool) {
	t := &s.t
	if row < 0 || row >= t.rows || from < 0 || from >= t.cols {
		return
	}
	t.tick = s.rev + 1
	r := t.grid.at(row)
	if from < r.used {
		t.veilCells(r.cells[from:r.used], on)
		t.touch(row)
	}
	s.settleVeil()
}

// Unveil shows observers all that stands on the screen now. What has left it, into the history or with the other screen,
// stays veiled.
func (s *Screen) Unveil() {
	t := &s.t
	t.tick = s.rev + 1
	for y := range t.rows {
		r := t.grid.at(y)
		t.veilCells(r.cells[:r.used], false)
	}
	t.touchAll()
	s.settleVeil()
}

// settleVeil commits a change of veils, also while one is on.
func (s *Screen) settleVeil() {
	on := s.t.veil
	s.t.veil = false
	s.commit()
	s.t.veil = on
}

func (t *terminal) veilCells(cells []cell, on bool) {
	for x, c := range cells {
		s := t.styles.list[c.style()]
		if s.attrs&veiled != 0 == on {
			continue
		}
		s.attrs ^= veiled
		cells[x] = c.restyled(t.styles.intern(&s))
	}
	t.veils = t.veils || on
}

// isVeiled reports whether observers shall not see the cell.
func (t *terminal) isVeiled(c cell) bool {
	return t.veils && c.style() != 0 && t.styles.list[c.style()].attrs&veiled != 0
}

// AppendVeiledRowANSI is [Screen.AppendRowANSI] for observers: what is veiled is blank, in the default style.
func (s *Screen) AppendVeiledRowANSI(dst []byte, row int) []byte {
	if row < 0 || row >= s.t.rows {
		return dst
	}
	t := &s.t
	r := t.grid.at(row)
	for _, c := range r.cells[:r.used] {
		if !t.isVeiled(c) {
			continue
		}
		shown := *r
		shown.cells = make([]cell, len(r.cells))
		for x, c := range r.cells[:r.used] {
			if t.isVeiled(c) {
				c = ' '
			}
			shown.cells[x] = c
		}
		return t.appendRow(dst, &shown, (*terminal).appendContent)
	}
	return t.appendRow(dst, r, (*terminal).appendContent)
}

// veils walks over the styles of a packed row: next says whether the next cell is veiled.
type veils struct {
	runs []byte
	left int
	on   bool
}

func (v *veils) next() bool {
	for v.left == 0 {
		if len(v.runs) == 0 {
			return false // the rest has the default style
		}
		s, cells, size := unpackRun(v.runs)
		v.on, v.left, v.runs = s.attrs&veiled != 0, cells, v.runs[size:]
	}
	v.left--
	return v.on
}
