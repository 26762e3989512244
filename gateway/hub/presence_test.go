package hub

import (
	"testing"

	"github.com/stretchr/testify/require"

	"terminalproxy/protocol"
)

// attending is a hub with a session and an agent that asked.
func attending(t *testing.T) (h *Hub, proxy, agent *Peer, again func() *Peer) {
	h = New(nil)
	proxy = h.Join(Member{Role: RoleProxy})
	proxy.Handle(opening("vim-1", "secret"))
	member := Member{Role: RoleAgent, ID: "a-1", Name: "cli", Lasting: true, TokenID: "t-1"}
	again = func() *Peer { return h.Join(member) }
	agent = again()
	agent.Handle(&protocol.ControlRequest{RequestID: "r", SessionID: "vim-1", Level: protocol.LevelDrive, Why: "x", TokenID: "forged"})
	require.Equal(t, "t-1", onlyMessage[*protocol.ControlRequest](t, proxy).TokenID, "what the agent wrote is ignored")
	return h, proxy, agent, again
}

// R70: a proxy is told when an agent with a lasting identity has lost its last connection, and when
// it has one again.
func TestAProxyHearsOfPresenceR70(t *testing.T) {
	h, proxy, first, again := attending(t)
	heard := func() bool {
		t.Helper()
		p := onlyMessage[*protocol.AgentPresence](t, proxy)
		require.Equal(t, "a-1", p.AgentID)
		require.Equal(t, "vim-1", p.SessionID)
		return p.Connected
	}
	second := again()
	first.Leave()
	onlyMessage[*protocol.Cancel](t, proxy) // the asker has left; another one stays
	second.MarkIdle()
	require.False(t, heard(), "it has nothing under way")
	second.MarkIdle()
	third := again()
	require.True(t, heard())
	second.MarkBusy()
	second.Leave()
	third.Leave()
	require.False(t, heard())
	h.Join(Member{Role: RoleAgent, ID: "a-2", Lasting: true}).Leave()
	require.Empty(t, allMessages(proxy), "it has nothing to do with this session")
	idle := again()
	require.True(t, heard())
	idle.MarkIdle()
	require.False(t, heard())
	idle.Leave()
	idle.MarkBusy()
	require.Empty(t, allMessages(proxy))
}

// An agent that wrote to the user and has no lasting identity leaves with its connection: its name
// is free again.
func TestAWriterLeavesWithItsConnectionR72(t *testing.T) {
	_, proxy, agent := scene()
	agent.Handle(&protocol.Note{RequestID: "n", SessionID: "vim-1", From: protocol.FromAgent, Text: "hello"})
	onlyMessage[*protocol.Note](t, proxy)
	agent.Leave()
	gone := onlyMessage[*protocol.ControlRelease](t, proxy)
	require.True(t, gone.Gone)
	require.Equal(t, "a-1", gone.AgentID)
}
