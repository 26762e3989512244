package screen_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"terminalproxy/proxy/terminal/screen"
	"terminalproxy/proxy/view/corpus"
)

func TestRowConcealsR45(t *testing.T) {
	for _, tt := range corpus.Rows[struct {
		Name string
		Want bool
		In   string
	}](t, "conceal") {
		t.Run(tt.Name, func(t *testing.T) {
			s := screen.New(screen.Config{Cols: 20, Rows: 2})
			s.Feed([]byte(tt.In))
			require.Equal(t, tt.Want, s.RowConceals(0))
			require.False(t, s.RowConceals(1))
			require.False(t, s.RowConceals(-1))
			require.False(t, s.RowConceals(2))

			s = screen.New(screen.Config{Cols: 20, Rows: 2, Scrollback: 10})
			s.Feed([]byte("日 \x1b[m" + tt.In + "\x1b[m\r\n" + tt.In + "\x1b[m\r\n\n\n"))
			require.Equal(t, tt.Want, s.HistoryConceals(0), "with a wide character before it")
			require.Equal(t, tt.Want, s.HistoryConceals(1))
			require.False(t, s.HistoryConceals(-1))
			require.False(t, s.HistoryConceals(9))
		})
	}
}

// The current palette counts, for history as well: a user who scrolls back sees the same.
func TestThePaletteOfNowR77(t *testing.T) {
	s := screen.New(screen.Config{Cols: 20, Rows: 2, Scrollback: 10})
	s.Feed([]byte("\x1b[31mrun this\x1b[m\r\n───\r\n───"))
	require.False(t, s.HistoryConceals(0))
	rev := s.RowRev(0)
	s.Feed([]byte("\x1b]11;rgb:cd/00/00\a\x1b]4;1;rgb:cd/00/00\a"))
	require.True(t, s.HistoryConceals(0))
	require.False(t, s.RowConceals(0), "a frame is no text")
	require.Greater(t, s.RowRev(0), rev)
	rev = s.RowRev(0)
	s.Feed([]byte("\x1b]111\a"))
	require.Greater(t, s.RowRev(0), rev, "a reset is a change of all rows")
	s.Feed([]byte("\x1b]104\a"))
	require.False(t, s.HistoryConceals(0))
	s.Feed([]byte("\x1b]10;#111\a\x1b]11;#111\a"))
	require.False(t, s.RowConceals(0))
	s.Feed([]byte("a"))
	require.True(t, s.RowConceals(1), "and in the default colours")
}
