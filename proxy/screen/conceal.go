package screen

import "slices"

// RowConceals says whether a visible row holds text that cannot be read on the terminal: concealed (SGR 8), or in the
// colour of its own background. Blanks are no text. Only colours that the program chose are compared, since nobody knows
// the terminal's own, as they stand in xterm's palette.
func (s *Screen) RowConceals(row int) bool {
	t := &s.t
	if row < 0 || row >= t.rows {
		return false
	}
	r := t.grid.at(row)
	id, conceals := uint32(0), false // the default style shows everything
	for _, c := range r.cells[:r.used] {
		if c.style() != id {
			id = c.style()
			conceals = t.styles.list[id].conceals()
		}
		if conceals && !c.isEmpty() && !c.isTail() && c.content() != ' ' {
			return true
		}
	}
	return false
}

func (s *style) conceals() bool {
	return s.attrs&Conceal != 0 || !s.fg.IsDefault() && s.fg.plain() == s.bg.plain()
}

// plain is a colour as RGB, so that it can be compared; the default one stays as it is.
func (c Color) plain() Color {
	if i, ok := c.Index(); ok {
		p := defaultColor(i)
		return RGB(p.r, p.g, p.b)
	}
	return c
}

// HistoryConceals is RowConceals for row i of the history.
func (s *Screen) HistoryConceals(i int) bool {
	if i < 0 || i >= s.t.hist.length {
		return false
	}
	p := s.t.hist.at(i)
	for runs, at := p.styles, 0; len(runs) > 0; {
		style, n, size := unpackRun(runs)
		if style.conceals() && p.text(at, at+n) {
			return true
		}
		runs, at = runs[size:], at+n
	}
	return false
}

// text reports whether there is more than blanks in the cells from from to to.
func (p packed) text(from, to int) bool {
	if len(p.ascii) > 0 {
		return slices.ContainsFunc(p.ascii[min(from, len(p.ascii)):min(to, len(p.ascii))], func(c byte) bool { return c > ' ' })
	}
	var room [maxCluster + 4]byte
	for i, words := 0, p.words; len(words) > 0 && i < to; i++ {
		c, n := cell(words[0]), 1
		if c.isCluster() {
			_, n = packedCluster(room[:0], words)
		}
		if i >= from && !c.isEmpty() && !c.isTail() && c.content() != ' ' {
			return true
		}
		words = words[n:]
	}
	return false
}
