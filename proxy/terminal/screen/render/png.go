package render

import (
	"fmt"
	"image"
	"image/color"
	"image/png"
	"io"
	"sync"
	"unicode"
	"unicode/utf8"

	"terminalproxy/proxy/terminal/screen"
)

// The widths of a cell in pixels; it is twice as high. The first is what a picture has if nothing
// else is wanted.
const (
	widest    = 9
	narrowest = 4
	// maxPixels bounds a picture: 1000 by 1000 cells would take 600 MB.
	maxPixels = 40_000_000
)

// drawing guards the sheets.
var (
	drawing sync.Mutex
	sheets  = make(map[int]*sheet) // by the width of a cell
)

// PNG draws the screen with cells of 9 by 18 pixels. Characters that meet their neighbours are
// drawn as shapes, without seams; one that the font lacks is its number in hexadecimal digits. It
// may be called from any goroutine and draws one picture at a time.
func PNG(w io.Writer, s *screen.Screen) error {
	cols, rows := s.Size()
	if cols*rows*widest*2*widest > maxPixels {
		return fmt.Errorf("a picture of %d by %d cells would be too large: use SVG", cols, rows)
	}
	return drawPNG(w, s, widest)
}

// FitPNG is PNG in a square of side pixels: with smaller cells, where that has to be, and an error
// where even the smallest do not fit. It returns the size of a cell.
func FitPNG(w io.Writer, s *screen.Screen, side int) (cell image.Point, err error) {
	cols, rows := s.Size()
	for width := widest; width >= narrowest; width-- {
		if cols*width <= side && rows*2*width <= side {
			return image.Pt(width, 2*width), drawPNG(w, s, width)
		}
	}
	return image.Point{}, fmt.Errorf(
		"the screen has %d columns and %d rows, a picture of %d pixels shows at most %d and %d",
		cols, rows, side, side/narrowest, side/narrowest/2,
	)
}

func drawPNG(w io.Writer, s *screen.Screen, width int) error {
	img, err := paint(s, width)
	if err != nil {
		return err
	}
	if err := png.Encode(w, withPalette(img)); err != nil {
		return fmt.Errorf("encode the picture: %w", err)
	}
	return nil
}

// CountMissingGlyphs counts the characters of the screen that a picture in pixels shows as their
// numbers, since the font lacks them. It may be called from any goroutine.
func CountMissingGlyphs(s *screen.Screen) (n int, err error) {
	drawing.Lock()
	defer drawing.Unlock()
	glyphs, err := sheetLocked(widest)
	if err != nil {
		return 0, err
	}
	p := painter{sheet: glyphs, view: newView(s)}
	p.eachCell(func(_ image.Rectangle, c screen.Cell, _ look) {
		if r, _ := utf8.DecodeRuneInString(c.Content); c.Content != "" && r != ' ' &&
			p.lacksGlyph(r) {
			n++
		}
	})
	return n, nil
}

// sheetLocked returns the sheet for cells of a width.
func sheetLocked(width int) (*sheet, error) {
	if s := sheets[width]; s != nil {
		return s, nil
	}
	s, err := newSheet(image.Pt(width, 2*width))
	if err == nil {
		sheets[width] = s
	}
	return s, err
}

func paint(s *screen.Screen, width int) (*image.RGBA, error) {
	drawing.Lock()
	defer drawing.Unlock()
	glyphs, err := sheetLocked(width)
	if err != nil {
		return nil, err
	}
	p := painter{sheet: glyphs, view: newView(s)}
	p.img = image.NewRGBA(image.Rect(0, 0, p.cols*p.size.X, p.rows*p.size.Y))
	// Backgrounds come first: a glyph may reach over its cell.
	p.eachCell(func(box image.Rectangle, _ screen.Cell, l look) { p.fillBox(box, l.bg) })
	p.eachCell(p.drawContent)
	p.lineCursor()
	return p.img, nil
}

// painter draws one picture.
type painter struct {
	*sheet
	view
	img *image.RGBA
}

// eachCell calls do for every cell with what it covers.
func (p *painter) eachCell(do func(box image.Rectangle, c screen.Cell, l look)) {
	for y := range p.rows {
		for x := range p.cols {
			if c, l := p.cellLook(y, x); c.Width > 0 {
				do(p.cellBox(y, x, c.Width), c, l)
			}
		}
	}
}

func (p *painter) cellBox(row, col, width int) image.Rectangle {
	return image.Rect(col*p.size.X, row*p.size.Y, (col+width)*p.size.X, (row+1)*p.size.Y)
}

func (p *painter) fillBox(r image.Rectangle, c color.RGBA) {
	r = r.Intersect(p.img.Rect)
	for y := r.Min.Y; y < r.Max.Y; y++ {
		row := p.img.Pix[p.img.PixOffset(r.Min.X, y):p.img.PixOffset(r.Max.X, y)]
		for ; len(row) > 0; row = row[4:] {
			row[0], row[1], row[2], row[3] = c.R, c.G, c.B, c.A
		}
	}
}

// drawContent draws the first character of a cluster, the marks that the font has, and lines.
func (p *painter) drawContent(box image.Rectangle, c screen.Cell, l look) {
	r, size := utf8.DecodeRuneInString(c.Content)
	if c.Content != "" && r != ' ' {
		bold, italic := l.attrs&screen.Bold != 0, l.attrs&screen.Italic != 0
		k := glyphKey{r: r, bold: bold, italic: italic, width: c.Width}
		p.blendMask(p.glyphMask(k), box.Min, l.fg)
		for _, k.r = range c.Content[size:] {
			if unicode.Is(unicode.Mn, k.r) && p.hasGlyph(k.r) {
				p.blendMask(p.glyphMask(k), box.Min, l.fg)
			}
		}
	}
	p.drawLines(box, l)
}

// blendMask puts a colour over the pixels that a mask covers.
func (p *painter) blendMask(m *mask, at image.Point, c color.RGBA) {
	r := m.Rect.Add(at)
	in := r.Intersect(p.img.Rect)
	for y := in.Min.Y; y < in.Max.Y; y++ {
		cover := m.Pix[(y-r.Min.Y)*r.Dx()+in.Min.X-r.Min.X:][:in.Dx()]
		row := p.img.Pix[p.img.PixOffset(in.Min.X, y):]
		for i, a := range cover {
			switch px := row[4*i : 4*i+3]; a {
			case 0:
			case 255:
				px[0], px[1], px[2] = c.R, c.G, c.B
			default:
				px[0], px[1], px[2] = over(c.R, px[0], a), over(c.G, px[1], a), over(c.B, px[2], a)
			}
		}
	}
}

func over(above, below, a uint8) uint8 {
	return uint8((int(above)*int(a) + int(below)*(255-int(a)) + 127) / 255)
}

// drawLines draws underlines, strike-through and overline. The patterns go on from cell to cell.
func (p *painter) drawLines(box image.Rectangle, l look) {
	thick := max(1, p.size.X/9)
	line := func(y int, c color.RGBA, on func(x int) bool) {
		y = min(box.Min.Y+y, box.Max.Y-thick)
		for x := box.Min.X; x < box.Max.X; x++ {
			if on == nil || on(x) {
				p.fillBox(image.Rect(x, y, x+1, y+thick), c)
			}
		}
	}
	switch l.underline {
	case screen.NoUnderline:
	case screen.SingleUnderline:
		line(p.base+2, l.line, nil)
	case screen.DoubleUnderline:
		line(p.base+1, l.line, nil)
		line(p.base+3, l.line, nil)
	case screen.CurlyUnderline:
		for i, height := range [6]int{3, 3, 2, 1, 1, 2} {
			line(p.base+height, l.line, func(x int) bool { return x%6 == i })
		}
	case screen.DottedUnderline:
		line(p.base+2, l.line, func(x int) bool { return x%2 == 0 })
	case screen.DashedUnderline:
		line(p.base+2, l.line, func(x int) bool { return x%6 < 4 })
	}
	if l.attrs&screen.Strike != 0 {
		line(box.Dy()/2, l.fg, nil)
	}
	if l.attrs&screen.Overline != 0 {
		line(0, l.fg, nil)
	}
}

// lineCursor draws a cursor that is a line; a block is in the look of its cell.
func (p *painter) lineCursor() {
	at := p.cursor
	box := p.cellBox(at.row, at.col, at.width)
	switch at.kind {
	case underlineCursor:
		box.Min.Y = box.Max.Y - max(1, box.Dy()/9)
	case barCursor:
		box.Max.X = box.Min.X + max(1, p.size.X/4)
	default:
		return
	}
	p.fillBox(box, p.cursorColor())
}

// withPalette returns the picture with a palette if it has at most 256 colours, as most screens
// have: such a file is smaller, and written in less time.
func withPalette(img *image.RGBA) image.Image {
	const slots = 1024
	var keys [slots]uint32
	var index [slots]uint8
	colors := make(color.Palette, 0, 256)
	out := image.NewPaletted(img.Rect, nil)
	last, at := uint32(0), uint8(0) // no pixel is 0: all are opaque
	for i := range out.Pix {
		px := img.Pix[4*i : 4*i+4]
		key := uint32(px[0]) | uint32(px[1])<<8 | uint32(px[2])<<16 | uint32(px[3])<<24
		if key != last {
			slot := key * 2654435761 >> 22
			for keys[slot] != 0 && keys[slot] != key {
				slot = (slot + 1) % slots
			}
			if keys[slot] == 0 {
				if len(colors) == 256 {
					return img
				}
				keys[slot], index[slot] = key, uint8(len(colors))
				colors = append(colors, color.RGBA{px[0], px[1], px[2], px[3]})
			}
			last, at = key, index[slot]
		}
		out.Pix[i] = at
	}
	out.Palette = colors
	return out
}
