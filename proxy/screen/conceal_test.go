package screen_test

import (
	"fmt"
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
		{"R77 bold is bright", "\x1b[1;37;47mx", false},
		{"R77 bold black on black", "\x1b[1;30;40mx", false},
		{"R77 a frame", "\x1b[37;47m┌──┐│█▓░▀\x1b(0lqk\x1b(B", false},
		{"R77 signs", "\x1b[37;47m~ -- | \ue0b0 ▲ ⠿", false},
		{"R77 a word in a frame", "\x1b[37;47m│rm│", true},
		{"R77 accents", "\x1b[37;47me\u0301", true},
		{"R77 near in RGB", "\x1b[38;2;10;10;10;48;2;0;0;0mx", true},
		{"R77 near, indexed", "\x1b[38;5;235;48;5;234mx", true},
		{"R77 grey, but to be read", "\x1b[38;2;60;60;60;48;2;0;0;0mx", false},
		{"R77 black on the default, which is assumed to be black", "\x1b[30mx", true},
		{"R77 RGB black on the default", "\x1b[38;2;0;0;0mx", true},
		{"R77 two of the terminal's own", "\x1b[97;47mx\x1b[47mx\x1b[37;49mx", false},
		{"R77 OSC 4", "\x1b]4;1;#000;2;rgb:01/01/01\a\x1b[31;42mx", true},
		{"R77 OSC 4 over the default", "\x1b]4;3;#000000\a\x1b[33mx", true},
		{"R77 OSC 4 makes it readable", "\x1b]4;7;#ffffff;0;#000\a\x1b[37;40mx", false},
		{"R77 OSC 4 and bold", "\x1b]4;9;#000;0;#000\a\x1b[1;31;40mx", true},
		{"R77 OSC 10 and 11", "\x1b]10;#123456\a\x1b]11;#123457\ax", true},
		{"R77 OSC 10 in one list", "\x1b]10;#123456;#123457\ax", true},
		{"R77 OSC 11 afterwards", "\x1b[38;2;255;255;255mx\x1b]11;#fff\a", true},
		{"R77 OSC 10 and 11, reset", "\x1b]10;#123456\a\x1b]11;#123457\ax\x1b]110\a\x1b]111\a", false},
		{"R77 OSC 4, reset", "\x1b]4;1;#000;2;#000\a\x1b[31;42mx\x1b]104\a", false},
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

// The palette counts as it is when somebody looks, for history as well: so it is for the user who scrolls back.
func TestR77ThePaletteOfNow(t *testing.T) {
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

func BenchmarkRowConceals(b *testing.B) {
	s := screen.New(screen.Config{Cols: 200, Rows: 50})
	for i := range 200 * 50 {
		s.Feed(fmt.Appendf(nil, "\x1b[38;2;%d;%d;200;48;5;%dmx", i%256, i/256, i%16))
	}
	b.ReportAllocs()
	for b.Loop() {
		for row := range 50 {
			s.RowConceals(row)
		}
	}
}
