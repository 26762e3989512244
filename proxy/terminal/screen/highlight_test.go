package screen

import (
	"fmt"
	"strings"
	"testing"

	"terminalproxy/proxy/view/corpus"

	"github.com/stretchr/testify/require"
)

// highlighted lists what stands out on a screen, as "row:columns text".
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
	for _, tt := range corpus.Rows[struct{ Name, In, Want string }](t, "highlights") {
		t.Run(tt.Name, func(t *testing.T) {
			s := fed(20, 4, tt.In)
			require.Equal(t, tt.Want, strings.Join(highlighted(s, 10), "; "))
			require.Len(t, s.Highlights(nil, 1), min(1, len(tt.Want)))
		})
	}
}

// A row with a veiled part does not reveal where its backgrounds end.
func TestHighlightsDoNotMeasureASecretR27(t *testing.T) {
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
