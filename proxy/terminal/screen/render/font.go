package render

import (
	"bytes"
	"compress/gzip"
	_ "embed"
	"fmt"
	"image"
	"image/draw"
	"io"
	"math"
	"strings"
	"sync"

	_ "github.com/go-fonts/dejavu" // the fonts are its own: this keeps it among what a release lists
	"golang.org/x/image/font"
	"golang.org/x/image/font/opentype"
	"golang.org/x/image/font/sfnt"
	"golang.org/x/image/math/fixed"
	"golang.org/x/image/vector"
)

// fonts are the embedded ones, regular and bold. Parsing takes a moment, so it happens once, when a
// picture is wanted.
var fonts = sync.OnceValues(func() ([2]*sfnt.Font, error) {
	var both [2]*sfnt.Font
	for i, packed := range [][]byte{regularFont, boldFont} {
		ttf, err := inflate(packed)
		if err == nil {
			both[i], err = opentype.Parse(ttf)
		}
		if err != nil {
			return both, fmt.Errorf("read the font: %w", err)
		}
	}
	return both, nil
})

// The fonts DejaVu Sans Mono and its bold form, as their module has them, in gzip.
var (
	//go:embed fonts/DejaVuSansMono.ttf.gz
	regularFont []byte
	//go:embed fonts/DejaVuSansMono-Bold.ttf.gz
	boldFont []byte
)

func inflate(packed []byte) ([]byte, error) {
	z, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		return nil, err
	}
	return io.ReadAll(z)
}

// mask is how much of each pixel a glyph covers, in sixteen steps: few colours make a small
// picture. Its rectangle is relative to the upper left corner of the cell.
type mask struct{ *image.Alpha }

// glyphKey names a mask: a character, as the font or as shapes draw it.
type glyphKey struct {
	r            rune
	bold, italic bool
	width        int // columns
}

// maxGlyphs bounds the masks that are kept; a screen has a few hundred.
const maxGlyphs = 4096

// sheet has the masks for cells of one size. It is not safe for use by more than one goroutine at
// once.
type sheet struct {
	size   image.Point // of a cell in pixels
	base   int         // the baseline, from the top of the cell
	fonts  [2]*sfnt.Font
	faces  [2]font.Face
	buf    sfnt.Buffer
	raster *vector.Rasterizer
	masks  map[glyphKey]*mask
}

// The advance of the font and the place of its baseline, in parts of its size and of the cell's
// height.
const (
	advance  = 0.602
	baseline = 0.78
)

func newSheet(cell image.Point) (*sheet, error) {
	both, err := fonts()
	if err != nil {
		return nil, err
	}
	s := &sheet{
		size: cell, base: int(math.Round(baseline * float64(cell.Y))), fonts: both,
		raster: vector.NewRasterizer(cell.X, cell.Y), masks: make(map[glyphKey]*mask),
	}
	for i, f := range both {
		s.faces[i], err = opentype.NewFace(f, &opentype.FaceOptions{
			Size: float64(cell.X) / advance, DPI: 72, Hinting: font.HintingNone,
		})
		if err != nil {
			return nil, fmt.Errorf("open the font: %w", err)
		}
	}
	return s, nil
}

// glyphMask returns the mask of a character: shapes, the font's glyph, or its number if the font
// lacks it. Marks of a cluster are glyphs of their own; hasGlyph says whether the font has them.
func (s *sheet) glyphMask(k glyphKey) *mask {
	if m, ok := s.masks[k]; ok {
		return m
	}
	if len(s.masks) >= maxGlyphs {
		clear(s.masks)
	}
	c := canvas{float64(s.size.X * k.width), float64(s.size.Y), math.Max(1, math.Round(float64(s.size.X)/9))}
	var m *mask
	if figures, ok := c.figuresFor(k.r); ok {
		m = s.shapeMask(c, figures)
	} else if s.hasGlyph(k.r) {
		m = s.letterMask(k)
	} else {
		m = s.numberMask(k)
	}
	s.masks[k] = m
	return m
}

func (s *sheet) hasGlyph(r rune) bool {
	i, err := s.fonts[0].GlyphIndex(&s.buf, r)
	return err == nil && i != 0
}

// lacksGlyph reports whether a character is shown as its number.
func (s *sheet) lacksGlyph(r rune) bool {
	_, shaped := canvas{float64(s.size.X), float64(s.size.Y), 1}.figuresFor(r)
	return !shaped && !s.hasGlyph(r)
}

// letterMask returns the font's glyph, in the middle of its columns, slanted if the text is italic.
func (s *sheet) letterMask(k glyphKey) *mask {
	face := s.faces[0]
	if i, err := s.fonts[1].GlyphIndex(&s.buf, k.r); k.bold && err == nil && i != 0 {
		face = s.faces[1]
	}
	bounds, src, from, _, ok := face.Glyph(fixed.P((k.width-1)*s.size.X/2, s.base), k.r)
	if !ok || bounds.Empty() {
		return newMask(image.Rectangle{})
	}
	flat := image.NewAlpha(bounds)
	draw.Draw(flat, bounds, src, from, draw.Src)
	m := newMask(bounds)
	if k.italic {
		m = newMask(image.Rect(bounds.Min.X-s.size.Y/4, bounds.Min.Y, bounds.Max.X+s.size.Y/4, bounds.Max.Y))
	}
	for y := bounds.Min.Y; y < bounds.Max.Y; y++ {
		shift := 0.0
		if k.italic {
			shift = (float64(s.base)*.65 - float64(y)) / 5
		}
		whole := math.Floor(shift)
		part := shift - whole
		for x := bounds.Min.X; x < bounds.Max.X; x++ {
			a := float64(flat.AlphaAt(x, y).A)
			m.addCover(x+int(whole), y, a*(1-part))
			m.addCover(x+int(whole)+1, y, a*part)
		}
	}
	return m.roundToSteps()
}

func newMask(r image.Rectangle) *mask { return &mask{image.NewAlpha(r)} }

// addCover lets more of a pixel be covered, from 0 to 255.
func (m *mask) addCover(x, y int, a float64) {
	if a > 0 && (image.Point{x, y}).In(m.Rect) {
		p := &m.Pix[m.PixOffset(x, y)]
		*p = uint8(min(255, math.Round(float64(*p)+a)))
	}
}

// roundToSteps rounds to the sixteen steps.
func (m *mask) roundToSteps() *mask {
	for i, a := range m.Pix {
		m.Pix[i] = uint8((int(a) + 8) / 17 * 17)
	}
	return m
}

// shapeMask returns the mask of figures. Rectangles stand on whole pixels.
func (s *sheet) shapeMask(c canvas, figures []figure) *mask {
	m := newMask(image.Rect(0, 0, int(c.w), int(c.h)))
	for _, f := range figures {
		if f.points != nil {
			s.drawPolygon(m, f)
			continue
		}
		for y := int(math.Round(f.y0)); y < int(math.Round(f.y1)); y++ {
			for x := int(math.Round(f.x0)); x < int(math.Round(f.x1)); x++ {
				m.addCover(x, y, 255*f.opacity)
			}
		}
	}
	return m.roundToSteps()
}

func (s *sheet) drawPolygon(m *mask, f figure) {
	s.raster.Reset(m.Rect.Dx(), m.Rect.Dy())
	for i, p := range f.points {
		if i == 0 {
			s.raster.MoveTo(float32(p.x), float32(p.y))
		} else {
			s.raster.LineTo(float32(p.x), float32(p.y))
		}
	}
	s.raster.ClosePath()
	flat := image.NewAlpha(m.Rect)
	s.raster.Draw(flat, m.Rect, image.Opaque, image.Point{})
	for i, a := range flat.Pix {
		m.Pix[i] = max(m.Pix[i], a)
	}
}

// digits are the hexadecimal digits in three by five pixels, a row of three bits after another.
var digits = [16][5]uint8{
	{7, 5, 5, 5, 7},
	{2, 6, 2, 2, 7},
	{7, 1, 7, 4, 7},
	{7, 1, 7, 1, 7},
	{5, 5, 7, 1, 1},
	{7, 4, 7, 1, 7},
	{7, 4, 7, 5, 7},
	{7, 1, 2, 2, 2},
	{7, 5, 7, 5, 7},
	{7, 5, 7, 1, 7},
	{2, 5, 7, 5, 5},
	{6, 5, 6, 5, 6},
	{7, 4, 4, 4, 7},
	{6, 5, 5, 5, 6},
	{7, 4, 7, 4, 7},
	{7, 4, 7, 4, 4},
}

// numberMask stands for a character that the font lacks: the hexadecimal digits of its number, two
// or three in a row, in a frame where there is room. A cell too small for them has the frame alone.
func (s *sheet) numberMask(k glyphKey) *mask {
	m := newMask(image.Rect(0, 0, s.size.X*k.width, s.size.Y))
	across, text := 2, fmt.Sprintf("%04X", k.r)
	if k.width > 1 {
		across = 3
	}
	down := (len(text) + across - 1) / across
	wide, high := across*4-1, down*6-1
	frame := m.Rect.Inset(1)
	if wide > m.Rect.Dx()-2 || high > m.Rect.Dy()-2 {
		m.drawFrame(frame)
		return m
	}
	if wide <= frame.Dx()-4 {
		m.drawFrame(frame)
	}
	left, top := (m.Rect.Dx()-wide)/2, (m.Rect.Dy()-high)/2
	for i, c := range text {
		digit := digits[strings.IndexRune("0123456789ABCDEF", c)]
		for y, row := range digit {
			for x := range 3 {
				if row&(4>>x) != 0 {
					m.addCover(left+i%across*4+x, top+i/across*6+y, 255)
				}
			}
		}
	}
	return m
}

func (m *mask) drawFrame(r image.Rectangle) {
	for x := r.Min.X; x < r.Max.X; x++ {
		m.addCover(x, r.Min.Y, 255)
		m.addCover(x, r.Max.Y-1, 255)
	}
	for y := r.Min.Y + 1; y < r.Max.Y-1; y++ {
		m.addCover(r.Min.X, y, 255)
		m.addCover(r.Max.X-1, y, 255)
	}
}
