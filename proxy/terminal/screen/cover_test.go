package screen

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// A program that fills a million cells with every few bytes causes no writes to cells until they
// are read.
func TestCoveredRows(t *testing.T) {
	for _, c := range []struct{ name, flood, want string }{
		{"ED 2", "\x1b[2J", ""},
		{"ED 2 in changing colours", "\x1b[42m\x1b[2J\x1b[41m\x1b[2J", ""},
		{"DECSED", "\x1b[?2J", ""},
		{"DECERA", "\x1b[1;1;1000;1000$z", ""},
		{"DECSERA", "\x1b[1;1;1000;1000${", ""},
		{"DECFRA", "\x1b[65;1;1;1000;1000$x", strings.Repeat("A", 1000)},
		{"DECALN", "\x1b#8", strings.Repeat("E", 1000)},
		{"scrolling", "\x1b[1000S", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := New(Config{Cols: 1000, Rows: 1000})
			s.Feed([]byte("\x1b[41m"))
			s.Feed([]byte(strings.Repeat(c.flood, 8192/len(c.flood))))
			written := 0
			for _, r := range s.t.grid.rows {
				for _, c := range r.cells {
					if c != 0 {
						written++
					}
				}
			}
			require.Zero(t, written)
			require.NoError(t, s.t.verify())
			require.Equal(t, c.want, s.RowText(999))
			if c.name != "DECALN" {
				require.Equal(t, Indexed(1), s.Cell(500, 999).Style.Bg)
			}
			require.NoError(t, s.t.verify())
		})
	}
}
