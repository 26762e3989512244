package render

import (
	"fmt"
	"image/color"
	"io"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"terminalproxy/proxy/screen"
)

// The cell of an SVG, in its units.
const (
	cellWidth   = 8.4
	cellHeight  = 17
	svgBaseline = 13
	fontSize    = 14
	// overlap is how far what reaches the edge of a cell goes over it, so that no seam shows at any scale.
	overlap = 0.5
)

var svgCanvas = canvas{cellWidth, cellHeight, 1.2}

// SVG draws the screen with the viewer's monospaced font. A run of cells of one look is a text that is stretched to its
// columns, so that the picture is right with any such font; what has to meet its neighbours is drawn as shapes. Edges of
// areas stand on whole pixels of the viewer, at any scale (SVG 1.1, shape-rendering).
func SVG(s *screen.Screen) string {
	d := svg{view: newView(s)}
	width, height := num(float64(d.cols)*cellWidth), d.rows*cellHeight
	svgHead(&d.b, width, height)
	fmt.Fprintf(&d.b, `<rect width="100%%" height="100%%" fill="%s"/>`+"\n", hex(d.background()))
	for y := range d.rows {
		d.backgrounds(y)
	}
	for y := range d.rows {
		d.texts(y)
		d.lines(y)
	}
	d.shapes(0, d.rows)
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

// svg is a picture that is being written.
type svg struct {
	view
	first int // the row at the upper edge
	b     strings.Builder
}

// top is the upper edge of a row.
func (d *svg) top(row int) int { return (row - d.first) * cellHeight }

func hex(c color.RGBA) string { return fmt.Sprintf("#%02x%02x%02x", c.R, c.G, c.B) }

// num is a number with two decimals at most.
func num(f float64) string {
	s := strconv.FormatFloat(f, 'f', 2, 64)
	return strings.TrimSuffix(strings.TrimRight(s, "0"), ".")
}

// runs calls do for the runs of cells that are alike in a row, from column from to column to.
func (d *svg) runs(row int, alike func(a, b look) bool, do func(from, to int, l look)) {
	for x := 0; x < d.cols; {
		c, l := d.cell(row, x)
		end := x + max(c.Width, 1)
		for end < d.cols {
			next, other := d.cell(row, end)
			if !alike(l, other) {
				break
			}
			end += max(next.Width, 1)
		}
		do(x, end, l)
		x = end
	}
}

func (d *svg) backgrounds(row int) {
	none := d.background()
	d.runs(row, func(a, b look) bool { return a.bg == b.bg }, func(from, to int, l look) {
		if l.bg != none {
			fmt.Fprintf(&d.b, `<rect x="%s" y="%d" width="%s" height="%d" fill="%s" shape-rendering="crispEdges"/>`+"\n",
				num(float64(from)*cellWidth), d.top(row), num(float64(to-from)*cellWidth), cellHeight, hex(l.bg))
		}
	})
}

// texts writes the characters of a row that a font draws.
func (d *svg) texts(row int) {
	for x := 0; x < d.cols; {
		c, l := d.cell(row, x)
		end := x + max(c.Width, 1)
		if c.Content == "" || c.Content == " " || isShape(c.Content) {
			x = end
			continue
		}
		if !isLetter(c.Content) {
			d.text(row, x, c.Width, c.Content, l)
			x = end
			continue
		}
		var text strings.Builder
		text.WriteString(c.Content)
		for end < d.cols {
			next, other := d.cell(row, end)
			if other != l || next.Width != 1 || !isLetter(next.Content) {
				break
			}
			text.WriteString(pad(next.Content))
			end++
		}
		kept := strings.TrimRight(text.String(), " ")
		d.text(row, x, utf8.RuneCountInString(kept), kept, l)
		x = end
	}
}

// text writes one text. A wide character is set in the middle of its columns as it is; everything else fills its columns.
func (d *svg) text(row, col, width int, text string, l look) {
	left, across := float64(col)*cellWidth, float64(width)*cellWidth
	where := fmt.Sprintf(`x="%s" y="%d" textLength="%s" lengthAdjust="spacingAndGlyphs"`, num(left), d.top(row)+svgBaseline, num(across))
	if width == 2 && !isLetter(text[:1]) {
		where = fmt.Sprintf(`x="%s" y="%d" text-anchor="middle"`, num(left+across/2), d.top(row)+svgBaseline)
	}
	fmt.Fprintf(&d.b, `<text %s fill="%s"%s>%s</text>`+"\n", where, hex(l.fg), svgAttrs(l), escape(text))
}

// isLetter says that a cell may stand in a text with others: an empty one, ASCII, and the alphabets in whose width all
// monospaced fonts agree (up to Cyrillic).
func isLetter(content string) bool {
	r, n := utf8.DecodeRuneInString(content)
	return n == len(content) && r < 0x530
}

func isShape(content string) bool {
	r, n := utf8.DecodeRuneInString(content)
	if n != len(content) {
		return false
	}
	_, ok := svgCanvas.figures(r)
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

// shapes draws the characters that are figures: those of one kind and colour are one path, so that lines which overlap a
// little are one area. It goes from row from to row to.
func (d *svg) shapes(from, to int) {
	var kinds []string
	paths := make(map[string]*strings.Builder)
	for y := from; y < to; y++ {
		for x := range d.cols {
			c, l := d.cell(y, x)
			if !isShape(c.Content) {
				continue
			}
			r, _ := utf8.DecodeRuneInString(c.Content)
			figures, _ := svgCanvas.figures(r)
			for _, f := range figures {
				kind := figureAttrs(f, l)
				if paths[kind] == nil {
					kinds, paths[kind] = append(kinds, kind), new(strings.Builder)
				}
				paths[kind].WriteString(figurePath(f, float64(x)*cellWidth, float64(d.top(y))))
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
		a += fmt.Sprintf(` fill-opacity="%s"`, num(f.opacity))
	}
	if f.points == nil && !f.stroke {
		a += ` shape-rendering="crispEdges"`
	}
	return a
}

// figurePath is a figure as a path (SVG 1.1, 8.3). Lines and polygons go a little over the edges that they reach.
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
		return fmt.Sprintf("M%s %sH%sV%sH%sz", num(x0), num(y0), num(x1), num(y1), num(x0))
	}
	var b strings.Builder
	for i, p := range clockwise(f.points) {
		b.WriteString(map[bool]string{true: "M", false: "L"}[i == 0])
		b.WriteString(num(left+over(p.x, cellWidth, true)) + " " + num(top+over(p.y, cellHeight, f.stroke)))
	}
	return b.String() + "z"
}

// clockwise is a polygon in the direction of the rectangles: two areas that overlap in opposite directions would leave a
// hole (SVG 1.1, 11.3, fill-rule nonzero).
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

// lines draws underlines, strike-through and overline of a row.
func (d *svg) lines(row int) {
	const marks = screen.Strike | screen.Overline
	alike := func(a, b look) bool {
		return a.underline == b.underline && a.line == b.line && a.fg == b.fg && a.attrs&marks == b.attrs&marks
	}
	d.runs(row, alike, func(from, to int, l look) {
		left, top, width := float64(from)*cellWidth, float64(d.top(row)), float64(to-from)*cellWidth
		line := func(y float64, c color.RGBA, extra string) {
			fmt.Fprintf(&d.b, `<path d="M%s %sh%s" stroke="%s"%s/>`+"\n", num(left), num(top+y), num(width), hex(c), extra)
		}
		switch l.underline {
		case screen.NoUnderline:
		case screen.SingleUnderline:
			line(svgBaseline+2, l.line, "")
		case screen.DoubleUnderline:
			line(svgBaseline+1.5, l.line, "")
			line(svgBaseline+3.5, l.line, "")
		case screen.CurlyUnderline:
			fmt.Fprintf(&d.b, `<path d="M%s %s`, num(left), num(top+svgBaseline+2))
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
	left, top, width, height := float64(at.col)*cellWidth, float64(d.top(at.row)), float64(at.width)*cellWidth, float64(cellHeight)
	switch at.kind {
	case underlineCursor:
		top, height = top+height-2, 2
	case barCursor:
		width = 2
	default:
		return
	}
	fmt.Fprintf(&d.b, `<rect x="%s" y="%s" width="%s" height="%s" fill="%s" shape-rendering="crispEdges"/>`+"\n",
		num(left), num(top), num(width), num(height), hex(d.cursorColor()))
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
