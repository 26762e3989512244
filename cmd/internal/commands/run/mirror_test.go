package run

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"terminalproxy/proxy/terminal/screen"
)

// pair is a mirror and a terminal on which it draws.
type pair struct {
	*mirror
	t    *testing.T
	term *screen.Screen
}

func mirrored(t *testing.T, cols, rows, termCols, termRows int) *pair {
	return &pair{newMirror(cols, rows, termCols, termRows), t, screen.New(screen.Config{Cols: termCols, Rows: termRows})}
}

// print lets the program print, and compares the terminal's screen cell by cell.
func (p *pair) print(bytes string) {
	p.t.Helper()
	p.feedOutput([]byte(bytes))
	p.draws()
}

func (p *pair) draws() {
	p.t.Helper()
	p.term.Feed(p.appendUpdate(nil))
	cols, rows := p.model.Size()
	for y := range p.rows {
		for x := range p.cols {
			want, got := p.model.Cell(p.part.Top+y, p.part.Left+x), p.term.Cell(y, x)
			switch at := p.part.Left + x; {
			case p.part.Top+y >= rows || at >= cols: // beside the session
				want = screen.Cell{Width: 1}
			case want.Width == 2 && x == p.cols-1, want.Width == 0 && x == 0: // half a character
				want.Content, want.Width = "", 1
			}
			want.Content, got.Content = strings.TrimSpace(want.Content), strings.TrimSpace(got.Content)
			require.Equal(p.t, want, got, "row %d, column %d of %dx%d at %d,%d", y, x, p.cols, p.rows, p.part.Top, p.part.Left)
		}
	}
	c, got := p.model.Cursor(), p.term.Cursor()
	require.Equal(p.t, c.Visible, got.Visible)
	if c.Visible {
		require.Equal(p.t, []int{c.Row - p.part.Top, c.Col - p.part.Left}, []int{got.Row, got.Col})
	}
	require.Equal(p.t, p.model.Title(), p.term.Title())
}

// On screens of many sizes, the terminal shows a part of the session's screen, with the cursor, and
// nothing else.
func TestAMirrorShowsEveryPart(t *testing.T) {
	for _, size := range [][2]int{{80, 24}, {20, 5}, {120, 40}, {1, 1}, {80, 5}, {20, 24}, {200, 2}} {
		t.Run(fmt.Sprint(size), func(t *testing.T) {
			p := mirrored(t, 80, 24, size[0], size[1])
			p.print("")
			p.print("\x1b]2;title\aone\r\n\x1b[31mtwo\x1b[m\x1b[24;1Hbottom")
			p.print(strings.Repeat("\r\nscrolled \x1b[44mblue\x1b[K\x1b[m", 30))
			p.print("\x1b[H\x1b[2J" + strings.Repeat("世界e\u0301", 60))
			p.print("\x1b[?1049h\x1b[2;20r\x1b[?6h\x1b[4h\x1b[10;70Halternate")
			p.print("\x1b[?25l\x1b[1;1Hx")
			p.print("\x1b[?25h\x1b[?1049l\x1b[12;79H\x1b[4 q")
			p.print("\x1b[?1;1000;1006;2004h\x1b=\x1b[>1u\x1b[c\x1b[6n")
			want, got := p.model.Modes(), p.term.Modes()
			require.Equal(t, []any{want.AppCursor, want.BracketedPaste, want.AppKeypad, want.KittyFlags}, []any{got.AppCursor, got.BracketedPaste, got.AppKeypad, got.KittyFlags})
			if p.part.Top+p.part.Left == 0 {
				require.Equal(t, want.MouseProtocol, got.MouseProtocol)
			} else {
				require.Zero(t, got.MouseProtocol, "the mouse would point at other cells")
			}
			p.resizeTerminal(p.cols, p.rows)
			p.draws()
		})
	}
}

// A key's echo is one row.
func TestAMirrorDrawsOnlyChanges(t *testing.T) {
	p := mirrored(t, 80, 24, 60, 20)
	p.print(strings.Repeat("some text\r\n", 15))
	p.feedOutput([]byte("x"))
	out := string(p.appendUpdate(nil))
	require.Equal(t, "\x1b[?25l\x1b[16;1H\x1b[m\x1b[2Kx\x1b[16;2H\x1b[?25h", out)
}
