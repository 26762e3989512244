package observer

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"terminalproxy/proxy/terminal/screen"
	"terminalproxy/proxy/view/snapshot"
)

// A line editor makes the terminal wrap, and goes on in the next row of the same line: in the
// printed text, and on the screen.
func TestWrappedLineOfAnEditor(t *testing.T) {
	for _, c := range []struct{ name, printed, want, wide string }{
		{"zsh", "% abcdefgh \r\x1b[Ki\rijklmn", "% abcdefghijklmn", "% abcdefghijklmn"},
		{"zsh, three rows", "% abcdefgh \r\x1b[Ki\rijklmnopqr \r\x1b[Ks\rst", "% abcdefghijklmnopqrst", "% abcdefghijklmnopqrst"},
		{"zsh, wide at the edge", "% abcdefg\x1b[7m \x1b[27m世\x1b[Kijk", "% abcdefg 世ijk", ""},
		{"zsh, wide behind it", "% abcdefgh \r\x1b[K世\r世jk", "% abcdefgh世jk", "% abcdefgh世jk"},
		{"readline", "$ abcdefgh \rijklmn", "$ abcdefghijklmn", "$ abcdefghijklmn"},
		{"readline, its own character", "$ abcdefghi\rijklmn", "$ abcdefghijklmn", "$ abcdefghijklmn"},
		{"a column of the row", "$ abcdefghijk\x1b[2Gx", "$ abcdefghixk", "$ abcdefghixk"},
		{"a tab of the row", "$ abcdefghi\tx", "$ abcdefghi       x", ""},

		// The start of a prompt after output without a line feed.
		{"zsh, a row begun", "45%#         \r \r\r\x1b[J% ", "45%#\n% ", "45%#|%"},
		{"fish, a row begun", "45%~         \r~ \r\x1b[K> ", "45%~\n> ", "45%~|>"},

		// A progress bar that is wider than the screen.
		{"progress", "downloading 1%\rdownloading 22%\rdownloading 333%", "downloading 333%", ""},
		{"progress, erased", "downloading 1%\r\x1b[Kdownloading 22%", "downloading 22%", "downloadin|downloading 22%"},
		{"progress, erased first", "downloading 1%\x1b[2K\rdownloading 22%", "downloading 22%", ""},

		{"lines", "abcdefghijkl\r\nx", "abcdefghijkl\nx", "abcdefghijkl|x"},
	} {
		t.Run(c.name, func(t *testing.T) {
			text := snapshot.NewRolling(4000)
			s := screen.New(screen.Config{Cols: 10, Rows: 6, Scrollback: 100, Text: text})
			s.Feed([]byte(c.printed))
			require.Equal(t, c.want, text.String())
			if c.wide != "" {
				s.Resize(40, 6)
				require.Equal(t, c.wide, rowsOf(s))
			}
		})
	}
}

// The editor goes on in the same line after a resize.
func TestWrappedLineOverAResize(t *testing.T) {
	text := snapshot.NewRolling(4000)
	s := screen.New(screen.Config{Cols: 10, Rows: 6, Text: text})
	s.Feed([]byte("% abcdefghijk"))
	s.Resize(5, 6)
	s.Feed([]byte("lm\x1b[2Gx"))
	require.Equal(t, "% abcdefghixklm", text.String())
	s.Resize(20, 6)
	s.Feed([]byte("\x1b[3Gy"))
	require.Equal(t, "% ybcdefghixklm", text.String())
}

// rowsOf returns the rows of a screen, without empty ones at the end, joined by |.
func rowsOf(s *screen.Screen) string {
	_, rows := s.Size()
	lines := make([]string, rows)
	for y := range lines {
		lines[y] = s.RowText(y)
	}
	return strings.TrimRight(strings.Join(lines, "|"), "|")
}
