package screen

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
