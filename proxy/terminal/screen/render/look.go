package render

import (
	"image/color"

	"terminalproxy/proxy/terminal/screen"
)

// look is how a cell is drawn: colours resolved, attributes applied. Cells of one look can be drawn
// together.
type look struct {
	fg, bg, line color.RGBA // line is the colour of an underline
	attrs        screen.Attr
	underline    screen.Underline
}

// drawn are the attributes that are left to draw when the colours are known.
const drawn = screen.Bold | screen.Italic | screen.Strike | screen.Overline

// view is a screen while it is drawn.
type view struct {
	s          *screen.Screen
	cols, rows int
	reverse    bool // DECSCNM
	cursor     cursor
}

// cursor is where the cursor is drawn, over the whole of a wide character.
type cursor struct {
	row, col, width int
	kind            cursorKind
}

type cursorKind uint8

const (
	noCursor cursorKind = iota
	blockCursor
	underlineCursor
	barCursor
)

func newView(s *screen.Screen) view {
	v := view{s: s, reverse: s.Modes().Reverse}
	v.cols, v.rows = s.Size()
	c := s.Cursor()
	if !c.Visible {
		return v
	}
	v.cursor = cursor{row: c.Row, col: c.Col, width: s.Cell(c.Row, c.Col).Width, kind: blockCursor}
	if v.cursor.width == 0 { // the second half of a wide character
		v.cursor.col, v.cursor.width = max(c.Col-1, 0), 2
	}
	switch c.Shape { // DECSCUSR
	case 3, 4:
		v.cursor.kind = underlineCursor
	case 5, 6:
		v.cursor.kind = barCursor
	}
	return v
}

// backgroundColor returns the colour of a cell that nothing was written to.
func (v *view) backgroundColor() color.RGBA { return v.resolveColor(0, v.reverse) }

func (v *view) resolveColor(c screen.Color, fg bool) color.RGBA {
	r, g, b := v.s.ResolveColor(c, fg)
	return color.RGBA{r, g, b, 0xff}
}

// cellLook returns a cell and its look: it applies inverse, bold as bright, faint, conceal and a
// block for a cursor. A concealed cell has no content.
func (v *view) cellLook(row, col int) (screen.Cell, look) {
	c := v.s.Cell(row, col)
	st := c.Style
	if i, ok := st.Fg.Index(); ok && i < 8 && st.Attrs&screen.Bold != 0 {
		st.Fg = screen.Indexed(i + 8)
	}
	l := look{
		fg: v.resolveColor(st.Fg, true), bg: v.resolveColor(st.Bg, false),
		attrs: st.Attrs & drawn, underline: st.Underline,
	}
	if (st.Attrs&screen.Inverse != 0) != v.reverse {
		l.fg, l.bg = l.bg, l.fg
	}
	if at := v.cursor; at.kind == blockCursor && row == at.row && col == at.col {
		if l.fg == l.bg {
			l.fg = v.resolveColor(0, !v.reverse) // a cursor is seen also where the text is not
		}
		l.fg, l.bg = l.bg, l.fg
	}
	if st.Attrs&screen.Faint != 0 {
		l.fg = mixColors(l.fg, l.bg)
	}
	l.line = l.fg
	if !st.UnderlineColor.IsDefault() {
		l.line = v.resolveColor(st.UnderlineColor, true)
	}
	if st.Attrs&screen.Conceal != 0 {
		c.Content, l.attrs, l.underline = "", 0, screen.NoUnderline
	}
	return c, l
}

// mixColors returns three fifths of a over b.
func mixColors(a, b color.RGBA) color.RGBA {
	part := func(a, b uint8) uint8 { return uint8((3*int(a) + 2*int(b)) / 5) }
	return color.RGBA{part(a.R, b.R), part(a.G, b.G), part(a.B, b.B), 0xff}
}

// cursorColor returns the colour of an underline or bar cursor.
func (v *view) cursorColor() color.RGBA { return v.resolveColor(0, !v.reverse) }
