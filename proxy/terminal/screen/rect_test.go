package screen

import (
	"fmt"
	"math/rand"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// paintedCell is a cell without the numbers of its screen's tables.
type paintedCell struct {
	content uint64
	style   style
}

func paintedCells(s *Screen, y int) (all []paintedCell) {
	for _, c := range s.t.grid.at(y).cells {
		all = append(all, paintedCell{uint64(c.content()), s.t.styles.list[c.styleID()]})
	}
	return all
}

// A copied area has the cells that its source had before, also where the two overlap, and nothing
// else changes.
func TestCopiedAreas(t *testing.T) {
	for seed := range int64(5000) {
		r := rand.New(rand.NewSource(seed))
		cols, rows := 1+r.Intn(6), 1+r.Intn(8)
		var all strings.Builder
		for y := range rows { // rows with blanks in a colour and with deferred changes
			fmt.Fprintf(&all, "\x1b[%d;1H\x1b[4%dm\x1b[K%.*s\x1b[m", y+1, r.Intn(8), r.Intn(cols+2), "abcdefgh")
			if r.Intn(3) == 0 {
				fmt.Fprintf(&all, "\x1b[%d;1;%d;%d;7$t", y+1, y+1, cols)
			}
		}
		source := rect{top: r.Intn(rows), right: cols}
		source.bottom = source.top + 1 + r.Intn(rows-source.top)
		top, left := r.Intn(rows), 0
		if r.Intn(3) == 0 {
			left, source.left = r.Intn(cols), r.Intn(cols)
			source.right = source.left + 1 + r.Intn(cols-source.left)
		}
		sequence := fmt.Sprintf("\x1b[%d;%d;%d;%d;1;%d;%d$v",
			source.top+1, source.left+1, source.bottom, source.right, top+1, left+1)

		c := Config{Cols: cols, Rows: rows}
		before, after := New(c), New(c)
		before.Feed([]byte(all.String()))
		after.Feed([]byte(all.String() + sequence))
		want, wrapped := make([][]paintedCell, rows), make([]bool, rows)
		for y := range rows {
			want[y], wrapped[y] = paintedCells(before, y), before.t.grid.rows[y].wrapped
		}
		for y := source.top; y < min(source.bottom, source.top+rows-top); y++ {
			to, n := top+y-source.top, min(source.right-source.left, cols-left)
			copy(want[to][left:left+n], paintedCells(before, y)[source.left:])
			wrapped[to] = wrapped[to] && left+n < cols
		}
		for y := range rows {
			require.Equal(t, want[y], paintedCells(after, y), "seed %d: row %d: %q %q", seed, y, all.String(), sequence)
			require.Equal(t, wrapped[y], after.t.grid.rows[y].wrapped, "seed %d: row %d: %q %q", seed, y, all.String(), sequence)
		}
		require.NoError(t, after.t.verify(), "seed %d: %q %q", seed, all.String(), sequence)
	}
}
