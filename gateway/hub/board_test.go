package hub

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"terminalproxy/protocol"
)

// nextChange returns the next change of the list that p receives, however long that takes.
func nextChange(t *testing.T, p *Peer) *protocol.SessionsChanged {
	t.Helper()
	m, err := p.Next(t.Context().Done())
	require.NoError(t, err)
	changed, ok := m.(*protocol.SessionsChanged)
	require.True(t, ok, "%s", protocol.KindOf(m))
	return changed
}

// A watcher receives all of the list, and then its changes; a changing screen is not one of them,
// nor is passing time.
func TestTheListOfSessionsIsWatched(t *testing.T) {
	h, proxy, agent := scene()
	defer h.Close()
	watch := func(ns string) *Peer {
		p := h.Join(Member{Role: RoleViewer, Namespace: ns})
		p.Handle(&protocol.SessionsWatch{RequestID: "w"})
		all := allMessages(p)
		require.Equal(t, []string{"done", "sessions.changed"}, kinds(all))
		require.True(t, all[1].(*protocol.SessionsChanged).Full)
		return p
	}
	one, two, elsewhere := watch(""), watch(""), watch("team")
	proxy.Handle(opening("vim-2", "k"))
	for _, p := range []*Peer{one, two} {
		m := nextChange(t, p)
		require.False(t, m.Full)
		require.Equal(t, "vim-2", m.Sessions[0].SessionID)
	}
	grant := &protocol.ControlGrant{ID: "g", SessionID: "vim-1", AgentID: agent.ID(), AgentName: "claude", Level: protocol.LevelDrive, Epoch: 1}
	proxy.Handle(grant)
	m := nextChange(t, one)
	require.Len(t, m.Sessions, 1)
	require.Equal(t, protocol.HolderAgent, m.Sessions[0].Keyboard.Holder)

	_ = nextChange(t, two)

	late := watch("") // it has what the others have
	proxy.Handle(&protocol.SessionClose{ID: "c", SessionID: "vim-2", ExitCode: 3})
	for _, p := range []*Peer{one, two, late} {
		require.Equal(t, 3, nextChange(t, p).Sessions[0].ExitCode)
	}
	h.mu.Lock()
	h.forgetSession(h.sessions[key{"", "vim-1"}])
	h.mu.Unlock()
	for _, p := range []*Peer{one, two, late} {
		require.Equal(t, []string{"vim-1"}, nextChange(t, p).Gone)
	}
	require.Empty(t, allMessages(elsewhere))
}

// An update is sent when the list changed, not each time that a proxy reports.
func TestAnUnchangedListIsNotSent(t *testing.T) {
	h, proxy, _ := scene()
	defer h.Close()
	first := full("vim-1", 1, "a", "b")
	first.UsedAt = 60_000
	proxy.Handle(first)
	p := h.Join(Member{Role: RoleViewer})
	p.Handle(&protocol.SessionsWatch{RequestID: "w"})
	_ = allMessages(p)
	for seq := uint64(2); seq < 10; seq++ {
		s := full("vim-1", seq, "a", "b")
		s.UsedAt = int64(60_000 + seq*1000) //nolint:gosec // small
		proxy.Handle(s)
	}
	h.mu.Lock()
	h.lists.boards[listKey{localOnly: true}].rhythm.last = time.Time{}
	h.lists.sendChanges(h.lists.boards[listKey{localOnly: true}])
	h.mu.Unlock()
	require.Empty(t, allMessages(p))
	later := full("vim-1", 10, "a", "b")
	later.Foreground, later.Directory = "make", "/src"
	proxy.Handle(later)
	m := nextChange(t, p).Sessions[0]
	require.Equal(t, []any{"make", "/src", int64(69_000)}, []any{m.Foreground, m.Directory, m.UsedAt}, "the newest time that is known")
	p.Leave()
	h.mu.Lock()
	defer h.mu.Unlock()
	require.Empty(t, h.lists.boards)
}

// A changing screen is reported now and then, with its last line and how long it has been quiet.
func TestTheListTellsOfScreensNowAndThen(t *testing.T) {
	h, proxy, _ := scene()
	defer h.Close()
	proxy.Handle(full("vim-1", 1, "a", "b"))
	p := h.Join(Member{Role: RoleViewer})
	p.Handle(&protocol.SessionsWatch{RequestID: "w"})
	all := allMessages(p)
	require.Equal(t, "b", all[1].(*protocol.SessionsChanged).Sessions[0].LastLine)
	b := h.lists.boards[listKey{localOnly: true}]
	tell := func(ago time.Duration) []protocol.Message {
		h.mu.Lock()
		defer h.mu.Unlock()
		for id, was := range b.sent {
			was.at = time.Now().Add(-ago)
			b.sent[id] = was
			b.stale[id] = struct{}{}
		}
		h.lists.sendChanges(b)
		return allMessages(p)
	}
	proxy.Handle(full("vim-1", 2, "a", " c "))
	require.Empty(t, tell(0))
	require.NotNil(t, b.screens.timer, "it will be told")
	m := tell(outputEvery)[0].(*protocol.SessionsChanged).Sessions[0]
	require.Equal(t, []any{uint64(2), "c"}, []any{m.Seq, m.LastLine})
	require.Empty(t, tell(outputEvery), "that is told")
}

// The last line of the screen is what agents may see of it.
func TestTheLastLine(t *testing.T) {
	h, proxy, _ := scene()
	defer h.Close()
	last := func() string { return h.lists.sessionsOf(listKey{localOnly: true})[0].LastLine }
	require.Empty(t, last())
	hidden := full("vim-1", 1, "make: ok", "you do not see this", "  ")
	hidden.HiddenText = []int{1}
	proxy.Handle(hidden)
	require.Equal(t, "make: ok", last())
	for _, why := range []string{protocol.BlackoutPassword, protocol.BlackoutUser} {
		require.NotEmpty(t, last())
		proxy.Handle(&protocol.Blackout{ID: "b", SessionID: "vim-1", On: true, Why: why})
		require.Empty(t, last(), why)
		proxy.Handle(&protocol.Blackout{ID: "b", SessionID: "vim-1", Why: why})
	}
	proxy.Handle(full("vim-1", 3, strings.Repeat("é", 150)))
	require.Equal(t, strings.Repeat("é", 100)+"…", last())
}
