package screen

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// highlighted is what stands out on a screen, as "row:columns text".
func highlighted(s *Screen, limit int) (out []string) {
	for _, h := range s.Highlights(nil, limit) {
		text := ""
		for col := h.Col; col < h.Col+h.Cols; col++ {
			text += s.Cell(h.Row, col).Content
		}
		rows := ""
		if h.Rows != 1 {
			rows = fmt.Sprintf("+%d", h.Rows)
		}
		out = append(out, fmt.Sprintf("%d%s:%d-%d %s", h.Row, rows, h.Col, h.Col+h.Cols, text))
	}
	return out
}

func TestHighlights(t *testing.T) {
	const blue, grey, cyan = "\x1b[44m", "\x1b[47;30m", "\x1b[46m"
	tests := []struct {
		name, in string
		want     []string
	}{
		{"nothing", "plain\r\n\x1b[1;4;31mbold\x1b[m", nil},
		{"an empty screen", "", nil},
		{"inverse", "a \x1b[7mSave\x1b[m b", []string{"0:2-6 Save"}},
		{"a status bar that is erased in colour", "\x1b[4;1H\x1b[7;44mfile\x1b[K", []string{"3:0-4 file"}},
		{"blanks are no text", "\x1b[7m    \x1b[m\r\n\x1b[44m  \x1b[K", nil},
		{"a cursor that the program draws", "> x\x1b[7m \x1b[27m\r\n> \x1b[7my\x1b[m", []string{"1:2-3 y"}},
		{"one part though the letters differ in colour", "\x1b[48;5;236ma\x1b[31mb\x1b[1mc", []string{"0:0-3 abc"}},
		{"several rows on a plain screen", "\x1b[44mone\x1b[m\r\n\x1b[44mtwotwo\x1b[m", []string{"0+2:0-6 one"}},
		{"the selected row of a popup", "\x1b[44mone\r\n\x1b[45mtwo\r\n\x1b[44msix\r\n\x1b[44mten", []string{"0:0-3 one", "1:0-3 two", "2+2:0-3 six"}},
		{"the same colour said in two ways", "\x1b[41ma\x1b[48;2;205;0;0mb", []string{"0:0-2 ab"}},
		{"wide characters", "\x1b[7m漢字\x1b[m", []string{"0:0-4 漢字"}},
		{
			"a menu on a painted screen",
			blue + "\x1b[2J\x1b[1;3H" + grey + " File  \x1b[2;3H Open  \x1b[3;3H" + cyan + " Save  " + grey + "\x1b[4;3H Quit  ",
			[]string{"2:2-9  Save  "},
		},
		{
			"a button in the colour of the desktop",
			blue + "\x1b[2J\x1b[1;3H" + grey + "          \x1b[2;3H  " + blue + "<OK>" + grey + "  no  \x1b[3;3H          \x1b[4;3H          ",
			[]string{"1:4-8 <OK>"},
		},
		{"a painted screen and inverse", blue + "\x1b[2Ja\x1b[2;1H\x1b[7mb\x1b[3;1Hc", []string{"1+2:0-1 b"}},
		{
			"a message over the names of keys, as in nano",
			"\x1b[2;6H\x1b[7m[ Read 3 ]\x1b[m\x1b[3;1H\x1b[7m^G\x1b[m Help \x1b[7m^O\x1b[m Out\x1b[4;1H\x1b[7m^X\x1b[m Exit \x1b[7m^R\x1b[m In",
			[]string{"1:5-15 [ Read 3 ]", "2:0-2 ^G", "2:8-10 ^O", "3:0-2 ^X", "3:8-10 ^R"},
		},
		{
			"a question over the names of keys",
			"\x1b[2;1H\x1b[7mSearch:            \x1b[m\x1b[3;1H\x1b[7m^G\x1b[m Help \x1b[7m^W\x1b[m",
			[]string{"1:0-19 Search:            ", "2:0-2 ^G", "2:8-10 ^W"},
		},
		{"hits of a search", "a \x1b[7mhit\x1b[m b\r\n the \x1b[7mhit\x1b[m c", []string{"0:2-5 hit", "1:5-8 hit"}},
		{"text that is marked", "one \x1b[7mtwo\x1b[m\r\n\x1b[7mthree\x1b[m\r\n\x1b[7mfo\x1b[mur", []string{"0+3:0-7 one two"}},
		{"a marked column", "a\x1b[7mb\x1b[mc\r\nd\x1b[7me\x1b[mf", []string{"0+2:1-2 b"}},
		{"inverse all over", "\x1b[7m" + strings.Repeat("x", 80), nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := fed(20, 4, tt.in)
			require.Equal(t, tt.want, highlighted(s, 10))
			require.Len(t, s.Highlights(nil, 1), min(1, len(tt.want)))
		})
	}
}

// A row in which something is veiled says nothing of where its backgrounds end.
func TestR27HighlightsDoNotMeasureASecret(t *testing.T) {
	s := fed(20, 4, "\x1b[7mname\x1b[m\r\n\r\n\x1b[7mPIN: ")
	require.Equal(t, []string{"0:0-4 name", "2:0-5 PIN: "}, highlighted(s, 10))
	s.Veil(true, false)
	s.Feed([]byte("****"))
	require.Equal(t, []string{"0:0-4 name"}, highlighted(s, 10))
}

func TestHistoryNumbersLast(t *testing.T) {
	s := New(Config{Cols: 10, Rows: 3, Scrollback: 5})
	numbers := map[uint64]string{}
	check := func() {
		t.Helper()
		for i := range s.HistoryLen() {
			n, text := s.HistoryNumber()+uint64(i), s.HistoryText(i)
			if was, known := numbers[n]; known {
				require.Equal(t, was, text, "row %d", n)
			}
			numbers[n] = text
		}
	}
	for i := range 12 {
		s.Feed(fmt.Appendf(nil, "漢 %d\r\n", i))
		check()
	}
	require.EqualValues(t, 5, s.HistoryNumber())
	s.Feed([]byte("\x1b[3J"))
	require.EqualValues(t, 10, s.HistoryNumber(), "what was erased is no more")
	s.Feed([]byte("a\r\nb\r\nc\r\n"))
	check()
	next := s.HistoryNumber() + uint64(s.HistoryLen())
	s.Resize(10, 2)
	check()
	require.Greater(t, s.HistoryNumber()+uint64(s.HistoryLen()), next, "a lower terminal: one more row, and the same numbers")
	for _, cols := range []int{5, 20, 3} {
		_, rows := s.Size()
		end := s.HistoryNumber() + uint64(s.HistoryLen()+rows)
		s.Resize(cols, 2)
		require.GreaterOrEqual(t, s.HistoryNumber(), end, "another width: other rows")
		check()
	}
}

func BenchmarkHighlights(b *testing.B) {
	s := fed(80, 24, strings.Repeat("\x1b[34mkey\x1b[m = \x1b[7mvalue\x1b[m and more text that is plain\r\n", 24))
	var dst []Highlight
	for b.Loop() {
		dst = s.Highlights(dst[:0], 32)
	}
}
