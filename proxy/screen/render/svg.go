package render

import (
	"fmt"
	"strings"

	"terminalproxy/proxy/screen"
)

// The cell of a picture, in SVG units; baseline is measured from the top of the cell.
const (
	cellWidth  = 8.4
	cellHeight = 17
	baseline   = 13
	fontSize   = 14
)

// SVG draws the screen. Every run of cells of one style is a text that is stretched to its columns, so that the picture
// is right with any monospaced font.
func SVG(s *screen.Screen) string {
	cols, rows := s.Size()
	width, height := float64(cols)*cellWidth, rows*cellHeight
	var b strings.Builder
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %.1f %d" width="%.1f" height="%d" `+
		`font-family="ui-monospace,'DejaVu Sans Mono',Menlo,Consolas,monospace" font-size="%d" xml:space="preserve">`+"\n",
		width, height, width, height, fontSize)
	fmt.Fprintf(&b, `<rect width="100%%" height="100%%" fill="%s"/>`+"\n", hex(s.Resolve(0, s.Modes().Reverse)))
	for y := range rows {
		for x := 0; x < cols; {
			x = svgRun(&b, s, y, x, cols)
		}
	}
	svgCursor(&b, s)
	b.WriteString("</svg>\n")
	return b.String()
}

func hex(r, g, b uint8) string { return fmt.Sprintf("#%02x%02x%02x", r, g, b) }

// paint is how a cell is drawn: its style, resolved.
type paint struct {
	fg, bg, line string
	style        screen.Style
}

// resolve turns a style into colours: inverse, bold as bright, faint and conceal are decided here.
func resolve(s *screen.Screen, st screen.Style) paint {
	p := paint{style: st}
	if i, ok := st.Fg.Index(); ok && i < 8 && st.Attrs&screen.Bold != 0 {
		st.Fg = screen.Indexed(i + 8)
	}
	p.fg, p.bg = hex(s.Resolve(st.Fg, true)), hex(s.Resolve(st.Bg, false))
	if (st.Attrs&screen.Inverse != 0) != s.Modes().Reverse {
		p.fg, p.bg = p.bg, p.fg
	}
	if st.Attrs&screen.Conceal != 0 {
		p.fg = p.bg
	}
	p.line = p.fg
	if !st.UnderlineColor.IsDefault() {
		p.line = hex(s.Resolve(st.UnderlineColor, true))
	}
	return p
}

// svgRun draws the cells from column x that share a style, and returns the column after them. A character outside ASCII
// is a run of its own, because fonts do not agree on its width.
func svgRun(b *strings.Builder, s *screen.Screen, y, x, cols int) int {
	first := s.Cell(y, x)
	end := x + max(first.Width, 1)
	text := first.Content
	if isASCII(text) {
		for end < cols {
			c := s.Cell(y, end)
			if c.Style != first.Style || c.Width != 1 || !isASCII(c.Content) {
				break
			}
			text += pad(c.Content)
			end++
		}
		text = pad(first.Content) + strings.TrimPrefix(text, first.Content)
	}
	p := resolve(s, first.Style)
	left, top, width := float64(x)*cellWidth, y*cellHeight, float64(end-x)*cellWidth
	if p.bg != hex(s.Resolve(0, s.Modes().Reverse)) {
		fmt.Fprintf(b, `<rect x="%.1f" y="%d" width="%.1f" height="%d" fill="%s"/>`+"\n", left, top, width, cellHeight, p.bg)
	}
	if strings.TrimSpace(text) != "" {
		fmt.Fprintf(b, `<text x="%.1f" y="%d" textLength="%.1f" lengthAdjust="spacingAndGlyphs" fill="%s"%s>%s</text>`+"\n",
			left, top+baseline, width, p.fg, svgAttrs(first.Style), escape(text))
	}
	svgLines(b, p, left, top, width)
	return end
}

func isASCII(s string) bool { return len(s) <= 1 }

func pad(s string) string {
	if s == "" {
		return " "
	}
	return s
}

func svgAttrs(st screen.Style) string {
	var a string
	if st.Attrs&screen.Bold != 0 {
		a += ` font-weight="bold"`
	}
	if st.Attrs&screen.Italic != 0 {
		a += ` font-style="italic"`
	}
	if st.Attrs&screen.Faint != 0 {
		a += ` opacity="0.6"`
	}
	return a
}

// svgLines draws underlines, strike-through and overline over a run.
func svgLines(b *strings.Builder, p paint, left float64, top int, width float64) {
	line := func(y float64, extra string) {
		fmt.Fprintf(b, `<path d="M%.1f %.1fh%.1f" stroke="%s"%s/>`+"\n", left, float64(top)+y, width, p.line, extra)
	}
	switch p.style.Underline {
	case screen.NoUnderline:
	case screen.SingleUnderline:
		line(baseline+2, "")
	case screen.DoubleUnderline:
		line(baseline+1.5, "")
		line(baseline+3.5, "")
	case screen.CurlyUnderline:
		fmt.Fprintf(b, `<path d="M%.1f %.1f`, left, float64(top)+baseline+2)
		for x := 0.0; x+4.2 <= width+0.1; x += 4.2 {
			b.WriteString("q1.05 -2 2.1 0t2.1 0")
		}
		fmt.Fprintf(b, `" fill="none" stroke="%s"/>`+"\n", p.line)
	case screen.DottedUnderline:
		line(baseline+2, ` stroke-dasharray="1 2"`)
	case screen.DashedUnderline:
		line(baseline+2, ` stroke-dasharray="4 2"`)
	}
	if p.style.Attrs&screen.Strike != 0 {
		line(cellHeight/2, "")
	}
	if p.style.Attrs&screen.Overline != 0 {
		line(0.5, "")
	}
}

// svgCursor draws the cursor as a translucent block, so that the character under it can be read.
func svgCursor(b *strings.Builder, s *screen.Screen) {
	c := s.Cursor()
	if !c.Visible {
		return
	}
	width := max(s.Cell(c.Row, c.Col).Width, 1)
	fmt.Fprintf(b, `<rect x="%.1f" y="%d" width="%.1f" height="%d" fill="%s" fill-opacity="0.5"/>`+"\n",
		float64(c.Col)*cellWidth, c.Row*cellHeight, float64(width)*cellWidth, cellHeight, hex(s.Resolve(0, true)))
}

// escape makes text fit for XML: cells hold no controls, but other characters that XML forbids may stand there.
func escape(s string) string {
	return strings.Map(func(r rune) rune {
		if r == 0xfffe || r == 0xffff {
			return 0xfffd
		}
		return r
	}, strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;").Replace(s))
}
