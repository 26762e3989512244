package screen

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestLinksOfARow(t *testing.T) {
	s := New(Config{Cols: 20, Rows: 2, Scrollback: 10})
	require.Empty(t, s.RowLinks(0))
	s.Feed([]byte("a \x1b]8;;http://one\x1b\\\x1b[31mre\x1b[32md世\x1b]8;;http://two\x1b\\x\x1b]8;;\x1b\\ y"))
	want := []LinkSpan{{2, 7, "http://one"}, {7, 8, "http://two"}}
	require.Equal(t, want, s.RowLinks(0))
	require.Empty(t, s.RowLinks(1))
	s.Feed([]byte("\r\n\r\n"))
	require.Equal(t, want, s.HistoryLinks(0))
	require.Empty(t, s.HistoryLinks(1))
	require.Empty(t, s.HistoryLinks(-1))
	s.Feed([]byte("\x1b]8;;http://end\x1b\\" + "0123456789012345678901"))
	require.Equal(t, []LinkSpan{{0, 20, "http://end"}}, s.RowLinks(0))
	require.Equal(t, []LinkSpan{{0, 2, "http://end"}}, s.RowLinks(1))
}
