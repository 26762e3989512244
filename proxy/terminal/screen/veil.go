package screen

import "slices"

// Cells whose content observers shall not see are marked as such in the attributes of their style,
// so that the mark goes with the cell: through scrolling, reflow and copying, and into the history.
// SGR knows nothing of the marks, and the user's own terminal is painted as if they were not there.
const (
	secretMark Attr = 1 << 10 // a password's asterisks
	hiddenMark Attr = 1 << 11 // what was printed while the user hid the screen
	veiled          = secretMark | hiddenMark
)

// Veil hides what is printed from now on from observers, because it may be a secret's, or because
// the user hides the screen, or both: [Screen.AppendRow], [Screen.AppendHistory] and
// [Screen.AppendVeiledRowANSI] show blanks in its place. While a veil is on, the revision does not
// grow either, since an observer sees nothing change and shall not count keystrokes by it.
func (s *Screen) Veil(secret, hidden bool) {
	var marks Attr
	if secret {
		marks |= secretMark
	}
	if hidden {
		marks |= hiddenMark
	}
	if t := &s.t; t.veil != marks {
		t.veil, t.penDirty = marks, true
		t.veils = t.veils || marks != 0
	}
}

// VeilCells marks the cells of a visible row from column from on as a secret's, or takes that mark
// away. It is a change of the screen.
func (s *Screen) VeilCells(row, from int, on bool) {
	t := &s.t
	if row < 0 || row >= t.rows || from < 0 || from >= t.cols {
		return
	}
	t.tick = s.rev + 1
	r := t.grid.at(row)
	if from < r.used && t.markCells(r.cells[from:r.used], secretMark, on) {
		t.touchRow(row)
	}
	s.settleVeil()
}

// Unveil shows observers what was printed while the user hid the screen and still stands on it.
// What has left it, into the history or with the other screen, stays veiled, and so do secrets.
func (s *Screen) Unveil() {
	t := &s.t
	t.tick = s.rev + 1
	for y := range t.rows {
		r := t.grid.at(y)
		t.markCells(r.cells[:r.used], hiddenMark, false)
	}
	t.touchAll()
	s.settleVeil()
}

// settleVeil commits a change of marks, also while a veil is on.
func (s *Screen) settleVeil() {
	marks := s.t.veil
	s.t.veil = 0
	s.commit()
	s.t.veil = marks
}

// markCells sets a mark or takes it away; it reports whether that changed anything.
func (t *terminal) markCells(cells []cell, mark Attr, on bool) (changed bool) {
	for x, c := range cells {
		s := t.styles.list[c.styleID()]
		if s.attrs&mark != 0 == on {
			continue
		}
		s.attrs ^= mark
		cells[x] = c.withStyle(t.styles.internStyle(&s))
		changed = true
	}
	t.veils = t.veils || on
	return changed
}

// CursorText is the text of the cursor's row before the cursor, with its blanks, and from it on.
// Nothing is veiled: it is not for observers, but for judging whether a secret is asked for.
func (s *Screen) CursorText() (left, right string) {
	t := &s.t
	r := t.grid.at(t.y)
	at := t.x
	if t.pending {
		at++
	}
	var text []byte
	cut := -1
	for x, c := range r.cells[:max(r.used, min(at, t.cols))] {
		if x == at {
			cut = len(text)
		}
		if !c.isTail() {
			text = t.appendContent(text, c)
		}
	}
	if cut < 0 {
		cut = len(text)
	}
	return string(text[:cut]), string(trimBlanks(text, cut)[cut:])
}

// isVeiled reports whether observers shall not see the cell.
func (t *terminal) isVeiled(c cell) bool {
	return t.veils && c.styleID() != 0 && t.styles.list[c.styleID()].attrs&veiled != 0
}

// AppendVeiledRowANSI is [Screen.AppendRowANSI] for observers: veiled cells are blank, in the
// default style.
func (s *Screen) AppendVeiledRowANSI(dst []byte, row int) []byte {
	return s.t.appendRow(dst, s.t.shownRow(s.row(row)), (*terminal).appendContent)
}

// shownRow returns the row as observers may see it: itself, or a copy with blanks for veiled cells.
func (t *terminal) shownRow(r *row) *row {
	if !t.veils || !slices.ContainsFunc(r.cells[:r.used], t.isVeiled) {
		return r
	}
	out := *r
	out.cells = slices.Clone(r.cells)
	for x, c := range out.cells[:r.used] {
		if t.isVeiled(c) {
			out.cells[x] = ' '
		}
	}
	return &out
}

// styleRuns walks over the styles of a packed row.
type styleRuns struct {
	runs []byte
	left int
	now  style
}

// next returns the style of the next cell, until the call after it.
func (w *styleRuns) next() *style {
	for w.left == 0 {
		if len(w.runs) == 0 {
			w.now = style{} // the rest has the default style
			return &w.now
		}
		s, cells, size := unpackRun(w.runs)
		w.now, w.left, w.runs = s, cells, w.runs[size:]
	}
	w.left--
	return &w.now
}
