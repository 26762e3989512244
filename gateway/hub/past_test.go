package hub

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"terminalproxy/protocol"
)

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
