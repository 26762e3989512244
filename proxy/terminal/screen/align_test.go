package screen

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// The rows follow the cursor of the real terminal, and only what leaves at the bottom is lost.
func TestAlign(t *testing.T) {
	s := New(Config{Cols: 10, Rows: 4, Scrollback: 10})
	s.Feed([]byte("one\r\ntwo\r\n$ "))
	rows := func() (out []string) {
		for i := range 4 {
			out = append(out, s.RowText(i))
		}
		return out
	}
	rev := s.Rev()
	s.ShiftRows(1)
	require.Equal(t, []string{"", "one", "two", "$"}, rows())
	require.Equal(t, Cursor{Row: 3, Col: 2, Visible: true}, s.Cursor())
	require.Greater(t, s.Rev(), rev)
	require.NoError(t, s.t.verify())
	s.ShiftRows(-3)
	require.Equal(t, []string{"$", "", "", ""}, rows())
	require.Equal(t, []string{"", "one", "two"}, []string{s.HistoryText(0), s.HistoryText(1), s.HistoryText(2)})
	s.ShiftRows(1)
	require.Equal(t, []string{"two", "$", "", ""}, rows())
	require.Equal(t, 2, s.HistoryLen())
	require.NoError(t, s.t.verify())
	s.ShiftRows(-9)
	require.Equal(t, 0, s.Cursor().Row)
	s.ShiftRows(99)
	require.Equal(t, []string{"", "one", "two", "$"}, rows())
	require.Zero(t, s.HistoryLen())
	require.Equal(t, 3, s.Cursor().Row)
	s.Feed([]byte("\x1b[?1049h"))
	rev = s.Rev()
	s.ShiftRows(-1)
	require.Equal(t, rev, s.Rev())
	require.NoError(t, s.t.verify())
}
