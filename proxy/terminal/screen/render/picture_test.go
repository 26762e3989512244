package render_test

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"io"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"terminalproxy/proxy/terminal/screen"
	"terminalproxy/proxy/terminal/screen/render"
)

// The cell of a PNG, and a terminal's default colours.
const cellWidth, cellHeight = 9, 18

var (
	ink   = color.RGBA{0xe5, 0xe5, 0xe5, 0xff}
	paper = color.RGBA{0, 0, 0, 0xff}
)

func play(t testing.TB, cols, rows int, output string) *screen.Screen {
	t.Helper()
	s, err := render.Play([]byte(output), render.Options{Cols: cols, Rows: rows})
	require.NoError(t, err)
	return s
}

// pixels returns a picture without a cursor.
func pixels(t testing.TB, cols, rows int, output string) *image.RGBA {
	t.Helper()
	return decode(t, func(w io.Writer) error { return render.PNG(w, play(t, cols, rows, output+"\x1b[?25l")) })
}

func decode(t testing.TB, write func(io.Writer) error) *image.RGBA {
	t.Helper()
	var b bytes.Buffer
	require.NoError(t, write(&b))
	img, err := png.Decode(&b)
	require.NoError(t, err)
	out := image.NewRGBA(img.Bounds())
	for y := range out.Rect.Dy() {
		for x := range out.Rect.Dx() {
			out.Set(x, y, img.At(x, y))
		}
	}
	return out
}

// within returns the pixels of a cell.
func within(img *image.RGBA, row, col int) *image.RGBA {
	r := image.Rect(col*cellWidth, row*cellHeight, (col+1)*cellWidth, (row+1)*cellHeight)
	return img.SubImage(r).(*image.RGBA)
}

func count(img *image.RGBA, c color.RGBA) (n int) {
	for y := img.Rect.Min.Y; y < img.Rect.Max.Y; y++ {
		for x := img.Rect.Min.X; x < img.Rect.Max.X; x++ {
			if img.RGBAAt(x, y) == c {
				n++
			}
		}
	}
	return n
}

func TestPNGHasTheColoursOfEveryCell(t *testing.T) {
	var out strings.Builder
	for i := range 256 {
		fmt.Fprintf(&out, "\x1b[48;5;%dm ", i)
	}
	out.WriteString("\x1b[48;2;1;2;3m \x1b[0;31m█\x1b[1m█\x1b[0;31;44;7m \x1b[0;2m█\x1b[0m")
	s := play(t, 16, 17, out.String())
	img := pixels(t, 16, 17, out.String())
	for i := range 256 {
		r, g, b := s.ResolveColor(screen.Indexed(uint8(i)), false)
		require.Equal(t, cellWidth*cellHeight, count(within(img, i/16, i%16), color.RGBA{r, g, b, 0xff}), "colour %d", i)
	}
	for col, want := range []color.RGBA{{1, 2, 3, 0xff}, {0xcd, 0, 0, 0xff}, {0xff, 0, 0, 0xff}, {0xcd, 0, 0, 0xff}, {0x89, 0x89, 0x89, 0xff}, paper} {
		require.Equal(t, cellWidth*cellHeight, count(within(img, 16, col), want), "column %d of the last row", col)
	}
}

// frames are boxes in every kind of line, with a cross in the middle.
var frames = []string{
	"┌┬┐├┼┤└┴┘", "┏┳┓┣╋┫┗┻┛", "╔╦╗╠╬╣╚╩╝", "╭┬╮├┼┤╰┴╯", "╒╤╕╞╪╡╘╧╛", "╓╥╖╟╫╢╙╨╜", "┍┯┑┝┿┥┕┷┙", "┎┰┒┠╂┨┖┸┚", "┌─┐│ │└─┘", "╭─╮│ │╰─╯", "┏━┓┃ ┃┗━┛",
}

// At every size of a cell a box is a ring without a gap: its outside does not flow into it.
func TestBoxesAreClosed(t *testing.T) {
	for _, frame := range frames {
		cells := []rune(frame)
		out := "\x1b[?25l"
		for row := range 3 {
			out += fmt.Sprintf("\x1b[%d;2H%s", row+2, string(cells[row*3:row*3+3]))
		}
		s := play(t, 5, 5, out)
		for side := 5 * 8; side <= 5*2*cellWidth; side += 10 {
			var cell image.Point
			img := decode(t, func(w io.Writer) (err error) { cell, err = render.FitPNG(w, s, side); return err })
			require.Equal(t, side/10, cell.X)
			flood(img, image.Pt(0, 0))
			inside := image.Pt(2*cell.X, 2*cell.Y).Add(cell.Div(4))
			require.NotEqual(t, color.RGBA{0xff, 0, 0xff, 0xff}, img.RGBAAt(inside.X, inside.Y), "%s at %v", frame, cell)
			require.NotEqual(t, paper, img.RGBAAt(0, 0))
		}
	}
}

// flood paints everything that can be reached from a point over unlit pixels, also across corners.
func flood(img *image.RGBA, from image.Point) {
	for todo := []image.Point{from}; len(todo) > 0; {
		p := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		if !p.In(img.Rect) || img.RGBAAt(p.X, p.Y) != paper {
			continue
		}
		img.SetRGBA(p.X, p.Y, color.RGBA{0xff, 0, 0xff, 0xff})
		for dy := -1; dy <= 1; dy++ {
			for dx := -1; dx <= 1; dx++ {
				todo = append(todo, p.Add(image.Pt(dx, dy)))
			}
		}
	}
}

// A row (or a column) of one character looks the same in each of its cells, and continues through
// every pixel where it should.
func TestLinesAndBlocksHaveNoSeams(t *testing.T) {
	for _, c := range "─━═▀▄▂▆█▔🬋🭻⎺⎽" {
		img := pixels(t, 4, 1, strings.Repeat(string(c), 4))
		for y := range cellHeight {
			for x := range 4 * cellWidth {
				require.Equal(t, img.RGBAAt(0, y), img.RGBAAt(x, y), "%c at %d,%d", c, x, y)
			}
		}
		require.NotZero(t, count(img, ink), "%c", c)
	}
	for _, c := range "│┃║▌▐▎█▕🭵" {
		img := pixels(t, 1, 3, strings.Repeat(string(c)+"\r\n", 2)+string(c))
		for y := range 3 * cellHeight {
			for x := range cellWidth {
				require.Equal(t, img.RGBAAt(x, 0), img.RGBAAt(x, y), "%c at %d,%d", c, x, y)
			}
		}
		require.NotZero(t, count(img, ink), "%c", c)
	}
	for _, pair := range []string{"▀▄", "▌▐", "▁🮆", "▋🮈", "▙▝", "▛▗", "▚▞", "▖▜", "▘▟", "🬀🬻", "🬗🬤", "▊🮇"} {
		img := pixels(t, 2, 1, pair)
		cells := []*image.RGBA{within(img, 0, 0), within(img, 0, 1)}
		require.Equal(t, cellWidth*cellHeight, count(cells[0], ink)+count(cells[1], ink), "%s together are a whole", pair)
	}
}

// A character that the font lacks is drawn as a sign.
func TestNothingIsBlank(t *testing.T) {
	for _, c := range "aé漢한🙂👩⚡⏺⎿✓❯\ue0a0\ue0b1\uf013\U0010fffd⣿🬀🭰☃" {
		img := pixels(t, 2, 1, string(c))
		require.NotEqual(t, 2*cellWidth*cellHeight, count(img, paper), "%c (%U)", c, c)
	}
	one, other := pixels(t, 2, 1, "漢"), pixels(t, 2, 1, "字")
	require.NotEqual(t, one.Pix, other.Pix, "two characters that the font lacks differ")
	require.NotEqual(t, pixels(t, 1, 1, "e").Pix, pixels(t, 1, 1, "e\u0301").Pix, "a combining mark is drawn")
}

// TestLacking counts the characters that a picture cannot show.
func TestLacking(t *testing.T) {
	for output, want := range map[string]int{
		"": 0, "plain text ─│█⣿\ue0b0 e\u0301": 0, "漢字 x": 2, "\U0010fffd": 1, "\x1b[8m漢": 0, "漢\r\n漢漢": 3,
	} {
		got, err := render.CountMissingGlyphs(play(t, 40, 3, output))
		require.NoError(t, err)
		require.Equal(t, want, got, output)
	}
}

func TestAttributesAreDrawn(t *testing.T) {
	seen := make(map[string]string)
	for _, sgr := range []string{"0", "1", "2", "3", "1;3", "4", "4:2", "4:3", "4:4", "4:5", "4;58;5;1", "7", "9", "53", "31", "41"} {
		img := pixels(t, 1, 1, "\x1b["+sgr+"mx")
		other, found := seen[string(img.Pix)]
		require.False(t, found, "SGR %s looks as %s", sgr, other)
		seen[string(img.Pix)] = sgr
	}
	concealed := pixels(t, 6, 1, "\x1b[8;4msecret")
	require.Equal(t, 6*cellWidth*cellHeight, count(concealed, paper))
	require.NotContains(t, render.SVG(play(t, 6, 1, "\x1b[8msecret")), "secret")
	require.Equal(t, cellWidth*cellHeight, count(pixels(t, 1, 1, "\x1b[?5h "), ink), "the screen in reverse video")
}

func TestTheCursorHasItsShape(t *testing.T) {
	for shape, want := range map[string]int{"": cellWidth * cellHeight, "\x1b[2 q": cellWidth * cellHeight, "\x1b[4 q": 2 * cellWidth, "\x1b[6 q": 2 * cellHeight, "\x1b[?25l": 0} {
		s := play(t, 3, 1, " "+shape)
		img := decode(t, func(w io.Writer) error { return render.PNG(w, s) })
		require.Equal(t, want, count(img, ink), "%q", shape)
		require.Equal(t, want, count(within(img, 0, 1), ink), "%q", shape)
		svg := strings.Count(render.SVG(s), "<rect") - 1 // the background
		require.Equal(t, min(want, 1), svg, "%q", shape)
	}
	wide := play(t, 4, 1, "日\x1b[1;2H")
	img := decode(t, func(w io.Writer) error { return render.PNG(w, wide) })
	require.Equal(t, ink, img.RGBAAt(0, 0), "on the second half of a wide character it covers both")
	require.Equal(t, ink, img.RGBAAt(2*cellWidth-1, 0))
	same := play(t, 1, 1, "\x1b[30;40mx\b")
	require.NotZero(t, count(decode(t, func(w io.Writer) error { return render.PNG(w, same) }), ink), "black on black")
}

func TestPicturesAreBounded(t *testing.T) {
	big := play(t, 1000, 1000, "")
	require.ErrorContains(t, render.PNG(io.Discard, big), "too large")
	_, err := render.FitPNG(io.Discard, big, 1568)
	require.EqualError(t, err, "the screen has 1000 columns and 1000 rows, a picture of 1568 pixels shows at most 392 and 196")
	for _, c := range []struct{ cols, rows, width int }{{80, 24, 9}, {174, 87, 9}, {175, 50, 8}, {200, 60, 7}, {392, 196, 4}, {1, 1, 9}} {
		cell, err := render.FitPNG(io.Discard, play(t, c.cols, c.rows, "x"), 1568)
		require.NoError(t, err)
		require.Equal(t, image.Pt(c.width, 2*c.width), cell, "%dx%d", c.cols, c.rows)
	}
}

// A picture with more colours than a palette holds has them all.
func TestManyColours(t *testing.T) {
	var out strings.Builder
	for i := range 600 {
		fmt.Fprintf(&out, "\x1b[48;2;%d;%d;7m ", i%256, i/256)
	}
	img := pixels(t, 60, 10, out.String())
	for i := range 600 {
		require.Equal(t, color.RGBA{uint8(i), uint8(i / 256), 7, 0xff}, img.RGBAAt(i%60*cellWidth, i/60*cellHeight), i)
	}
}

// Areas end where the next begins and stand on whole pixels of the viewer; lines continue into the
// next cell.
func TestSVGShapesReachTheirNeighbours(t *testing.T) {
	svg := render.SVG(play(t, 3, 2, "\x1b[?25l██▌\r\n─╭╲"))
	paths := regexp.MustCompile(`<path fill="#e5e5e5"( shape-rendering="crispEdges")? d="([^"]*)"/>`).FindAllStringSubmatch(svg, -1)
	require.Len(t, paths, 2)
	require.Equal(t, "M0 0H8.4V17H0zM8.4 0H16.8V17H8.4zM16.8 0H21V17H16.8z", paths[0][2])
	require.NotEmpty(t, paths[0][1])
	require.Empty(t, paths[1][1], "thin lines are smooth: they would vanish at a small scale")
	numbers := func(path string) (all []float64) {
		for _, n := range regexp.MustCompile(`-?[0-9.]+`).FindAllString(path, -1) {
			f, err := strconv.ParseFloat(n, 64)
			require.NoError(t, err)
			all = append(all, f)
		}
		return all
	}
	for _, over := range []float64{-0.5, 8.9, 17.3, 34.5, 25.7} { // left of the line, right of it, right of the corner, below both
		require.Contains(t, numbers(paths[1][2]), over)
	}
}

// editor is what a program with colours leaves on 80 by 24 cells: about as many changes of colour
// as vim makes in code.
func editor() string {
	var out strings.Builder
	for row := range 23 {
		fmt.Fprintf(&out, "\x1b[%d;1H\x1b[38;5;130m%4d \x1b[0;35mfunc \x1b[36m(p *painter)\x1b[0m each\x1b[33m(\x1b[0mdo \x1b[32mfunc\x1b[0m, \x1b[1;34mbox\x1b[0m image) { \x1b[31m\"%s\"\x1b[0m", row+1, row, strings.Repeat("x", row))
	}
	out.WriteString("\x1b[24;1H\x1b[7mpainter.go\x1b[K\x1b[0m")
	return out.String()
}

// FuzzDraw checks that any screen of any size has a picture: pixels of the right size, and an SVG
// that is valid XML.
func FuzzDraw(f *testing.F) {
	f.Add([]byte("日\x1b[1;2H\x1b[8;53;9;4:3mx\x1b[5 q"), uint8(1), uint8(1))
	f.Add([]byte("\x1b#8\x1b[?5h\x1b[7m╔═╗e\u0301\u0302\ufffe🙂\U0010ffff\ue0b4🬀"), uint8(7), uint8(3))
	f.Add([]byte(editor()), uint8(80), uint8(24))
	f.Fuzz(func(t *testing.T, output []byte, cols, rows uint8) {
		s := play(t, max(1, int(cols)), max(1, int(rows%64)), string(output))
		width, height := s.Size()
		img := decode(t, func(w io.Writer) error { _, err := render.FitPNG(w, s, 256*4); return err })
		require.Zero(t, img.Rect.Dx()%width)
		require.Equal(t, 2*img.Rect.Dx()/width, img.Rect.Dy()/height)
		for d := xml.NewDecoder(strings.NewReader(render.SVG(s))); ; {
			if _, err := d.Token(); err != nil {
				require.ErrorIs(t, err, io.EOF)
				break
			}
		}
	})
}
