package hub

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"terminalproxy/protocol"
)

// A program prints its last words and ends before any client reads.
func TestAnEndedProgramsHistoryIsRead(t *testing.T) {
	_, proxy, agent := scene()
	proxy.Handle(full("vim-1", 7, "last", ""))
	past := &protocol.Past{
		Text: "one\ntwo\n\nfour", FirstLine: 10, NextLine: 14, HiddenText: []int{1, 3}, Wraps: []protocol.Wrap{{Row: 1}, {Row: 4, Blanks: 2}},
		Older: []protocol.Page{protocol.NewPage(protocol.Excerpt{First: 9, Rows: []string{"zero"}, Hidden: []int{0}})},
		Seen:  []protocol.Seen{{Seq: 3, Line: 7}, {Seq: 5, Line: 12}, {Seq: 6, Line: 14}},
	}
	proxy.Handle(&protocol.SessionClose{ID: "c", SessionID: "vim-1", ExitCode: 2, Past: past})
	allMessages(agent)

	read := func(m *protocol.Read) *protocol.ReadResult {
		t.Helper()
		m.RequestID, m.SessionID = "r", "vim-1"
		agent.Handle(m)
		return onlyMessage[*protocol.ReadResult](t, agent)
	}
	agent.Handle(&protocol.View{RequestID: "v", SessionID: "vim-1"})
	rows, ok := allMessages(agent)[1].(*protocol.Rows)
	require.True(t, ok && rows.Line == 14, "who looks knows that there is a history, and where")
	require.Equal(t, []protocol.Wrap{{Row: 0, Blanks: 2}}, rows.State.Wraps)
	line := func(n uint64) *uint64 { return &n }
	whole := read(&protocol.Read{Scrollback: 100})
	require.Empty(t, whole.Wraps, "an agent reads lines")
	require.Equal(t, []protocol.Wrap{{Row: 2}}, read(&protocol.Read{Scrollback: 100, Attributes: true}).Wraps)
	require.Equal(t, []uint64{14, 5}, []uint64{whole.Frame.Line, uint64(whole.Frame.Screen.Scrollback)})
	for _, c := range []struct {
		name                       string
		ask                        *protocol.Read
		text                       string
		first, next, unseen, since uint64
		hidden                     []int
	}{
		{"all", &protocol.Read{Scrollback: 100}, "zero\none\ntwo\n\nfour", 9, 14, 0, 0, []int{0, 2, 4}},
		{"since the beginning", &protocol.Read{Scrollback: 100, SinceSeq: 1, Follow: true}, "zero\none\ntwo\n\nfour", 9, 14, 14, 1, []int{0, 2, 4}},
		{"over two pages", &protocol.Read{Scrollback: 2, FromLine: line(9)}, "zero\none", 9, 11, 0, 0, []int{0}},
		{"the last of it", &protocol.Read{Scrollback: 2}, "\nfour", 12, 14, 0, 0, []int{1}},
		{"from a line on", &protocol.Read{Scrollback: 2, FromLine: line(11)}, "two\n", 11, 13, 0, 0, []int{0}},
		{"from its end on", &protocol.Read{Scrollback: 2, FromLine: line(14)}, "", 14, 14, 0, 0, nil},
		{"after a screen", &protocol.Read{Scrollback: 100, SinceSeq: 5, Follow: true}, "\nfour", 12, 14, 2, 5, []int{1}},
		{"not all after a screen", &protocol.Read{Scrollback: 1, SinceSeq: 5, Follow: true}, "four", 13, 14, 2, 5, []int{0}},
		{"after a screen of which rows are not kept", &protocol.Read{Scrollback: 100, SinceSeq: 3, Follow: true}, "zero\none\ntwo\n\nfour", 9, 14, 7, 3, []int{0, 2, 4}},
		{"nothing after a screen", &protocol.Read{Scrollback: 100, SinceSeq: 6, Follow: true}, "", 14, 14, 0, 6, nil},
		{"after a screen that is not known", &protocol.Read{Scrollback: 100, SinceSeq: 4, Follow: true}, "", 14, 14, 0, 0, nil},
	} {
		r := read(c.ask)
		require.Equal(t, c.text, r.Text, c.name)
		require.Equal(t, []uint64{9, c.first, c.next, c.unseen, c.since}, []uint64{r.OldestLine, r.FirstLine, r.NextLine, r.Unseen, r.Frame.Since}, c.name)
		require.Equal(t, c.hidden, r.HiddenText, c.name)
	}
	for _, from := range []uint64{8, 15} {
		agent.Handle(&protocol.Read{RequestID: "r", SessionID: "vim-1", Scrollback: 1, FromLine: line(from)})
		require.Equal(t, "the program has ended, and only the lines from 9 to before 14 of its history are kept", onlyMessage[*protocol.Error](t, agent).Message)
	}

	agent.Handle(&protocol.Wait{RequestID: "w", SessionID: "vim-1", Until: protocol.Until{Exit: true}, SinceSeq: 5, Scrollback: 100})
	waited := onlyMessage[*protocol.WaitResult](t, agent)
	require.Equal(t, "\nfour", waited.Text)
	require.Equal(t, []uint64{5, 12, 14, 2}, []uint64{waited.Frame.Since, waited.FirstLine, waited.NextLine, waited.Unseen})
}

func TestAnAnswerOfAnEndedSessionIsOneMessage(t *testing.T) {
	_, proxy, agent := scene()
	rows := make([]string, 4)
	for i := range rows {
		rows[i] = strings.Repeat(string(rune('a'+i)), 100<<10)
	}
	hidden := []int{1, 3}
	proxy.Handle(&protocol.SessionClose{ID: "c", SessionID: "vim-1", Past: &protocol.Past{Text: strings.Join(rows, "\n"), NextLine: 4, HiddenText: hidden}})
	allMessages(agent)
	for _, c := range []struct {
		from        *uint64
		first, next uint64
		hidden      []int
	}{{nil, 2, 4, []int{1}}, {new(uint64), 0, 2, []int{1}}} {
		agent.Handle(&protocol.Read{RequestID: "r", SessionID: "vim-1", Scrollback: 100, FromLine: c.from})
		r := onlyMessage[*protocol.ReadResult](t, agent)
		require.Equal(t, []uint64{c.first, c.next}, []uint64{r.FirstLine, r.NextLine})
		require.Equal(t, strings.Join(rows[c.first:c.next], "\n"), r.Text)
		require.Equal(t, c.hidden, r.HiddenText)
	}
}

// end opens and ends a session with a history.
func end(proxy *Peer, id, starter string, past *protocol.Past) {
	open := opening(id, "k")
	open.AgentID = starter
	proxy.Handle(open)
	proxy.Handle(full(id, 3, "shown"))
	proxy.Handle(&protocol.SessionClose{ID: "c", SessionID: id, Past: past})
}

func TestAnEndedSessionIsClosed(t *testing.T) {
	for name, c := range map[string]struct {
		who    Member
		closes bool
	}{
		"its agent":     {Member{Role: RoleAgent, ID: "a-1"}, true},
		"another agent": {Member{Role: RoleAgent, ID: "a-2"}, false},
		"an owner":      {Member{Role: RoleOwner}, true},
		"a person here": {Member{Role: RoleViewer, Local: true}, true},
	} {
		h := New(nil)
		proxy, who := h.Join(Member{Role: RoleProxy}), h.Join(c.who)
		end(proxy, "sh-1", "a-1", &protocol.Past{Text: "row", NextLine: 1})
		who.Handle(&protocol.Close{RequestID: "1", SessionID: "sh-1"})
		if !c.closes {
			mustFail(t, who, "1", protocol.CodeExited)
			continue
		}
		require.Equal(t, "1", onlyMessage[*protocol.Done](t, who).RequestID, name)
		who.Handle(&protocol.Close{RequestID: "2", SessionID: "sh-1"})
		mustFail(t, who, "2", protocol.CodeNoSession)
		require.Empty(t, h.past.tombstones)
	}
}

func TestAnEndedSessionIsHidden(t *testing.T) {
	h := New(nil)
	proxy, person := h.Join(Member{Role: RoleProxy}), h.Join(Member{Role: RoleViewer, Local: true})
	agent := h.Join(Member{Role: RoleAgent})
	end(proxy, "sh-1", "", &protocol.Past{Text: "row", NextLine: 1})
	person.Handle(&protocol.ControlDecide{RequestID: "1", SessionID: "sh-1", By: "ada", Hide: protocol.HideOn})
	require.Equal(t, "1", onlyMessage[*protocol.Done](t, person).RequestID)
	agent.Handle(&protocol.Read{RequestID: "2", SessionID: "sh-1", Text: true, Scrollback: 10})
	r := onlyMessage[*protocol.ReadResult](t, agent)
	require.True(t, r.Frame.Blackout.ByUser())
	require.NotContains(t, r.Frame.Screen.Lines, "shown")
	require.Empty(t, r.Text)
	require.Zero(t, r.NextLine)
}

func TestTheHistoriesOfEndedSessionsAreBounded(t *testing.T) {
	h := New(nil)
	proxy := h.Join(Member{Role: RoleProxy})
	row := strings.Repeat("x", maxPast/8)
	for i := range 20 {
		end(proxy, fmt.Sprintf("sh-%d", i), "", &protocol.Past{Text: row, NextLine: 1})
	}
	require.Len(t, h.past.tombstones, 8)
	require.Equal(t, []string{"sh-12", "sh-19"}, []string{h.past.tombstones[0].key.id, h.past.tombstones[7].key.id})
	require.Len(t, h.sessions, 8)
}

// A read on its way to the proxy when the program ends is answered from the history that is left.
func TestAReadThatTheEndOvertakesIsAnswered(t *testing.T) {
	_, proxy, agent := scene()
	proxy.Handle(full("vim-1", 7, "last", ""))
	agent.Handle(&protocol.Read{RequestID: "r", SessionID: "vim-1", SinceSeq: protocol.FirstSeq, Follow: true, Scrollback: 10})
	agent.Handle(&protocol.Input{RequestID: "i", SessionID: "vim-1", Data: "x"})
	allMessages(agent)
	proxy.Handle(&protocol.SessionClose{ID: "c", SessionID: "vim-1", ExitCode: 2, Signal: "SIGINT", Past: &protocol.Past{Text: "one", NextLine: 1}})
	read, refused := false, false
	for _, m := range allMessages(agent) {
		switch m := m.(type) {
		case *protocol.ReadResult:
			read = true
			require.Equal(t, "r", m.RequestID)
			require.Equal(t, "one", m.Text)
			require.Equal(t, 2, *m.Frame.Activity.ExitCode)
			require.Equal(t, "SIGINT", m.Frame.Activity.Signal)
		case *protocol.Error:
			refused = m.RequestID == "i" && m.Code == protocol.CodeExited
		}
	}
	require.True(t, read)
	require.True(t, refused)
}

func TestAnEndedProgramsHistoryIsSearched(t *testing.T) {
	_, proxy, agent := scene()
	proxy.Handle(full("vim-1", 7, "error last", ""))
	past := &protocol.Past{
		Text: "three\nerror four", FirstLine: 13, NextLine: 15, HiddenText: []int{1},
		Older: []protocol.Page{protocol.NewPage(protocol.Excerpt{First: 10, Rows: []string{"zero", "error one", "two"}})},
		Seen:  []protocol.Seen{{Seq: 5, Line: 12}},
	}
	proxy.Handle(&protocol.SessionClose{ID: "c", SessionID: "vim-1", ExitCode: 2, Past: past})
	allMessages(agent)
	find := func(from *uint64) (lines []uint64) {
		agent.Handle(&protocol.Read{RequestID: "r", SessionID: "vim-1", Match: "error", Scrollback: 10, FromLine: from})
		for _, r := range onlyMessage[*protocol.ReadResult](t, agent).Found.Rows {
			lines = append(lines, r.Line)
			require.Equal(t, r.Line == 14, r.Hidden)
		}
		return lines
	}
	require.Equal(t, []uint64{11, 14, 15}, find(nil))
	require.Equal(t, []uint64{14, 15}, find(new(uint64(12))))
	require.Empty(t, find(new(uint64(99))))
	agent.Handle(&protocol.Read{RequestID: "r", SessionID: "vim-1", Match: "(", Scrollback: 10})
	require.Equal(t, "match", onlyMessage[*protocol.Error](t, agent).Field)

	exit, failure := protocol.Until{Exit: true}, protocol.Until{Regex: "err[a-z]+ \\w+"}
	for _, c := range []struct {
		name         string
		wait         protocol.Wait
		met, stopped bool
		matched      string
		came         *protocol.Until
	}{
		{"the end", protocol.Wait{Until: exit}, true, false, "exit", nil},
		{"on the last screen", protocol.Wait{Until: protocol.Until{Text: "last"}}, true, false, "last", nil},
		{"not seen before", protocol.Wait{Until: exit, Stop: []protocol.Until{failure}, SinceSeq: protocol.FirstSeq}, false, true, "error one", &failure},
		{"seen before", protocol.Wait{Until: exit, Any: []protocol.Until{failure}, AfterSeq: 5}, true, false, "error four", &failure},
		{"seen all", protocol.Wait{Until: failure, Any: []protocol.Until{exit}, AfterSeq: 7}, true, false, "exit", &exit},
		{"too old to know", protocol.Wait{Until: protocol.Until{Text: "error one"}, AfterSeq: 4}, false, false, "", nil},
	} {
		c.wait.RequestID, c.wait.SessionID = "w", "vim-1"
		agent.Handle(&c.wait)
		r := onlyMessage[*protocol.WaitResult](t, agent)
		require.Equal(t, []bool{c.met, c.stopped}, []bool{r.Met, r.Stopped}, c.name)
		require.Equal(t, c.matched, r.Matched, c.name)
		require.Equal(t, c.came, r.Came, c.name)
		require.Equal(t, 2, *r.ExitCode, c.name)
	}
}
