package hub

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"terminalproxy/protocol"
)

// A subscriber to changes gets the first screen whole. Then it gets the rows that differ from its
// last fetch, whatever it skipped in between, and never the rolling text. Other subscribers get
// everything.
func TestChangesFollowASubscribersLastFetch(t *testing.T) {
	_, proxy, lean := scene()
	whole := lean.hub.Join(Member{Role: RoleAgent, ID: "a-2"})
	lean.Handle(&protocol.SessionsSubscribe{RequestID: "s", SessionID: "vim-1", Changes: true})
	whole.Handle(&protocol.SessionsSubscribe{RequestID: "s", SessionID: "vim-1"})
	long := strings.Repeat("x", 100)
	proxy.Handle(full("vim-1", 1, long, "b"))
	first := allMessages(lean)[1].(*protocol.Snapshot)
	require.Equal(t, []string{long, "b"}, first.Screen.Lines)
	require.Empty(t, first.Content)

	proxy.Handle(full("vim-1", 2, long, "c"))
	proxy.Handle(full("vim-1", 3, long, "d")) // replaces the one before
	part := onlyMessage[*protocol.Snapshot](t, lean)
	require.Nil(t, part.Screen.Lines)
	require.Equal(t, []protocol.Row{{Row: 1, Text: "d"}}, part.Changed)
	require.EqualValues(t, 1, part.Since)
	require.Empty(t, part.Content)
	now, ok := part.Complete(first)
	require.True(t, ok)
	require.Equal(t, []string{long, "d"}, now.Screen.Lines)

	all := allMessages(whole)
	last := all[len(all)-1].(*protocol.Snapshot)
	require.Equal(t, []string{long, "d"}, last.Screen.Lines)
	require.NotEmpty(t, last.Content)

	follower := lean.hub.Join(Member{Role: RoleAgent, ID: "a-3"})
	follower.Handle(&protocol.SessionsSubscribe{RequestID: "s", SessionID: "vim-1", Changes: true, Moves: true})
	first = allMessages(follower)[1].(*protocol.Snapshot)
	proxy.Handle(full("vim-1", 4, "d", long))
	first, ok = onlyMessage[*protocol.Snapshot](t, follower).Complete(first)
	require.True(t, ok)
	_ = allMessages(lean)
	proxy.Handle(full("vim-1", 5, long, "e"))
	moved := onlyMessage[*protocol.Snapshot](t, follower)
	require.Equal(t, 1, moved.Moved)
	require.Equal(t, []protocol.Row{{Row: 1, Text: "e"}}, moved.Changed)
	now, ok = moved.Complete(first)
	require.True(t, ok)
	require.Equal(t, []string{long, "e"}, now.Screen.Lines)
	require.Zero(t, now.Moved)
	require.Zero(t, onlyMessage[*protocol.Snapshot](t, lean).Moved, "this one does not know of it")

	lean.Handle(&protocol.SessionsSubscribe{RequestID: "again", SessionID: "vim-1", Changes: true})
	require.NotNil(t, allMessages(lean)[1].(*protocol.Snapshot).Screen.Lines, "a new stream begins with a whole screen")
}

// A proxy that wants to know is told whether it has subscribers: after each open, with the first
// and after the last one.
func TestAProxyHearsOfSubscribers(t *testing.T) {
	h := New(nil)
	proxy, agent, other := h.Join(Member{Role: RoleProxy}), h.Join(Member{Role: RoleAgent, ID: "a-1"}), h.Join(Member{Role: RoleViewer})
	open := opening("vim-1", "secret")
	proxy.Handle(open)
	require.False(t, onlyOf[*protocol.Subscribed](t, everyMessage(proxy)).On)
	subscribe := func(p *Peer) { p.Handle(&protocol.SessionsSubscribe{RequestID: "r", SessionID: "vim-1"}) }
	subscribe(agent)
	require.True(t, onlyOf[*protocol.Subscribed](t, everyMessage(proxy)).On)
	subscribe(other)
	require.Empty(t, everyMessage(proxy))
	proxy.Leave()

	back := h.Join(Member{Role: RoleProxy})
	back.Handle(open)
	require.True(t, onlyOf[*protocol.Subscribed](t, everyMessage(back)).On)
	agent.Leave()
	require.Empty(t, everyMessage(back))
	other.Leave()
	require.False(t, onlyOf[*protocol.Subscribed](t, everyMessage(back)).On)
}

// A subscriber that takes deltas is told what differs from its last fetch, and others as before. A
// proxy may make deltas, too.
func TestADeltaIsToASubscribersLastFetch(t *testing.T) {
	inScene(t, func(t *testing.T, h *Hub, proxy, lean *Peer) {
		older := h.Join(Member{Role: RoleViewer, ID: "v-1"})
		lean.Handle(&protocol.SessionsSubscribe{RequestID: "s", SessionID: "vim-1", Changes: true, Deltas: true})
		older.Handle(&protocol.SessionsSubscribe{RequestID: "s", SessionID: "vim-1", Changes: true})
		settled := func(seq uint64, lines ...string) *protocol.Snapshot {
			m := full("vim-1", seq, lines...)
			m.Settled, m.IdleMs = true, 30
			return m
		}
		proxy.Handle(full("vim-1", 1, "a", "b"))
		first := allMessages(lean)[1].(*protocol.Snapshot)
		_ = allMessages(older)
		proxy.Handle(settled(1, "a", "b"))
		word := onlyMessage[*protocol.SnapshotDelta](t, lean)
		require.Empty(t, word.Changed)
		whole, ok := word.Complete(first)
		require.True(t, ok)
		require.True(t, whole.Settled)
		require.Equal(t, []string{"a", "b"}, whole.Screen.Lines)
		require.NotNil(t, onlyMessage[*protocol.Snapshot](t, older).Screen)

		proxy.Handle(full("vim-1", 2, "a", "c"))
		proxy.Handle(settled(2, "a", "d")) // replaces one that was not fetched
		word = onlyMessage[*protocol.SnapshotDelta](t, lean)
		require.EqualValues(t, 1, word.Since)
		require.Equal(t, []protocol.Row{{Row: 1, Text: "d"}}, word.Changed)
		require.Nil(t, word.Content)
		_ = allMessages(older)

		proxy.Handle(settled(3, "a", "e").Delta(settled(2, "a", "d"), true))
		require.Equal(t, []protocol.Row{{Row: 1, Text: "e"}}, onlyMessage[*protocol.SnapshotDelta](t, lean).Changed)
		late := h.Join(Member{Role: RoleViewer, ID: "v-2"})
		late.Handle(&protocol.SessionsSubscribe{RequestID: "s", SessionID: "vim-1"})
		last := allMessages(late)[1].(*protocol.Snapshot)
		require.Equal(t, []string{"a", "e"}, last.Screen.Lines)
		require.Equal(t, "a\ne", last.Content)

		proxy.Handle(settled(5, "a", "g").Delta(settled(4, "a", "f"), true))
		require.Equal(t, "since", onlyMessage[*protocol.Error](t, proxy).Field)
		require.Empty(t, allMessages(lean), "an old screen is not passed off as a new one")
		proxy.Handle(settled(5, "a", "g"))
		require.Equal(t, []protocol.Row{{Row: 1, Text: "g"}}, onlyMessage[*protocol.SnapshotDelta](t, lean).Changed)
	})
}
