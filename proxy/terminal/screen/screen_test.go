package screen

import (
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
