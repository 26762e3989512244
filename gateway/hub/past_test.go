package hub

import (
	"testing"

	"github.com/stretchr/testify/require"

	"terminalproxy/protocol"
)

// TestAnEndedProgramsHistoryIsRead: a program prints its last words and ends before anybody asks.
func TestAnEndedProgramsHistoryIsRead(t *testing.T) {
	_, proxy, agent := scene()
	proxy.Handle(full("vim-1", 7, "last", ""))
	past := &protocol.Past{
		Text: "one\ntwo\n\nfour", FirstLine: 10, NextLine: 14, HiddenText: []int{1, 3},
		Seen: []protocol.Seen{{Seq: 3, Line: 8}, {Seq: 5, Line: 12}, {Seq: 6, Line: 14}},
	}
	proxy.Handle(&protocol.SessionClose{ID: "c", SessionID: "vim-1", ExitCode: 2, Past: past})
	got(agent)

	read := func(m *protocol.Read) *protocol.ReadResult {
		t.Helper()
		m.RequestID, m.SessionID = "r", "vim-1"
		agent.Handle(m)
		return one[*protocol.ReadResult](t, agent)
	}
	line := func(n uint64) *uint64 { return &n }
	whole := read(&protocol.Read{Scrollback: 100})
	require.Equal(t, []uint64{14, 4}, []uint64{whole.Frame.Line, uint64(whole.Frame.Screen.Scrollback)})
	for _, c := range []struct {
		name                       string
		ask                        *protocol.Read
		text                       string
		first, next, unseen, since uint64
		hidden                     []int
	}{
		{"all", &protocol.Read{Scrollback: 100}, "one\ntwo\n\nfour", 10, 14, 0, 0, []int{1, 3}},
		{"the last of it", &protocol.Read{Scrollback: 2}, "\nfour", 12, 14, 0, 0, []int{1}},
		{"from a line on", &protocol.Read{Scrollback: 2, FromLine: line(11)}, "two\n", 11, 13, 0, 0, []int{0}},
		{"from its end on", &protocol.Read{Scrollback: 2, FromLine: line(14)}, "", 14, 14, 0, 0, nil},
		{"after a screen", &protocol.Read{Scrollback: 100, SinceSeq: 5, Follow: true}, "\nfour", 12, 14, 2, 5, []int{1}},
		{"not all after a screen", &protocol.Read{Scrollback: 1, SinceSeq: 5, Follow: true}, "four", 13, 14, 2, 5, []int{0}},
		{"after a screen of which rows are not kept", &protocol.Read{Scrollback: 100, SinceSeq: 3, Follow: true}, "one\ntwo\n\nfour", 10, 14, 6, 3, []int{1, 3}},
		{"nothing after a screen", &protocol.Read{Scrollback: 100, SinceSeq: 6, Follow: true}, "", 14, 14, 0, 6, nil},
		{"after a screen that is not known", &protocol.Read{Scrollback: 100, SinceSeq: 4, Follow: true}, "", 14, 14, 0, 0, nil},
	} {
		r := read(c.ask)
		require.Equal(t, c.text, r.Text, c.name)
		require.Equal(t, []uint64{10, c.first, c.next, c.unseen, c.since}, []uint64{r.OldestLine, r.FirstLine, r.NextLine, r.Unseen, r.Frame.Since}, c.name)
		require.Equal(t, c.hidden, r.HiddenText, c.name)
	}
	for _, from := range []uint64{9, 15} {
		agent.Handle(&protocol.Read{RequestID: "r", SessionID: "vim-1", Scrollback: 1, FromLine: line(from)})
		require.Equal(t, "the program has ended, and of its history the lines from 10 to before 14 are kept", one[*protocol.Error](t, agent).Message)
	}

	agent.Handle(&protocol.Wait{RequestID: "w", SessionID: "vim-1", Until: protocol.Until{Exit: true}, SinceSeq: 5, Scrollback: 100})
	waited := one[*protocol.WaitResult](t, agent)
	require.Equal(t, "\nfour", waited.Text)
	require.Equal(t, []uint64{5, 12, 14, 2}, []uint64{waited.Frame.Since, waited.FirstLine, waited.NextLine, waited.Unseen})
}
