package observer

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"terminalproxy/protocol"
)

// after returns what viewers were sent since the last call, once time has passed.
func (s *stage) after(pass time.Duration) []protocol.Rows {
	s.now = s.now.Add(pass)
	s.runDue(s.now)
	out := s.views
	s.views = nil
	return out
}

// A picture made of cells of many colours exceeds a frame on a large terminal. It is sent without
// colours.
func TestRowsHaveRoomInAFrame(t *testing.T) {
	const cols, rows = 400, 100
	s := newStage(t, cols, rows)
	s.SetViewed(s.now, true)
	s.print("\x1b[31mred\x1b[m")
	require.Equal(t, "\x1b[0;31mred\x1b[0m", s.after(time.Second)[0].Lines[0])
	for row := range rows {
		s.print(fmt.Sprintf("\x1b[%dH", row+1))
		for col := range cols {
			s.print(fmt.Sprintf("\x1b[38;2;%d;%d;7;48;2;9;%d;%dm▀", 100+row, 100+col%100, 100+row, 100+col%100))
		}
	}
	full := s.after(time.Second)
	require.Len(t, full, 1)
	full[0].SessionID = "vim-1"
	_, err := protocol.Encode(&full[0])
	require.NoError(t, err)
	require.Equal(t, strings.Repeat("▀", cols), full[0].Lines[rows/2])

	s.print("\x1b[m\x1b[2J\x1b[H\x1b[32mgreen")
	require.Equal(t, "\x1b[0;32mgreen\x1b[0m", s.after(time.Second)[0].Lines[0])
}

// A blank in the last column of a row that wraps is text, on the screen and above it.
func TestAWrappedLineKeepsItsBlanks(t *testing.T) {
	for _, text := range []string{
		"123456789 123456789 123456789 end", "a  b   c    d     e      f end", "日本 日本 日本 日本 日本 日本 日本 end", "x日本日本日本日本日本日本日本 end",
	} {
		for cols := 9; cols <= 23; cols++ {
			o := newWatched(cols, 8)
			o.FeedNow([]byte(text))
			name := fmt.Sprintf("%q at %d columns", text, cols)
			require.NoError(t, o.CheckExpectation(&protocol.Expect{Text: text}), name)
			o.FeedNow([]byte(strings.Repeat("\r\n", 9)))
			require.Equal(t, text, o.waitView().LinesGone(protocol.FirstSeq)[0], name)
		}
	}
}

// The links of a screen have a bound.
func TestLinksHaveRoomInAFrame(t *testing.T) {
	s := newStage(t, 60, 3)
	s.SetViewed(s.now, true)
	for i := range 2000 {
		s.print("\x1b]8;;https://example.org/" + strings.Repeat("x", 2000) + strings.Repeat("y", i%7) + "\x1b\\a\x1b]8;;\x1b\\ ")
	}
	shown := s.after(time.Second)
	all := shown[len(shown)-1].State.Links
	require.NotEmpty(t, all)
	require.LessOrEqual(t, len(all)*2100, roomForLinks+2100)
}
