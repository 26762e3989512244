package pictures

import (
	"bytes"
	"fmt"
	"image"
	"image/png"
	"testing"

	"github.com/stretchr/testify/require"

	"terminalproxy/protocol"
	"terminalproxy/proxy/terminal/screen"
	"terminalproxy/proxy/terminal/screen/render"
)

// TestAPictureIsTheScreenItself: what a gateway draws from rows is what the terminal model draws by itself.
func TestAPictureIsTheScreenItself(t *testing.T) {
	for name, output := range map[string]string{
		"colours": "plain \x1b[31;1mred\x1b[0m\r\n\x1b[48;2;1;2;3m on blue \x1b[0m",
		"wide":    "日本語 e\u0301 🙂\r\n\x1b[7mreverse\x1b[m",
		"full":    "0123456789012345678\u65e5\r\n\x1b[4m01234567890123456789",
		"hidden":  "text\x1b[?25l",
		"line":    "text\x1b[4 q",
		"bar":     "text\x1b[6 q",
		"palette": "\x1b]4;1;#102030;200;#ff00ff\x1b\\\x1b]10;#111111\x1b\\\x1b]11;#fdf6e3\x1b\\text \x1b[31mred\x1b[48;5;200m x",
		"empty":   "",
	} {
		t.Run(name, func(t *testing.T) {
			s := screen.New(screen.Config{Cols: 20, Rows: 4})
			s.Feed([]byte(output))
			c := s.Cursor()
			p := protocol.Screen{Cols: 20, Rows: 4, Cursor: protocol.Cursor{Row: c.Row, Col: c.Col, Visible: c.Visible}}
			p.Cursor.Shape = map[int]string{4: protocol.CursorUnderline, 6: protocol.CursorBar}[c.Shape]
			s.EachPaletteChange(func(name string, r, g, b uint8) {
				p.Palette = append(p.Palette, protocol.Color{Name: name, RGB: fmt.Sprintf("#%02x%02x%02x", r, g, b)})
			})
			for i := range 4 {
				p.Lines = append(p.Lines, string(s.AppendRowANSI(nil, i)))
			}
			var svg, pixels, want bytes.Buffer
			require.NoError(t, Draw(&svg, "svg", p))
			require.Equal(t, render.SVG(s), svg.String())
			require.NoError(t, Draw(&pixels, "png", p))
			require.NoError(t, render.PNG(&want, s))
			require.Equal(t, want.Bytes(), pixels.Bytes())
			_, err := png.Decode(&pixels)
			require.NoError(t, err)
		})
	}
}

func TestOtherPicturesAreRefused(t *testing.T) {
	require.ErrorContains(t, Draw(&bytes.Buffer{}, "gif", protocol.Screen{Cols: 1, Rows: 1}), "png or svg")
	require.ErrorContains(t, Draw(&bytes.Buffer{}, "svg", protocol.Screen{Cols: 0, Rows: 1}), "size 0x1")
}

func TestAPictureForAModelIsSmall(t *testing.T) {
	for _, c := range []struct{ cols, rows, width int }{{80, 24, 9}, {240, 60, 6}} {
		pixels, cell, err := FitPNG(protocol.Screen{Cols: c.cols, Rows: c.rows, Lines: []string{"x"}}, 1568)
		require.NoError(t, err)
		require.Equal(t, image.Pt(c.width, 2*c.width), cell)
		size, err := png.DecodeConfig(bytes.NewReader(pixels))
		require.NoError(t, err)
		require.Equal(t, []int{c.cols * cell.X, c.rows * cell.Y}, []int{size.Width, size.Height})
	}
	require.Equal(t, 2, MissingGlyphs(protocol.Screen{Cols: 9, Rows: 1, Lines: []string{"\x1b[31m漢字 x"}}))
	require.Zero(t, MissingGlyphs(protocol.Screen{Cols: -1, Rows: 1}))
	_, _, err := FitPNG(protocol.Screen{Cols: 1000, Rows: 10}, 1568)
	require.ErrorContains(t, err, "at most 392 and 196")
	_, _, err = FitPNG(protocol.Screen{Cols: -1, Rows: 10}, 1568)
	require.ErrorContains(t, err, "size -1x10")
}

// TestNoColoursArePassedOver: the palette comes over a wire, and nothing of it may reach a picture but colours.
func TestNoColoursArePassedOver(t *testing.T) {
	draw := func(palette ...protocol.Color) []byte {
		pixels, _, err := FitPNG(protocol.Screen{Cols: 9, Rows: 1, Lines: []string{"x"}, Palette: palette}, 1568)
		require.NoError(t, err)
		return pixels
	}
	for _, c := range []protocol.Color{
		{},
		{Name: "background"},
		{Name: "background", RGB: "#12345"},
		{Name: "background", RGB: "#12345\x07"},
		{Name: "256", RGB: "#123456"},
		{Name: "-1", RGB: "#123456"},
		{Name: "0;#fff\x07text", RGB: "#123456"},
		{Name: "background", RGB: "red"},
		{Name: "background", RGB: "#1234567"},
	} {
		require.Equal(t, draw(), draw(c), "%q", c)
	}
	require.NotEqual(t, draw(), draw(protocol.Color{Name: "background", RGB: "#123456"}))
}
