package render

import (
	"fmt"
	"image/color"
	"io"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"terminalproxy/proxy/terminal/screen"
)

// The cell of an SVG, in its units.
const (
	cellWidth   = 8.4
	cellHeight  = 17
	svgBaseline = 13
	fontSize    = 14
	// overlap is how far what reaches the edge of a cell goes over it, so that no seam shows at any
	// scale.
	overlap = 0.5
)

var svgCanvas = canvas{cellWidth, cellHeight, 1.2}

// SVG draws the screen with the viewer's monospaced font. A run of cells of one look is a text
// stretched to its columns, so that the picture is right with any such font; characters that have
// to meet their neighbours are drawn as shapes. Edges of areas stand on whole pixels of the viewer,
// at any scale (SVG 1.1, shape-rendering).
func SVG(s *screen.Screen) string {
	d := svg{view: newView(s)}
	width, height := formatNumber(float64(d.cols)*cellWidth), d.rows*cellHeight
	svgHead(&d.b, width, height)
	fmt.Fprintf(&d.b, `<rect width="100%%" height="100%%" fill="%s"/>`+"\n", hex(d.backgroundColor()))
	for y := range d.rows {
		d.drawBackgrounds(y)
	}
	for y := range d.rows {
		d.drawTexts(y)
		d.drawLines(y)
	}
	d.drawShapes(0, d.rows)
	d.lineCursor()
	d.b.WriteString("</svg>\n")
	return d.b.String()
}

// svgHead opens a picture of a size and sets its font.
func svgHead(w io.Writer, width string, height int) {
	fmt.Fprintf(w, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %s %d" width="%s" height="%d" `+
		`font-family="ui-monospace,'DejaVu Sans Mono',Menlo,Consolas,monospace" font-size="%d" xml:space="preserve">`+"\n",
		width, height, width, height, fontSize)
}

// svg collects a picture.
type svg struct {
	view
	first int // the row at the upper edge
	b     strings.Builder
}

// rowTop returns the upper edge of a row.
func (d *svg) rowTop(row int) int { return (row - d.first) * cellHeight }

func hex(c color.RGBA) string { return fmt.Sprintf("#%02x%02x%02x", c.R, c.G, c.B) }

// formatNumber writes a number with two decimals at most.
func formatNumber(f float64) string {
	s := strconv.FormatFloat(f, 'f', 2, 64)
	return strings.TrimSuffix(strings.TrimRight(s, "0"), ".")
}

// eachRun calls do for the runs of cells that are alike in a row, from column from to column to.
func (d *svg) eachRun(row int, alike func(a, b look) bool, do func(from, to int, l look)) {
	for x := 0; x < d.cols; {
		c, l := d.cellLook(row, x)
		end := x + max(c.Width, 1)
		for end < d.cols {
			next, other := d.cellLook(row, end)
			if !alike(l, other) {
				break
			}
			end += max(next.Width, 1)
		}
		do(x, end, l)
		x = end
	}
}

func (d *svg) drawBackgrounds(row int) {
	none := d.backgroundColor()
	d.eachRun(row, func(a, b look) bool { return a.bg == b.bg }, func(from, to int, l look) {
		if l.bg != none {
			fmt.Fprintf(&d.b, `<rect x="%s" y="%d" width="%s" height="%d" fill="%s" shape-rendering="crispEdges"/>`+"\n",
				formatNumber(float64(from)*cellWidth), d.rowTop(row), formatNumber(float64(to-from)*cellWidth), cellHeight, hex(l.bg))
		}
	})
}

// drawTexts writes the characters of a row that a font draws.
func (d *svg) drawTexts(row int) {
	for x := 0; x < d.cols; {
		c, l := d.cellLook(row, x)
		end := x + max(c.Width, 1)
		if c.Content == "" || c.Content == " " || isShape(c.Content) {
			x = end
			continue
		}
		if !isLetter(c.Content) {
			d.drawText(row, x, c.Width, c.Content, l)
			x = end
			continue
		}
		var text strings.Builder
		text.WriteString(c.Content)
		for end < d.cols {
			next, other := d.cellLook(row, end)
			if other != l || next.Width != 1 || !isLetter(next.Content) {
				break
			}
			text.WriteString(pad(next.Content))
			end++
		}
		kept := strings.TrimRight(text.String(), " ")
		d.drawText(row, x, utf8.RuneCountInString(kept), kept, l)
		x = end
	}
}

// drawText writes one text. A wide character is set in the middle of its columns as it is;
// everything else fills its columns.
func (d *svg) drawText(row, col, width int, text string, l look) {
	left, across := float64(col)*cellWidth, float64(width)*cellWidth
	where := fmt.Sprintf(`x="%s" y="%d" textLength="%s" lengthAdjust="spacingAndGlyphs"`,
		formatNumber(left), d.rowTop(row)+svgBaseline, formatNumber(across))
	if width == 2 && !isLetter(text[:1]) {
		where = fmt.Sprintf(`x="%s" y="%d" text-anchor="middle"`, formatNumber(left+across/2), d.rowTop(row)+svgBaseline)
	}
	fmt.Fprintf(&d.b, `<text %s fill="%s"%s>%s</text>`+"\n",
		where, hex(l.fg), svgAttrs(l), escape(text))
}

// isLetter says that a cell may stand in a text with others: an empty one, ASCII, and the alphabets
// in whose width all monospaced fonts agree (up to Cyrillic).
func isLetter(content string) bool {
	r, n := utf8.DecodeRuneInString(content)
	return n == len(content) && r < 0x530
}

func isShape(content string) bool {
	r, n := utf8.DecodeRuneInString(content)
	if n != len(content) {
		return false
	}
	_, ok := svgCanvas.figuresFor(r)
	return ok
}

func pad(s string) string {
	if s == "" {
		return " "
	}
	return s
}

func svgAttrs(l look) string {
	var a string
	if l.attrs&screen.Bold != 0 {
		a += ` font-weight="bold"`
	}
	if l.attrs&screen.Italic != 0 {
		a += ` font-style="italic"`
	}
	return a
}

// drawShapes draws the characters that are figures: those of one kind and colour are one path, so
// that lines which overlap a little are one area. It goes from row from to row to.
func (d *svg) drawShapes(from, to int) {
	var kinds []string
	paths := make(map[string]*strings.Builder)
	for y := from; y < to; y++ {
		for x := range d.cols {
			c, l := d.cellLook(y, x)
			if !isShape(c.Content) {
				continue
			}
			r, _ := utf8.DecodeRuneInString(c.Content)
			figures, _ := svgCanvas.figuresFor(r)
			for _, f := range figures {
				kind := figureAttrs(f, l)
				if paths[kind] == nil {
					kinds, paths[kind] = append(kinds, kind), new(strings.Builder)
				}
				paths[kind].WriteString(figurePath(f, float64(x)*cellWidth, float64(d.rowTop(y))))
			}
		}
	}
	for _, kind := range kinds {
		fmt.Fprintf(&d.b, `<path%s d="%s"/>`+"\n", kind, paths[kind])
	}
}

func figureAttrs(f figure, l look) string {
	a := fmt.Sprintf(` fill="%s"`, hex(l.fg))
	if f.opacity < 1 {
		a += fmt.Sprintf(` fill-opacity="%s"`, formatNumber(f.opacity))
	}
	if f.points == nil && !f.stroke {
		a += ` shape-rendering="crispEdges"`
	}
	return a
}

// figurePath returns a figure as a path (SVG 1.1, 8.3). Lines and polygons go a little over the
// edges that they reach.
func figurePath(f figure, left, top float64) string {
	over := func(v, length float64, on bool) float64 {
		switch {
		case on && v < 0.01:
			return v - overlap
		case on && v > length-0.01:
			return v + overlap
		}
		return v
	}
	if f.points == nil {
		x0, y0 := left+over(f.x0, cellWidth, f.stroke), top+over(f.y0, cellHeight, f.stroke)
		x1, y1 := left+over(f.x1, cellWidth, f.stroke), top+over(f.y1, cellHeight, f.stroke)
		return fmt.Sprintf("M%s %sH%sV%sH%sz", formatNumber(x0), formatNumber(y0), formatNumber(x1), formatNumber(y1), formatNumber(x0))
	}
	var b strings.Builder
	for i, p := range clockwise(f.points) {
		b.WriteString(map[bool]string{true: "M", false: "L"}[i == 0])
		b.WriteString(formatNumber(left+over(p.x, cellWidth, true)) + " " + formatNumber(top+over(p.y, cellHeight, f.stroke)))
	}
	return b.String() + "z"
}

// clockwise returns a polygon in the direction of the rectangles: two areas that overlap in
// opposite directions would leave a hole (SVG 1.1, 11.3, fill-rule nonzero).
func clockwise(points []point) []point {
	area := 0.0
	for i, p := range points {
		next := points[(i+1)%len(points)]
		area += p.x*next.y - next.x*p.y
	}
	if area >= 0 {
		return points
	}
	turned := slices.Clone(points)
	slices.Reverse(turned)
	return turned
}

// drawLines draws underlines, strike-through and overline of a row.
func (d *svg) drawLines(row int) {
	const marks = screen.Strike | screen.Overline
	alike := func(a, b look) bool {
		return a.underline == b.underline && a.line == b.line &&
			a.fg == b.fg && a.attrs&marks == b.attrs&marks
	}
	d.eachRun(row, alike, func(from, to int, l look) {
		left, top, width := float64(from)*cellWidth, float64(d.rowTop(row)), float64(to-from)*cellWidth
		line := func(y float64, c color.RGBA, extra string) {
			fmt.Fprintf(&d.b, `<path d="M%s %sh%s" stroke="%s"%s/>`+"\n",
				formatNumber(left), formatNumber(top+y), formatNumber(width), hex(c), extra)
		}
		switch l.underline {
		case screen.NoUnderline:
		case screen.SingleUnderline:
			line(svgBaseline+2, l.line, "")
		case screen.DoubleUnderline:
			line(svgBaseline+1.5, l.line, "")
			line(svgBaseline+3.5, l.line, "")
		case screen.CurlyUnderline:
			fmt.Fprintf(&d.b, `<path d="M%s %s`, formatNumber(left), formatNumber(top+svgBaseline+2))
			for range 2 * (to - from) {
				b := "q1.05 -2.4 2.1 0t2.1 0"
				d.b.WriteString(b)
			}
			fmt.Fprintf(&d.b, `" fill="none" stroke="%s"/>`+"\n", hex(l.line))
		case screen.DottedUnderline:
			line(svgBaseline+2, l.line, ` stroke-dasharray="1 1.1"`)
		case screen.DashedUnderline:
			line(svgBaseline+2, l.line, ` stroke-dasharray="3 1.2"`)
		}
		if l.attrs&screen.Strike != 0 {
			line(cellHeight/2, l.fg, "")
		}
		if l.attrs&screen.Overline != 0 {
			line(0.5, l.fg, "")
		}
	})
}

// lineCursor draws a cursor that is a line; a block is in the look of its cell.
func (d *svg) lineCursor() {
	at := d.cursor
	left, top := float64(at.col)*cellWidth, float64(d.rowTop(at.row))
	width, height := float64(at.width)*cellWidth, float64(cellHeight)
	switch at.kind {
	case underlineCursor:
		top, height = top+height-2, 2
	case barCursor:
		width = 2
	default:
		return
	}
	fmt.Fprintf(&d.b, `<rect x="%s" y="%s" width="%s" height="%s" fill="%s" shape-rendering="crispEdges"/>`+"\n",
		formatNumber(left), formatNumber(top), formatNumber(width), formatNumber(height), hex(d.cursorColor()))
}

// escape makes text fit for XML: cells hold no controls, but other characters that XML forbids may
// stand there.
func escape(s string) string {
	return strings.Map(func(r rune) rune {
		if r == 0xfffe || r == 0xffff {
			return 0xfffd
		}
		return r
	}, strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;").Replace(s))
}
