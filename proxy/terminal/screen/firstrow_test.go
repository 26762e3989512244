package screen

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// When the screen's first row is erased or moved, it no longer continues the history's last one.
// After a change of width, tmux shows the same, except for ED, for which it keeps the erased rows
// in its history.
func TestTheFirstRowIsFreed(t *testing.T) {
	const again = "\x1b[H\x1b[K$ prompt"
	long := "1\r\n2\r\n" + strings.Repeat("A", 90)
	for _, c := range []struct {
		name, does string
		joined     bool
		top        int // the row of the prompt in the other width, -1 if terminals differ
	}{
		{"printing over it", "\x1b[H$ prompt", true, 1},
		{"part of it is erased", "\x1b[1;3H\x1b[K\x1b[H$ prompt", true, 1},
		{"ED below", "\x1b[H\x1b[J$ prompt", false, 0},
		{"ED above", "\x1b[3;1H\x1b[1J\x1b[H$ prompt", false, 0},
		{"ED", "\x1b[2J\x1b[H$ prompt", false, 0},
		{"selective ED", "\x1b[?2J\x1b[H$ prompt", false, 0},
		{"EL to the right", "\x1b[H\x1b[K$ prompt", false, 1},
		{"EL", "\x1b[H\x1b[2K$ prompt", false, 1},
		{"selective EL", "\x1b[H\x1b[?2K$ prompt", false, 1},
		{"ECH", "\x1b[H\x1b[10X$ prompt", false, 1},
		{"IL", "\x1b[H\x1b[L$ prompt", false, -1},
		{"DL", "\x1b[H\x1b[M" + again, false, 0},
		{"RI", "\x1b[H\x1bM$ prompt", false, -1},
		{"SD", "\x1b[T\x1b[H$ prompt", false, -1},
		{"SU of all rows between margins", "\x1b[1;2r\x1b[2S\x1b[r\x1b[H$ prompt", false, -1},
		{"DECALN", "\x1b#8\x1b[2J\x1b[H$ prompt", false, 0},
		{"RIS", "\x1bc$ prompt", false, 0},
		{"on the alternate screen", "\x1b[?1049h\x1b[2J\x1b[H\x1bM\x1b[?1049l\x1b[H$ prompt", true, 1},
	} {
		s := New(Config{Cols: 10, Rows: 4, Scrollback: 100})
		s.Feed([]byte(long + c.does))
		require.NoError(t, s.t.verify(), c.name)
		if n := s.HistoryLen(); n > 0 {
			require.Equal(t, c.joined, s.HistoryWrapped(n-1), c.name)
		}
		s.Resize(15, 4)
		require.NoError(t, s.t.verify(), c.name)
		col := 8
		if c.joined { // the prompt follows the rest of the line
			col = (50 + 8) % 15
		}
		require.Equal(t, col, s.Cursor().Col, c.name)
		if !c.joined {
			require.Equal(t, "$ prompt", (s.RowText(s.Cursor().Row) + strings.Repeat(" ", 8))[:8], c.name)
			if c.top >= 0 {
				require.Equal(t, c.top, s.Cursor().Row, c.name)
			}
		}
	}
}

// A change of width does not fill it from the history, and rows that need more room find it below.
func TestAClearedScreenStaysCleared(t *testing.T) {
	for _, size := range [][2]int{{20, 6}, {7, 6}, {40, 6}, {9, 6}, {10, 5}, {10, 3}, {20, 3}} {
		s := New(Config{Cols: 10, Rows: 6, Scrollback: 100})
		s.Feed([]byte(strings.Repeat("some text that wraps\r\n", 9) + "\x1b[H\x1b[2J$ cat abc\r\nxyz"))
		s.Resize(size[0], size[1])
		require.Equal(t, "$ cat ", s.RowText(0)[:6]+strings.Repeat(" ", 6-len(s.RowText(0)[:6])), "%v", size)
	}
	taller := New(Config{Cols: 10, Rows: 4, Scrollback: 100})
	taller.Feed([]byte("1\r\n2\r\n3\r\n4\r\n5\r\n6\r\n\x1b[H\x1b[2J$"))
	taller.Resize(10, 6)
	require.Equal(t, []string{"2", "3", "$", ""}, []string{taller.RowText(0), taller.RowText(1), taller.RowText(2), taller.RowText(3)}, "as in tmux")
}
