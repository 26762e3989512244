package screen_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"terminalproxy/proxy/screen"
)

func TestR45RowConceals(t *testing.T) {
	tests := []struct {
		name, in string
		want     bool
	}{
		{"plain", "text", false},
		{"colours", "\x1b[31;42mtext", false},
		{"SGR 8", "see \x1b[8mnot\x1b[28m", true},
		{"SGR 8, blanks only", "see \x1b[8m   \x1b[28m", false},
		{"same indexed colour", "\x1b[37;47mx", true},
		{"same colour, one bright", "\x1b[97;47mx", false},
		{"same colour in two spellings", "\x1b[38;5;16;48;2;0;0;0mx", true},
		{"same RGB", "\x1b[38;2;1;2;3;48;2;1;2;3mx", true},
		{"inverse hides it no less", "\x1b[7;31;41mx", true},
		{"a filled row", "\x1b[41m\x1b[2K", false},
		{"wide", "\x1b[8m日", true},
		{"default on default", "\x1b[39;49mx", false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := screen.New(screen.Config{Cols: 20, Rows: 2})
			s.Feed([]byte(tt.in))
			require.Equal(t, tt.want, s.RowConceals(0))
			require.False(t, s.RowConceals(1))
			require.False(t, s.RowConceals(-1))
			require.False(t, s.RowConceals(2))

			s = screen.New(screen.Config{Cols: 20, Rows: 2, Scrollback: 10})
			s.Feed([]byte("日 \x1b[m" + tt.in + "\x1b[m\r\n" + tt.in + "\x1b[m\r\n\n\n"))
			require.Equal(t, tt.want, s.HistoryConceals(0), "with a wide character before it")
			require.Equal(t, tt.want, s.HistoryConceals(1))
			require.False(t, s.HistoryConceals(-1))
			require.False(t, s.HistoryConceals(9))
		})
	}
}
