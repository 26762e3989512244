package screen

import (
	"fmt"
	"math/rand/v2"
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

func TestReflow(t *testing.T) {
	s := fed(10, 4, "0123456789abc")
	s.Resize(6, 4)
	require.Equal(t, "012345|6789ab|c", show(s))
	s.Resize(20, 4)
	require.Equal(t, "0123456789abc", show(s))
	require.Equal(t, 13, s.Cursor().Col)
}

// As in terminals; erased and unwritten cells are not wrapped.
func TestReflowWrapsWrittenBlanks(t *testing.T) {
	for in, want := range map[string]string{
		"one       \r\ntwo":            "one||two",
		"one     \x1b[3D\x1b[K\r\ntwo": "one|two",
		"one\r\ntwo":                   "one|two",
	} {
		s := fed(10, 4, in)
		s.Resize(5, 4)
		require.Equal(t, want, show(s), "%q", in)
	}
}

// Text printed at one width and wrapped for another stands, in the history and on the screen, as if
// it had been printed at that width.
func TestReflowIsAsPrinted(t *testing.T) {
	pieces := []string{"word ", "x", "\x1b[31mred\x1b[m", "日本", "e\u0301", "\x1b[7m   \x1b[m", "a longer piece of text "}
	random := rand.New(rand.NewPCG(1, 2))
	var text strings.Builder
	for range 400 {
		for range random.IntN(9) {
			text.WriteString(pieces[random.IntN(len(pieces))])
		}
		text.WriteString(".\r\n") // blanks at a line's end are not kept
	}
	printed := func(cols, rows int) *Screen {
		s := New(Config{Cols: cols, Rows: rows, Scrollback: 10_000})
		s.Feed([]byte(text.String()))
		return s
	}
	s := printed(40, 6)
	for range 30 {
		cols, rows := 2+random.IntN(150), 1+random.IntN(30)
		s.Resize(cols, rows)
		require.NoError(t, s.t.verify())
		want, got := strings.Split(dump(printed(cols, rows)), "\n"), strings.Split(dump(s), "\n")
		for i, line := range want[:min(len(want), len(got))] {
			require.Equal(t, line, got[i], "%dx%d", cols, rows)
		}
		require.Equal(t, len(want), len(got))
	}
}

// A shell whose prompt follows output without a newline redraws it from the first column after each
// resize. The cells that it erases do not belong to the output's row.
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
	require.Equal(t, []int{2}, changedSince(s, rev))
	rev = s.Rev()
	s.Feed([]byte("\x1b[m"))
	require.Equal(t, rev, s.Rev(), "nothing to see")
	s.Feed([]byte("\x1b[?1049h"))
	require.Equal(t, []int{0, 1, 2, 3}, changedSince(s, rev), "another screen")
}

// changedSince returns the rows that changed after a revision.
func changedSince(s *Screen, rev uint64) (rows []int) {
	for y := range s.t.rows {
		if s.RowRev(y) > rev {
			rows = append(rows, y)
		}
	}
	return rows
}

// 38:2:r:g:b without the colour space of ITU T.416, as xterm, kitty and VTE read it.
func TestColourWithoutColourSpace(t *testing.T) {
	for _, in := range []string{"\x1b[38:2:1:2:3ma", "\x1b[38:2::1:2:3ma", "\x1b[38;2;1;2;3ma", "\x1b[38:2:0:1:2:3ma"} {
		require.Equal(t, RGB(1, 2, 3), fed(5, 1, in).Cell(0, 0).Style.Fg, in)
	}
}

// A saved cursor stays on its screen when that becomes smaller, whichever is shown then.
func TestSavedCursorsStayOnTheScreen(t *testing.T) {
	const save = "\x1b[8;1H0123456789\x1b7"
	for _, before := range []string{save, "\x1b[?47h" + save, "\x1b[?47h" + save + "\x1b[?47l", save + "\x1b[?47h"} {
		for _, after := range []string{"", "\x1b[?47h", "\x1b[?47l"} {
			for _, size := range [][2]int{{10, 4}, {4, 8}, {1, 1}} {
				s := New(Config{Cols: 10, Rows: 8})
				s.Feed([]byte(before))
				s.Resize(size[0], size[1])
				s.Feed([]byte(after))
				same := New(Config{Cols: size[0], Rows: size[1]})
				same.Feed(s.AppendRedraw(nil))
				require.Equal(t, show(s), show(same), "%q %v %q", before, size, after)
			}
		}
	}
}
