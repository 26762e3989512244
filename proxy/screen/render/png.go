package render

import (
	"fmt"
	"image"
	"image/color"
	"image/draw"
	"image/png"
	"io"
	"sync"
	"unicode/utf8"

	"golang.org/x/image/font"
	"golang.org/x/image/font/gofont/gomono"
	"golang.org/x/image/font/gofont/gomonobold"
	"golang.org/x/image/font/opentype"
	"golang.org/x/image/math/fixed"

	"terminalproxy/proxy/screen"
)

// The cell of a PNG in pixels.
const (
	pngWidth    = 9
	pngHeight   = 18
	pngBaseline = 14
	pngSize     = 15 // gomono is 0.6 as wide as it is high
	// maxPixels bounds a picture: 1000 by 1000 cells would take 600 MB.
	maxPixels = 40_000_000
)

// faces are the fonts, regular and bold. Parsing them takes longer than drawing, so it happens once.
var faces = sync.OnceValues(func() ([2]font.Face, error) {
	var both [2]font.Face
	for i, ttf := range [][]byte{gomono.TTF, gomonobold.TTF} {
		f, err := opentype.Parse(ttf)
		if err != nil {
			return both, fmt.Errorf("parse the font: %w", err)
		}
		if both[i], err = opentype.NewFace(f, &opentype.FaceOptions{Size: pngSize, DPI: 72, Hinting: font.HintingFull}); err != nil {
			return both, fmt.Errorf("open the font: %w", err)
		}
	}
	return both, nil
})

// drawing guards the faces, which keep a glyph buffer.
var drawing sync.Mutex

// PNG draws the screen with the Go Mono font. Box drawing, blocks and braille are drawn as shapes, without seams; a
// character that the font lacks is a frame in its columns.
func PNG(w io.Writer, s *screen.Screen) error {
	cols, rows := s.Size()
	if cols*pngWidth*rows*pngHeight > maxPixels {
		return fmt.Errorf("a picture of %d by %d cells would be too large: use SVG", cols, rows)
	}
	both, err := faces()
	if err != nil {
		return err
	}
	drawing.Lock()
	defer drawing.Unlock()
	p := painter{img: image.NewRGBA(image.Rect(0, 0, cols*pngWidth, rows*pngHeight)), faces: both, s: s}
	for y := range rows {
		for x := range cols {
			if c := s.Cell(y, x); c.Width > 0 {
				p.cell(y, x, c)
			}
		}
	}
	p.cursor()
	if err := png.Encode(w, p.img); err != nil {
		return fmt.Errorf("encode the picture: %w", err)
	}
	return nil
}

// painter draws one picture.
type painter struct {
	img   *image.RGBA
	faces [2]font.Face
	s     *screen.Screen
}

func (p *painter) fill(r image.Rectangle, c color.Color) {
	draw.Draw(p.img, r, image.NewUniform(c), image.Point{}, draw.Src)
}

// parseHex reads the #rrggbb that resolve returns.
func parseHex(s string) color.RGBA {
	var c color.RGBA
	_, _ = fmt.Sscanf(s, "#%02x%02x%02x", &c.R, &c.G, &c.B) // it is our own
	c.A = 0xff
	return c
}

func (p *painter) cell(y, x int, c screen.Cell) {
	look := resolve(p.s, c.Style)
	box := image.Rect(x*pngWidth, y*pngHeight, (x+c.Width)*pngWidth, (y+1)*pngHeight)
	bg, fg := parseHex(look.bg), parseHex(look.fg)
	if c.Style.Attrs&screen.Faint != 0 {
		fg = mix(fg, bg)
	}
	p.fill(box, bg)
	if r, _ := utf8.DecodeRuneInString(c.Content); c.Content != "" && r != ' ' {
		if !p.shape(box, r, fg) {
			p.glyph(box, c, r, fg)
		}
	}
	p.lines(box, c.Style, fg, parseHex(look.line))
}

func mix(a, b color.RGBA) color.RGBA {
	half := func(a, b uint8) uint8 { return uint8((3*int(a) + 2*int(b)) / 5) }
	return color.RGBA{half(a.R, b.R), half(a.G, b.G), half(a.B, b.B), 0xff}
}

// glyph draws a character with the font: the first one of a cluster, and the marks that the font has.
func (p *painter) glyph(box image.Rectangle, c screen.Cell, r rune, fg color.RGBA) {
	face := p.faces[0]
	if c.Style.Attrs&screen.Bold != 0 {
		face = p.faces[1]
	}
	if _, ok := face.GlyphAdvance(r); !ok || c.Width == 2 {
		p.frame(box.Inset(2), fg)
		return
	}
	d := font.Drawer{Dst: p.img, Src: image.NewUniform(fg), Face: face, Dot: fixed.P(box.Min.X, box.Min.Y+pngBaseline)}
	d.DrawString(string(r))
}

func (p *painter) frame(r image.Rectangle, c color.RGBA) {
	p.fill(image.Rect(r.Min.X, r.Min.Y, r.Max.X, r.Min.Y+1), c)
	p.fill(image.Rect(r.Min.X, r.Max.Y-1, r.Max.X, r.Max.Y), c)
	p.fill(image.Rect(r.Min.X, r.Min.Y, r.Min.X+1, r.Max.Y), c)
	p.fill(image.Rect(r.Max.X-1, r.Min.Y, r.Max.X, r.Max.Y), c)
}

// lines draws underlines, strike-through and overline.
func (p *painter) lines(box image.Rectangle, st screen.Style, fg, under color.RGBA) {
	line := func(y int, c color.RGBA, on func(x int) bool) {
		for x := box.Min.X; x < box.Max.X; x++ {
			if on(x) {
				p.img.SetRGBA(x, box.Min.Y+y, c)
			}
		}
	}
	always := func(int) bool { return true }
	switch st.Underline {
	case screen.NoUnderline:
	case screen.SingleUnderline:
		line(pngBaseline+2, under, always)
	case screen.DoubleUnderline:
		line(pngBaseline+1, under, always)
		line(pngBaseline+3, under, always)
	case screen.CurlyUnderline:
		line(pngBaseline+2, under, func(x int) bool { return x%4 < 2 })
		line(pngBaseline+3, under, func(x int) bool { return x%4 >= 2 })
	case screen.DottedUnderline:
		line(pngBaseline+2, under, func(x int) bool { return x%2 == 0 })
	case screen.DashedUnderline:
		line(pngBaseline+2, under, func(x int) bool { return x%6 < 4 })
	}
	if st.Attrs&screen.Strike != 0 {
		line(pngHeight/2, fg, always)
	}
	if st.Attrs&screen.Overline != 0 {
		line(0, fg, always)
	}
}

// cursor inverts the cell under the cursor.
func (p *painter) cursor() {
	c := p.s.Cursor()
	if !c.Visible {
		return
	}
	width := max(p.s.Cell(c.Row, c.Col).Width, 1)
	for y := c.Row * pngHeight; y < (c.Row+1)*pngHeight; y++ {
		for x := c.Col * pngWidth; x < (c.Col+width)*pngWidth; x++ {
			v := p.img.RGBAAt(x, y)
			p.img.SetRGBA(x, y, color.RGBA{^v.R, ^v.G, ^v.B, 0xff})
		}
	}
}
