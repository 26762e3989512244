package screen

// LinkSpan is a hyperlink (OSC 8) in the columns of a row from From to before To.
type LinkSpan struct {
	From, To int
	Target   string
}

// RowLinks returns the hyperlinks of a row, in order, without those in veiled cells.
func (s *Screen) RowLinks(row int) []LinkSpan {
	if len(s.t.links.list) == 0 {
		return nil
	}
	r := s.t.shownRow(s.row(row))
	return s.t.linksIn(r.cells[:r.used])
}

// HistoryLinks is [Screen.RowLinks] for row i of the history.
func (s *Screen) HistoryLinks(i int) []LinkSpan {
	if len(s.t.links.list) == 0 || i < 0 || i >= s.t.hist.length {
		return nil
	}
	return s.t.linksIn(s.t.hist.at(i).appendCells(nil, &s.t.styles, &s.t.clusters))
}

// linksIn returns the hyperlinks of cells. Cells of one link are one span, whatever their colours.
func (t *terminal) linksIn(cells []cell) (all []LinkSpan) {
	before := uint16(0)
	for x, c := range cells {
		n := before // the second half of a wide character
		if !c.isTail() {
			n = t.styles.list[c.styleID()].link
		}
		if t.isVeiled(c) {
			n = 0
		}
		if n != 0 && n == before {
			all[len(all)-1].To = x + 1
		} else if n != 0 {
			all = append(all, LinkSpan{From: x, To: x + 1, Target: t.links.at(n).target})
		}
		before = n
	}
	return all
}
