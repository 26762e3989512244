package screen

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// show returns the rows of a screen, without empty ones at the end, joined by |.
func show(s *Screen) string {
	_, rows := s.Size()
	var lines []string
	for y := range rows {
		lines = append(lines, s.RowText(y))
	}
	return strings.TrimRight(strings.Join(lines, "|"), "|")
}

func fed(cols, rows int, in string) *Screen {
	s := New(Config{Cols: cols, Rows: rows, Scrollback: 100})
	s.Feed([]byte(in))
	return s
}

// TestFaults has the sequences that other terminals are known to get wrong, on a screen of 10 by 4.
func TestFaults(t *testing.T) {
	for _, c := range []struct {
		name, in, want string
		row, col       int
	}{
		{"scroll with a region outside", "\x1b[;31r\x1b[S", "", 0, 0},
		{"huge CHT", "\x1b[687670402I", "", 0, 9},
		{"huge REP", "n\x1b[5753557b", "nnnnnnnnnn|nnnnnnnnnn|nnnnnnnnnn|nnnnnnnnnn", 3, 9},
		{"huge ECH", "\x1b[1155480208X", "", 0, 0},
		{"1049 does not home", "\x1b[3;3H\x1b[?1049hX", "||  X", 2, 3},
		{"1049 restores on the main screen", "\x1b[4;1H\x1b[?1049l", "", 0, 0},
		{"combining mark", "e\u0301x", "e\u0301x", 0, 2},
		{"wide character at the edge", "012345678漢", "012345678|漢", 1, 2},
		{"SCOSC and SCORC", "ab\x1b[scd\x1b[uX", "abXd", 0, 3},
		{"insert mode", "abc\x1b[4h\x1b[1;1HX", "Xabc", 0, 1},
		{"DEC graphics in G1", "\x1b)0\x0eqqq\x0fq", "───q", 0, 4},
		{"control inside a CSI", "a\x1b[2\n;3HX", "a|  X", 1, 3},
		{"47 leaves the main screen alone", "ab\x1b[?47hX\x1b[?47l", "ab", 0, 3},
		{"EL while a wrap is pending", "0123456789\x1b[KX", "0123456789|X", 1, 1},
		{"REP of a wide character", "Y漢\x1b[364b", "Y漢漢漢漢|漢漢漢漢漢|漢漢漢漢漢|漢漢漢漢漢", 3, 9},
		{"a program cannot resize us", "\x1b[8;7939;6465t", "", 0, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := fed(10, 4, c.in)
			if !strings.Contains(c.name, "REP") { // these scroll: only the clamp matters
				require.Equal(t, c.want, show(s))
				require.Equal(t, [2]int{c.row, c.col}, [2]int{s.Cursor().Row, s.Cursor().Col})
			}
			cols, rows := s.Size()
			require.Equal(t, [2]int{10, 4}, [2]int{cols, rows})
		})
	}
}

func TestReflow(t *testing.T) {
	s := fed(10, 4, "0123456789abc")
	s.Resize(6, 4)
	require.Equal(t, "012345|6789ab|c", show(s))
	s.Resize(20, 4)
	require.Equal(t, "0123456789abc", show(s))
	require.Equal(t, 13, s.Cursor().Col)
}

// TestReflowAfterAPrompt: a shell whose prompt stands behind output without a line end draws it anew from the first column
// after each resize. What it erases there is not the rest of the output's row.
func TestReflowAfterAPrompt(t *testing.T) {
	for _, erase := range []string{"\x1b[K", "\x1b[J", "\x1b[2K"} {
		s := fed(10, 4, "one\r\noutput$ ")
		for _, cols := range []int{5, 10} {
			s.Resize(cols, 4)
			s.Feed([]byte("\r" + erase + "$ "))
		}
		require.Equal(t, "one|outpu|$", show(s), "%q", erase)
		require.Equal(t, Cursor{Row: 2, Col: 2, Visible: true}, s.Cursor())
		require.NoError(t, s.t.verify())
	}
}

func TestClusterSplitOverReads(t *testing.T) {
	const family = "\x1b[?2027h👩\u200d👩\u200d👧x"
	whole := fed(10, 4, family)
	require.Equal(t, "👩\u200d👩\u200d👧x", show(whole))
	require.Equal(t, 3, whole.Cursor().Col)
	for i := range len(family) {
		s := fed(10, 4, family[:i])
		s.Feed([]byte(family[i:]))
		require.Equal(t, show(whole), show(s), "cut at %d", i)
	}
}

func TestHistory(t *testing.T) {
	s := New(Config{Cols: 10, Rows: 3, Scrollback: 5})
	for i := range 12 {
		s.Feed(fmt.Appendf(nil, "漢 %d\r\n", i))
	}
	require.Equal(t, 5, s.HistoryLen())
	require.EqualValues(t, 5, s.HistoryBase())
	require.Equal(t, "漢 5", s.HistoryText(0))
	require.Equal(t, "漢 9", s.HistoryText(4))
	require.Equal(t, "漢 10|漢 11", show(s))
}

func TestRevisionsAndDeltas(t *testing.T) {
	s := New(Config{Cols: 10, Rows: 4})
	require.EqualValues(t, 1, s.Rev())
	s.Feed([]byte("a"))
	rev := s.Rev()
	s.Feed([]byte("\x1b[3;1Hb"))
	rows, ok := s.ChangedSince(rev)
	require.True(t, ok)
	require.Equal(t, []int{2}, rows)
	rev = s.Rev()
	s.Feed([]byte("\x1b[m"))
	require.Equal(t, rev, s.Rev(), "nothing to see")
	s.Feed([]byte("\x1b[?1049h"))
	_, ok = s.ChangedSince(rev)
	require.False(t, ok, "another screen")
}

// TestColourWithoutColourSpace: 38:2:r:g:b without the colour space of ITU T.416, as xterm, kitty and VTE read it.
func TestColourWithoutColourSpace(t *testing.T) {
	for _, in := range []string{"\x1b[38:2:1:2:3ma", "\x1b[38:2::1:2:3ma", "\x1b[38;2;1;2;3ma", "\x1b[38:2:0:1:2:3ma"} {
		require.Equal(t, RGB(1, 2, 3), fed(5, 1, in).Cell(0, 0).Style.Fg, in)
	}
}
