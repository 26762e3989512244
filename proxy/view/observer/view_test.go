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

func TestNoRowsWithoutViewers(t *testing.T) {
	s := newStage(t, 20, 3)
	s.print("one")
	require.Empty(t, s.after(time.Second))
	_ = s.after(time.Second)
	_, timer := s.nextDeadline()
	require.False(t, timer)

	s.SetViewed(s.now, true)
	require.Len(t, s.after(0), 1)
	_ = s.after(time.Second)
	_, timer = s.nextDeadline()
	require.False(t, timer, "nothing changes")

	s.SetViewed(s.now, false)
	s.print("two")
	require.Empty(t, s.after(time.Second))
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

func TestViewersGetRows(t *testing.T) {
	s := newStage(t, 20, 3)
	s.print("\x1b[31mred\x1b[m\r\nplain\x1b]2;a title\a")
	s.SetViewed(s.now, true)
	first := s.after(0)
	require.Len(t, first, 1)
	require.Equal(t, []string{"\x1b[0;31mred\x1b[0m", "plain", ""}, first[0].Lines)
	require.Equal(t, "a title", first[0].State.Title)
	require.Equal(t, 1, first[0].Cursor.Row)
	require.EqualValues(t, 1, first[0].Seq)
	require.Empty(t, s.after(time.Second), "that it has settled changes nothing that is seen")

	s.print("!")
	next := s.after(0)
	require.Len(t, next, 1, "after a pause a change is seen at once")
	require.Equal(t, "plain!", next[0].Lines[1])
	require.EqualValues(t, 2, next[0].Seq)
	for range 10 { // what is printed without a pause is shown at the rate limit
		s.print("!")
		require.LessOrEqual(t, len(s.after(viewEvery/3)), 1)
	}
	s.print("\x1b[?2026h\x1b[2Jhalf")
	require.Empty(t, s.after(viewEvery), "the program is in the middle of drawing")
	s.print("\x1b[Hwhole\x1b[?2026l")
	require.Equal(t, "whole", s.after(viewEvery)[0].Lines[0])
}

func TestViewersSeeNoMoreThanAgents(t *testing.T) {
	s := newStage(t, 60, 3)
	s.SetViewed(s.now, true)
	s.print("export AWS_SECRET_ACCESS_KEY=wJalrXUtnFEMIK7MDENGbPxRfiCYzzzzzzzzKEYz\r\nmine")
	shown := s.after(time.Second)
	require.NotContains(t, shown[len(shown)-1].Lines[0], "wJalr")
	require.Contains(t, shown[len(shown)-1].Lines[0], "export")

	s.ControlChanged(s.now, true)
	shown = s.after(time.Second)
	require.Equal(t, []string{"", "", ""}, shown[len(shown)-1].Lines)
	require.True(t, shown[len(shown)-1].State.Blackout.ByUser())
	require.Zero(t, shown[len(shown)-1].State.Blackout.SinceMs, "it would be another message each time")
	s.print("\r\nhidden")
	for _, m := range s.after(time.Second) {
		require.Equal(t, []string{"", "", ""}, m.Lines)
	}
	s.ControlChanged(s.now, false)
	shown = s.after(time.Second)
	require.Equal(t, "mine", shown[len(shown)-1].Lines[1])
	require.Nil(t, shown[len(shown)-1].State.Blackout)
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

// A copied text joins the rows of a line, on the screen and above it, and on the alternate screen.
func TestViewersKnowWhichRowsContinue(t *testing.T) {
	s := newStage(t, 10, 3)
	s.SetViewed(s.now, true)
	s.print("12345678  abc\r\n")
	shown := s.after(time.Second)
	wraps := []protocol.Wrap{{Row: 0, Blanks: 2}}
	require.Equal(t, wraps, shown[len(shown)-1].State.Wraps)
	s.print("x\r\ny\r\nz")
	shown = s.after(time.Second)
	require.Empty(t, shown[len(shown)-1].State.Wraps)
	zero := uint64(0)
	require.Equal(t, wraps, mustAnswer(t, s.Observer, &protocol.Read{FromLine: &zero, Scrollback: 10, Attributes: true}).Wraps)
	require.Empty(t, mustAnswer(t, s.Observer, &protocol.Read{FromLine: &zero, Scrollback: 10}).Wraps, "an agent reads lines")
	s.print("\x1b[?1049h\x1b[Hmenus of the screen")
	shown = s.after(time.Second)
	require.Equal(t, []protocol.Wrap{{Row: 0}}, shown[len(shown)-1].State.Wraps)
}

// A page opens only targets that start no program and run no script, and shows no secret in one.
func TestViewersGetHyperlinks(t *testing.T) {
	link := func(target, text string) string { return "\x1b]8;;" + target + "\x1b\\" + text + "\x1b]8;;\x1b\\ " }
	s := newStage(t, 60, 3)
	s.SetViewed(s.now, true)
	s.print(link("https://example.org/a", "one") + link("javascript:alert(1)", "two") + link("file:///etc/passwd", "three") +
		link("http:evil", "four") + link("https://example.org/?token=ghp_"+strings.Repeat("a1B2", 9), "five") + link("MAILTO:ada@example.org", "six"))
	shown := s.after(time.Second)
	want := []protocol.Link{{Row: 0, From: 0, To: 3, Target: "https://example.org/a"}, {Row: 0, From: 24, To: 27, Target: "MAILTO:ada@example.org"}}
	require.Equal(t, want, shown[len(shown)-1].State.Links)
	s.print("\r\n\r\n\r\n")
	shown = s.after(time.Second)
	require.Empty(t, shown[len(shown)-1].State.Links)
	zero := uint64(0)
	require.Equal(t, want, mustAnswer(t, s.Observer, &protocol.Read{FromLine: &zero, Scrollback: 10, Attributes: true}).Links)
	require.Empty(t, mustAnswer(t, s.Observer, &protocol.Read{FromLine: &zero, Scrollback: 10}).Links, "an agent reads what is on the screen")

	for i := range 2000 {
		s.print(link("https://example.org/"+strings.Repeat("x", 2000)+strings.Repeat("y", i%7), "a"))
	}
	shown = s.after(time.Second)
	all := shown[len(shown)-1].State.Links
	require.NotEmpty(t, all)
	require.LessOrEqual(t, len(all)*2100, roomForLinks+2100)
}
