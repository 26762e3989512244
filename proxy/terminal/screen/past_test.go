package screen

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// The terminal's earlier text comes first in the history, then the program's newest rows, and the
// screen is blank.
func TestThePastGoesUp(t *testing.T) {
	s := New(Config{Cols: 20, Rows: 2, Scrollback: 10})
	s.Feed([]byte("one\r\ntwo\r\nthree\r\nfour\r\nfive"))
	other := New(Config{Cols: 20, Rows: 3, Scrollback: 10})
	other.Feed([]byte("$ ls\r\n$ gateway attach"))
	other.Feed(s.AppendPast(nil, 3, 2))
	require.Equal(t, []string{"$ ls", "$ gateway attach", "", "two", "three"}, past(other))
	require.Equal(t, "|\n", picture(other))
	other.Feed(s.AppendPicture(nil))
	require.Equal(t, "four\nfive|\n", picture(other))
}

func past(s *Screen) (rows []string) {
	for i := range s.HistoryLen() {
		rows = append(rows, s.HistoryText(i))
	}
	return rows
}
