package observer

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"terminalproxy/proxy/terminal/screen"
	"terminalproxy/proxy/view/corpus"
	"terminalproxy/proxy/view/snapshot"
)

// A line editor makes the terminal wrap, and goes on in the next row of the same line: in the
// printed text, and on the screen.
func TestWrappedLineOfAnEditor(t *testing.T) {
	for _, c := range corpus.Rows[struct{ Name, Printed, Want, Wide string }](t, "wrapped") {
		t.Run(c.Name, func(t *testing.T) {
			text := snapshot.NewRolling(4000)
			s := screen.New(screen.Config{Cols: 10, Rows: 6, Scrollback: 100, Text: text})
			s.Feed([]byte(c.Printed))
			require.Equal(t, c.Want, text.String())
			if c.Wide != "" {
				s.Resize(40, 6)
				require.Equal(t, c.Wide, rowsOf(s))
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
