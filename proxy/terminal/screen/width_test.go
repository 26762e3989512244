package screen

import (
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
)

// The characters that are printed in runs are exactly those of two columns.
func TestWideRuns(t *testing.T) {
	wide := 0
	for r := rune(0xa0); r < 0x20000; r++ {
		p := utf8.AppendRune(nil, r)
		cells := make([]cell, 2)
		n, columns := printWide(p, cells, styled(3))
		if n == 0 {
			continue
		}
		wide++
		require.Equal(t, 2, runeWidth(r), "%U", r)
		require.Equal(t, [2]int{len(p), 2}, [2]int{n, columns})
		require.Equal(t, []cell{styled(3) | wideFlag | cell(r), styled(3) | tailFlag}, cells)
		require.NotZero(t, wideLead[p[0]].span)
	}
	require.Equal(t, 0xa000-0x4e00+0xd780-0xac00, wide)
}

// The screen counts columns as the user's terminal reports, whatever a program asks for.
func TestClusters(t *testing.T) {
	const wide, narrow = 3, 2 // the column after the heart, from 1
	for _, c := range []struct {
		state                  int
		start, set, reset, ris int
	}{
		{0, narrow, narrow, narrow, narrow},
		{1, wide, wide, narrow, wide},
		{2, narrow, wide, narrow, narrow},
		{3, wide, wide, wide, wide},
		{4, narrow, narrow, narrow, narrow},
		{7, narrow, narrow, narrow, narrow},
	} {
		for _, late := range []bool{false, true} {
			s := New(Config{Cols: 10, Rows: 2, Clusters: ReportedClusters(c.state)})
			if late {
				s = New(Config{Cols: 10, Rows: 2})
				s.SetClusters(ReportedClusters(c.state))
			}
			columns := func(first string) int {
				s.Feed([]byte(first + "\r❤\ufe0f"))
				return s.Cursor().Col + 1
			}
			got := []int{columns(""), columns("\x1b[?2027h"), columns("\x1b[?2027l"), columns("\x1bc")}
			require.Equal(t, []int{c.start, c.set, c.reset, c.ris}, got, "state %d, late %v", c.state, late)
		}
	}
	s := New(Config{Cols: 10, Rows: 2})
	s.Feed([]byte("\x1b[?2027h"))
	s.SetClusters(ClustersUnknown)
	require.True(t, s.Modes().Graphemes)
}

// No other bytes pass for those characters.
func TestBrokenWide(t *testing.T) {
	for a := range 256 {
		for b := range 256 {
			for _, c := range []byte{0x00, 0x3f, 0x40, 0x7f, 0x80, 0xbf, 0xc0, 0xff} {
				p := []byte{byte(a), byte(b), c}
				if n, _ := printWide(p, make([]cell, 2), 0); n > 0 {
					require.True(t, utf8.Valid(p), "%x", p)
				}
			}
		}
	}
}
