package screen

// Highlight is a part of the screen that stands out by its background: Cols columns from Col on, in
// each of Rows rows from Row on. Of several rows, not all need reach as far. Empty says that it is
// an empty field of a form, with the cursor.
type Highlight struct {
	Row, Rows, Col, Cols int
	Empty                bool
}

// Highlights appends to dst at most limit parts of the screen that stand out, from the top: text
// that is inverse (SGR 7), and text on a background other than the screen's. If the background of
// most cells is a colour, as in programs that paint windows, a window is no highlight: only a part
// one row high that differs from the rows around it is. Blanks and lines of a frame are no text,
// but for an empty field of a form: the blanks around the visible cursor. Rows that hold
// something veiled are skipped, and are not compared with others: the end of a secret's background
// would tell its length.
func (s *Screen) Highlights(dst []Highlight, limit int) []Highlight {
	t := &s.t
	rows := make([][]backdrop, t.rows)
	cells := make(map[Color]int, 8)
	for y := range rows {
		rows[y] = t.splitBackdrops(t.grid.at(y))
		for _, g := range rows[y] {
			cells[g.color] += g.to - g.from
		}
	}
	if len(cells) <= 1 {
		return dst
	}
	s.markFocusedField(rows)
	own := mostOf(cells)
	for y, row := range rows {
		for i := range row {
			g := &row[i]
			if !g.standsOut(rows, y, own) {
				continue
			}
			if limit--; limit < 0 {
				return dst
			}
			dst = append(dst, Highlight{y, 1, g.from, g.to - g.from, g.field})
			last := &dst[len(dst)-1]
			for below := y + 1; below < len(rows) && g != nil && !last.Empty; below++ {
				g = last.growFrom(g, rows, below, own)
			}
		}
	}
	return dst
}

// markFocusedField has the blanks around the visible cursor count as text: an empty field ends
// before the screen does, unlike a bar, and is wider than a cursor that the program draws.
func (s *Screen) markFocusedField(rows [][]backdrop) {
	c := s.Cursor()
	if !c.Visible || c.Row >= len(rows) {
		return
	}
	for i := range rows[c.Row] {
		g := &rows[c.Row][i]
		if g.from <= c.Col && c.Col < g.to && g.to-g.from > 1 && g.to < s.t.cols {
			g.field, g.text = !g.text, true
		}
	}
}

// growFrom takes in the part of row y that stands out and continues above, a part of the row
// before. It returns that part, or nil.
func (h *Highlight) growFrom(above *backdrop, rows [][]backdrop, y int, own Color) *backdrop {
	var next *backdrop
	for i := range rows[y] {
		g := &rows[y][i]
		if g.color != above.color || g.inverse != above.inverse || !g.standsOut(rows, y, own) {
			continue
		}
		if next != nil {
			return nil // one of several: the names of keys, hits of a search
		}
		next = g
	}
	if next == nil || !next.continuesFrom(above, rows[y-1], rows[y]) {
		return nil
	}
	from, to := min(h.Col, next.from), max(h.Col+h.Cols, next.to)
	h.Rows, h.Col, h.Cols, next.taken = h.Rows+1, from, to-from, true
	return next
}

// continuesFrom reports whether g, of row, and above, of the row before, are one: a block with
// straight sides, or text marked to the end of a row and on from the begin of the next. A cell more
// at an end is the cursor, which editors leave out.
func (g *backdrop) continuesFrom(above *backdrop, before, row []backdrop) bool {
	if g.from == above.from && g.to == above.to {
		return true
	}
	for _, other := range before {
		if other.text && other.from > above.from &&
			(other.from > above.to || other.to-other.from > 1) {
			return false
		}
	}
	for _, other := range row {
		if other.text && other.from < g.from && (other.to < g.from || other.to-other.from > 1) {
			return false
		}
	}
	return true
}

// standsOut reports whether the part g of row y stands out, and is in no highlight yet. own is the
// background of the screen.
func (g *backdrop) standsOut(rows [][]backdrop, y int, own Color) bool {
	switch {
	case !g.text || g.taken:
		return false
	case g.inverse || own == 0:
		return g.color != own
	}
	for _, by := range []int{-2, -1, 1, 2} { // a window's rows go on beyond the one that stands out
		if alike(rows, y+by, g) {
			return false
		}
	}
	return true
}

// backdrop is consecutive cells of a row on the same background.
type backdrop struct {
	from, to int
	color    Color
	inverse  bool
	text     bool // there is more than blanks
	taken    bool // it is in a highlight
	field    bool // it is an empty field with the cursor
}

// inverseDefault is the background of inverse text whose foreground is the terminal's own: no
// colour that a program can ask for.
const inverseDefault Color = 3 << 24

// splitBackdrops takes a row apart by its backgrounds; nil if it holds something veiled.
func (t *terminal) splitBackdrops(r *row) (out []backdrop) {
	id, now := ^uint32(0), backdrop{}
	for x, c := range r.cells[:r.used] {
		if c.styleID() != id {
			id = c.styleID()
			s := &t.styles.list[id]
			if s.attrs&veiled != 0 {
				return nil
			}
			color, inverse := s.backdropColor()
			if len(out) == 0 || color != now.color || inverse != now.inverse {
				out = append(out, backdrop{from: x, color: color, inverse: inverse})
				now = out[len(out)-1]
			}
		}
		g := &out[len(out)-1]
		g.to = x + 1
		g.text = g.text || !c.isEmpty() && c.content() != ' ' && !isFrame(c)
	}
	if rest := len(r.cells); r.used < rest {
		out = append(out, backdrop{from: r.used, to: rest})
	}
	return out
}

// isFrame reports whether a character draws lines (the block Box Drawing of Unicode).
func isFrame(c cell) bool { return !c.isCluster() && c.code() >= 0x2500 && c.code() <= 0x257f }

// backdropColor returns the colour behind the text, as RGB if the program chose it.
func (s *style) backdropColor() (c Color, inverse bool) {
	if s.attrs&Inverse == 0 {
		return s.bg.asRGB(), false
	}
	if s.fg.IsDefault() {
		return inverseDefault, true
	}
	return s.fg.asRGB(), true
}

// mostOf is the background that most cells have; of several the smallest, so that the answer is
// always the same.
func mostOf(cells map[Color]int) (own Color) {
	most := 0
	for c, n := range cells {
		if n > most || n == most && c < own {
			own, most = c, n
		}
	}
	return own
}

// alike reports whether most of what stands in row y over or under g has its background.
func alike(rows [][]backdrop, y int, g *backdrop) bool {
	if y < 0 || y >= len(rows) {
		return false
	}
	same := 0
	for _, other := range rows[y] {
		if other.color == g.color {
			same += max(0, min(other.to, g.to)-max(other.from, g.from))
		}
	}
	return 2*same > g.to-g.from
}
