package screen

import (
	"fmt"
	"math/rand"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
)

// historyCells returns every cell of the history, with its style.
func historyCells(s *Screen) (rows [][]string) {
	for i := range s.HistoryLen() {
		var row []string
		for _, c := range s.t.hist.at(i).appendCells(nil, &s.t.styles, &s.t.clusters) {
			row = append(row, fmt.Sprintf("%x %v", uint64(c.content()), s.t.styles.list[c.styleID()]))
		}
		rows = append(rows, row)
	}
	return rows
}

// repeated plays parts on two screens: one gets a repetition (REP), the other the character as
// often.
func repeated(t *testing.T, cols, rows, scrollback int, parts []string, resize bool) {
	t.Helper()
	var heardShort, heardLong heard
	short := New(Config{Cols: cols, Rows: rows, Scrollback: scrollback, Text: &heardShort})
	long := New(Config{Cols: cols, Rows: rows, Scrollback: scrollback, Text: &heardLong})
	last := ""
	for _, p := range parts {
		var n int
		if _, err := fmt.Sscanf(p, "\x1b[%db", &n); err == nil {
			short.Feed([]byte(p))
			r, _ := utf8.DecodeRuneInString(last)
			long.Feed([]byte(strings.Repeat(last, min(n, cols*rows/max(runeWidth(r), 1)))))
		} else {
			short.Feed([]byte(p))
			long.Feed([]byte(p))
			for _, r := range p {
				last = string(r)
			}
		}
		require.NoError(t, short.t.verify(), "%q", parts)
	} // a read writes the deferred rows: only at the end
	require.Equal(t, dump(long), dump(short), "%dx%d %q", cols, rows, parts)
	require.Equal(t, heardLong.String(), heardShort.String(), "%q", parts)
	require.Equal(t, historyCells(long), historyCells(short), "%q", parts)
	if resize {
		short.Resize(cols+2, rows+1)
		long.Resize(cols+2, rows+1)
		require.Equal(t, dump(long), dump(short), "%dx%d %q, resized", cols, rows, parts)
	}
}

// Rows that a repetition fills have the same result as printed rows, in every state of the screen.
func TestRepeatedRows(t *testing.T) {
	before := []string{
		"x", "\x1b[31mx", "\x1b[44m x", "漢字x", "漢字x\r\ny", "\r\n\r\n\r\nx", "\x1b[2;3rx", "\x1b[2;3r\x1b[4;1Hx", "\x1b[?69h\x1b[2;5sx",
		"\x1b[?69h\x1b[2;5s\x1b[1;7Hx", "\x1b[?7lx", "\x1b[4hx", "\x1b(0q", "\x1b[?1049hx", "\x1b[?2027hx", "é", "─", "漢", "\x1b[42m\x1b[2J\x1b[mx", "\x1b[41m\x1b[2Jé",
		"\x1b[?2027hé", "\x1b[4hé", "\x1b]8;;http://a\x1b\\x", " ", "\x1b[7m ", "0123456789abcdefghij", "012345678x", "\x1b[3;3Hx",
		"\x1b[?69h\x1b[2;5s\x1b[2;3r\x1b[3;2Hx", "\x1b[?69h\x1b[2;6s\x1b[9;2H漢", "\x1b[?69h\x1b[2;5s\x1b[2;3r\x1b[2;2H\x1b[4hx", "漢字漢字\x1b[1;2H\x1b[4h漢", "\x1b[4h\x1b[?7lx",
		"\x1b[?2027h\r\n🇩", "\x1b[?2027h\r\n🇩🇩", "\x1b[?2027h\r\nx🇩🇩🇩", "\x1b[?2027h\x1b[?7l\r\n🇩", "\x1b[?2027h\x1b[?69h\x1b[2;6s\x1b[9;2H🇩🇩", "\x1b[?2027h\r\n\u1100", "\x1b[?2027h😀",
		"\x1b[?2027h\u0600x", "\x1b[?2027h\x1b[4h漢", "\x1b[?2027h\x1b[4h\r\n🇩🇩", "漢\x1b[?7l漢", "\x1b[?2027h\x1b[?69h\x1b[2;6s\x1b[9;2H漢",
	}
	after := []string{"", "y", "\r\nend\r\n", "\x1b[1;2Hz", "\x1b[2;1H\x1b[K", "\x1b[1;3H漢", "\b\bq", "\x1b[31m\x1b[K", "\u0301"}
	for _, size := range [][3]int{{10, 4, 100}, {10, 4, 3}, {1, 3, 9}, {2, 5, 0}, {7, 1, 9}} {
		for _, b := range before {
			for n := 1; n <= size[0]*size[1]; n++ {
				if at := n % size[0]; n > 2*size[0] && at > 1 && at < size[0]-1 {
					continue // far into a row beyond the second is as far into the second
				}
				repeated(t, size[0], size[1], size[2], []string{b, fmt.Sprintf("\x1b[%db", n), after[n%len(after)]}, true)
				repeated(t, size[0], size[1], size[2], []string{b, fmt.Sprintf("\x1b[%db", n), b, fmt.Sprintf("\x1b[%db", size[0]*size[1])}, n%2 == 0)
			}
		}
	}
}

// TestRepeatedRowsAtRandom is the same for repetitions that follow each other.
func TestRepeatedRowsAtRandom(t *testing.T) {
	const seeds = 300
	chars := []string{"x", " ", "é", "─", "漢", "\x1b[31mx", "\x1b[42mé", "\x1b[mx", "\r\nx", "\x1b[Kx", "\x1b[2;1Hx", "\x1b[9;9Hx", "\x1b[2Jx", "\x1b[Lx", "\x1b[2Xx"}
	for seed := range int64(seeds) {
		r := rand.New(rand.NewSource(seed))
		cols, rows := 1+r.Intn(20), 1+r.Intn(6)
		var parts []string
		for range 8 {
			parts = append(parts, chars[r.Intn(len(chars))], fmt.Sprintf("\x1b[%db", 1+r.Intn(cols*rows)))
		}
		repeated(t, cols, rows, r.Intn(12), parts, r.Intn(2) == 0)
	}
}
