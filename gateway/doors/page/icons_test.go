package page_test

import (
	"bytes"
	"flag"
	"image"
	"image/color"
	"image/png"
	"math"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

var update = flag.Bool("update", false, "draw the icons anew")

// icon draws icon.svg on a square of 32 units.
type icon struct {
	name   string
	size   int     // pixels
	corner float64 // radius of the square, in units
	scale  float64 // of the letters about the middle
}

var icons = []icon{
	{"icon-192.png", 192, 7, 1},
	{"icon-512.png", 512, 7, 1},
	{"icon-maskable-512.png", 512, 0, 0.8}, // all of it within the safe zone
	{"icon-180.png", 180, 0, 0.9},
}

// strokes are the lines of icon.svg: from, to, and whether the line is the amber one.
var strokes = []struct {
	x0, y0, x1, y1 float64
	amber          bool
}{{8, 10, 14, 16, false}, {14, 16, 8, 22, false}, {17, 22, 25, 22, true}}

// near reports whether a point is on a stroke of a width of 3.
func near(x, y, x0, y0, x1, y1 float64) bool {
	dx, dy := x1-x0, y1-y0
	t := math.Max(0, math.Min(1, ((x-x0)*dx+(y-y0)*dy)/(dx*dx+dy*dy)))
	return math.Hypot(x-x0-t*dx, y-y0-t*dy) <= 1.5
}

// at returns the colour of a point.
func (i icon) at(x, y float64) color.NRGBA {
	lx, ly := 16+(x-16)/i.scale, 16+(y-16)/i.scale
	for _, s := range strokes {
		switch {
		case !near(lx, ly, s.x0, s.y0, s.x1, s.y1):
		case s.amber:
			return color.NRGBA{0xff, 0xb3, 0x40, 255}
		default:
			return color.NRGBA{0xe6, 0xe9, 0xec, 255}
		}
	}
	cx, cy := math.Max(i.corner-x, x-32+i.corner), math.Max(i.corner-y, y-32+i.corner)
	if cx > 0 && cy > 0 && math.Hypot(cx, cy) > i.corner {
		return color.NRGBA{}
	}
	return color.NRGBA{0x0d, 0x0f, 0x11, 255}
}

// draw samples 16 points for each pixel.
func (i icon) draw() image.Image {
	img := image.NewNRGBA(image.Rect(0, 0, i.size, i.size))
	const side = 4
	for py := range i.size {
		for px := range i.size {
			var r, g, b, a int
			for n := range side * side {
				c := i.at((float64(px)+(float64(n%side)+0.5)/side)*32/float64(i.size), (float64(py)+(float64(n/side)+0.5)/side)*32/float64(i.size))
				w := int(c.A)
				r, g, b, a = r+int(c.R)*w, g+int(c.G)*w, b+int(c.B)*w, a+w
			}
			if a > 0 {
				img.SetNRGBA(px, py, color.NRGBA{uint8(r / a), uint8(g / a), uint8(b / a), uint8(a / side / side)}) //nolint:gosec // means of bytes
			}
		}
	}
	return img
}

// A phone needs pictures of icon.svg. This test draws them; they have no other source.
func TestTheIconsAreDrawn(t *testing.T) {
	for _, i := range icons {
		path, want := filepath.Join("static", i.name), i.draw()
		if *update {
			var b bytes.Buffer
			require.NoError(t, (&png.Encoder{CompressionLevel: png.BestCompression}).Encode(&b, want))
			require.NoError(t, os.WriteFile(path, b.Bytes(), 0o600))
		}
		file, err := os.Open(path)
		require.NoError(t, err)
		defer func() { _ = file.Close() }()
		got, err := png.Decode(file)
		require.NoError(t, err)
		require.Equal(t, want.Bounds(), got.Bounds())
		for y := range i.size {
			for x := range i.size {
				if w, g := want.At(x, y), color.NRGBAModel.Convert(got.At(x, y)); w != g {
					require.Equal(t, w, g, "%s at %d, %d: go test ./gateway/doors/page -run Icons -update", i.name, x, y)
				}
			}
		}
	}
}
