package screen

// change is what DECCARA and DECRARA make of a style. Two changes, one after the other, are a
// change again.
type change struct {
	// attributes that stay what they are, and those that are the other way round then
	keep, flip Attr
	line       lineChange
	fg, bg, ul Color // keepColor changes no colour
}

// keepColor is no colour.
const keepColor Color = 3 << 24

// lineChange is what becomes of the shape of an underline: below keepLine it is that shape.
type lineChange uint8

const (
	keepLine lineChange = 0x10 + iota
	// flipLine turns no underline into a single one, and any other into no underline. Another flip
	// does not undo this: it makes a single one of any.
	flipLine
	flipLineTwice
)

var noChange = change{keep: ^Attr(0), line: keepLine, fg: keepColor, bg: keepColor, ul: keepColor}

// rendition returns the change that DECCARA makes with the parameters of SGR from i on.
func (t *terminal) rendition(i int) change {
	// What SGR makes of a style without any attribute and of one with all of them tells what it
	// makes of any.
	none := t.rendered(style{fg: keepColor, bg: keepColor, ul: keepColor, underline: NoUnderline},
		i)
	all := t.rendered(style{underline: SingleUnderline, attrs: ^Attr(0)}, i)
	c := change{
		keep: none.attrs ^ all.attrs | veiled,
		flip: none.attrs & all.attrs &^ veiled,
		line: keepLine,
		fg:   none.fg,
		bg:   none.bg,
		ul:   none.ul,
	}
	if none.underline == all.underline {
		c.line = lineChange(all.underline)
	}
	return c
}

// rendered is s with the parameters of SGR from i on.
func (t *terminal) rendered(s style, i int) style {
	pen := t.pen
	t.pen = s
	for i < t.parse.params.count() {
		i += t.sgr(&t.parse.params, i)
	}
	s, t.pen = t.pen, pen
	return s
}

// reversal returns the change that DECRARA makes with the parameters from i on. 0 reverses all that
// it knows.
func (t *terminal) reversal(i int) change {
	out := noChange
	for end := max(i+1, t.parse.params.count()); i < end; i++ {
		c := noChange
		switch v := t.parse.params.at(i, 0); v {
		case 0:
			c.flip, c.line = Bold|Blink|Inverse, flipLine
		case 1, 5, 7:
			c.flip = codeAttrs[v].set
		case 4:
			c.line = flipLine
		}
		out = out.then(&c)
	}
	return out
}

// then is c and after it next.
func (c change) then(next *change) change {
	c.keep, c.flip = c.keep&next.keep, c.flip&next.keep^next.flip
	if next.fg != keepColor {
		c.fg = next.fg
	}
	if next.bg != keepColor {
		c.bg = next.bg
	}
	if next.ul != keepColor {
		c.ul = next.ul
	}
	switch {
	case next.line == keepLine:
	case next.line < keepLine || c.line == keepLine:
		c.line = next.line
	case c.line < keepLine:
		c.line = lineChange(next.line.of(Underline(c.line)))
	case c.line == next.line: // an even number of flips
		c.line = flipLineTwice
	default:
		c.line = flipLine
	}
	return c
}

func (c lineChange) of(u Underline) Underline {
	switch {
	case c < keepLine:
		return Underline(c)
	case c == keepLine:
		return u
	case (u == NoUnderline) == (c == flipLine):
		return SingleUnderline
	}
	return NoUnderline
}

func (c *change) of(s style) style {
	s.attrs = s.attrs&c.keep ^ c.flip
	s.underline = c.line.of(s.underline)
	if c.fg != keepColor {
		s.fg = c.fg
	}
	if c.bg != keepColor {
		s.bg = c.bg
	}
	if c.ul != keepColor {
		s.ul = c.ul
	}
	return s
}

// restyler remembers what two changes make of each style: a screen may have as many styles as
// cells.
type restyler struct {
	memos [2]memo
	epoch uint32 // of the newest memo
}

// memo has, for the number of a style, the number of the changed one, below the epoch in which that
// was found out.
type memo struct {
	change change
	epoch  uint32
	ids    []uint64
}

// of returns the memo of a change.
func (m *restyler) of(c *change) *memo {
	if m.memos[0].epoch == 0 || m.memos[0].change != *c {
		m.memos[0], m.memos[1] = m.memos[1], m.memos[0]
	}
	if first := &m.memos[0]; first.epoch == 0 || first.change != *c {
		m.epoch++
		first.change, first.epoch = *c, m.epoch
	}
	return &m.memos[0]
}

// forget is for when styles get other numbers.
func (m *restyler) forget() { m.memos[0].epoch, m.memos[1].epoch = 0, 0 }

// lookups is the work of finding a style, in printed characters.
const lookups = 8

// restyled returns the number of what the memo's change makes of the style number id.
func (m *memo) restyled(id uint32, t *terminal) uint32 {
	if n := len(t.styles.list); len(m.ids) < n {
		m.ids = append(m.ids, make([]uint64, max(n, firstStyleLimit)-len(m.ids))...)
	}
	if known := m.ids[id]; uint32(known>>32) == m.epoch {
		return uint32(known) //nolint:gosec // its lower half
	}
	s := m.change.of(t.styles.list[id])
	to := t.styles.internStyle(&s)
	m.ids[id] = uint64(m.epoch)<<32 | uint64(to)
	t.work += lookups
	return to
}
