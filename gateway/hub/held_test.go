package hub

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"terminalproxy/protocol"
)

// The sessions of one token share a bound, over all of its connections. The connection that reaches
// the bound is cut; an ended session or a smaller screen makes room.
func TestATokensSessionsShareABound(t *testing.T) {
	const screen = 1 << 20
	h := New(nil)
	defer h.Close()
	join := func(token string) *Peer { return h.Join(Member{Role: RoleProxy, ID: token, TokenID: token}) }
	fills := func(p *Peer, id string, bytes int) {
		p.Handle(&protocol.SessionOpen{ID: "o", SessionID: id, Command: "vim", Cols: 80, Rows: 24, StartedAt: 1})
		p.Handle(&protocol.Snapshot{
			ID: "s", SessionID: id, Seq: 1, Keyboard: &protocol.Keyboard{Holder: protocol.HolderUser},
			Screen: &protocol.Screen{Cols: 80, Rows: 1, Lines: []string{strings.Repeat("x", bytes)}},
		})
	}
	first, second := join("one"), join("one")
	for n := range maxHeld / screen {
		fills([]*Peer{first, second}[n%2], fmt.Sprint("s-", n), screen)
	}
	require.NoError(t, first.out.endReason())
	fills(first, "s-0", screen) // the same again
	require.NoError(t, first.out.endReason())

	heavy := join("one")
	fills(heavy, "heavy", 1)
	require.ErrorIs(t, heavy.out.endReason(), ErrHeavy)
	for name, token := range map[string]string{"another token": "two", "the user's own": ""} {
		other := join(token)
		fills(other, "other "+name, 2*screen)
		require.NoError(t, other.out.endReason(), name)
	}

	fills(second, "s-1", screen/2)
	fills(join("one"), "fits", screen/2)
	require.Equal(t, maxHeld, h.heldScreens["one"])
	for _, s := range h.sessions {
		h.forgetSession(s)
	}
	require.Empty(t, h.heldScreens)
}

// The conversations of one token share a bound: beyond it a conversation keeps its newest record, and its
// listeners learn how many they missed.
func TestConversationsOfATokenAreBounded(t *testing.T) {
	h := New(nil)
	defer h.Close()
	empty := (&protocol.ChatRecord{}).ApproxSize()
	heldBy := func(token string, sessions int) (all int) {
		for n := range sessions {
			p := h.Join(Member{Role: RoleProxy, ID: fmt.Sprint(token, n), TokenID: token})
			id := fmt.Sprint(token, "-", n)
			p.Handle(&protocol.SessionOpen{ID: "o", SessionID: id, Command: "claude", Cols: 80, Rows: 24, StartedAt: 1, Chat: true})
			listener := h.Join(Member{Role: RoleAgent, ID: "agent" + id})
			listener.Handle(&protocol.ChatSubscribe{RequestID: "1", SessionID: id})
			s := h.sessions[key{"", id}]
			p.Handle(&protocol.Done{RequestID: s.conversation.subscribing})
			for number := range uint64(maxTalk >> 20) {
				p.Handle(&protocol.ChatRecords{SessionID: id, Records: []protocol.ChatRecord{{
					Number: number + 1, Item: &protocol.ChatItem{Kind: protocol.ChatText, Text: strings.Repeat("x", 1<<20-empty)},
				}}})
			}
			require.NotEmpty(t, s.conversation.records, "the newest one stays")
			require.Equal(t, uint64(maxTalk>>20), s.conversation.last)
			all += s.conversation.size
		}
		return all
	}
	const full = maxHeld / maxTalk
	require.Equal(t, maxHeld, heldBy("one", full))
	require.Equal(t, maxHeld, h.heldTalk["one"])
	require.Equal(t, 4<<20, heldBy("one more of the same token", 1), "another token has room")
	require.Equal(t, 2*maxTalk, heldBy("", 2), "the user's own have no bound")
	late := heldBy("two", full+3)
	require.Equal(t, maxHeld+3<<20, late, "a record each")
	for _, s := range h.sessions {
		h.forgetSession(s)
	}
	require.Empty(t, h.heldTalk)
}
