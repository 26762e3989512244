package hub

import (
	"testing"

	"github.com/stretchr/testify/require"

	"terminalproxy/protocol"
)

func TestControlReachesRequesterNamedAgentAndSubscribersOnce(t *testing.T) {
	h, proxy, agent := scene()
	watcher := h.Join(Member{Role: RoleViewer})
	bystander := h.Join(Member{Role: RoleAgent, ID: "a-2"})
	for _, p := range []*Peer{watcher, agent} {
		p.Handle(&protocol.SessionsSubscribe{RequestID: "s", SessionID: "vim-1"})
		onlyMessage[*protocol.Done](t, p)
	}
	agent.Handle(&protocol.ControlRequest{RequestID: "c", SessionID: "vim-1", Level: protocol.LevelDrive, Why: "please", AgentName: "me"})
	asked := onlyMessage[*protocol.ControlRequest](t, proxy)
	require.Equal(t, []string{"a-1", "me"}, []string{asked.AgentID, asked.AgentName})
	grant := &protocol.ControlGrant{ID: "g", SessionID: "vim-1", RequestID: asked.RequestID, AgentID: "a-1", AgentName: "me", Level: protocol.LevelDrive, Epoch: 3}
	proxy.Handle(grant)
	require.Equal(t, "c", onlyMessage[*protocol.ControlGrant](t, agent).RequestID)
	require.Empty(t, onlyMessage[*protocol.ControlGrant](t, watcher).RequestID)
	require.Empty(t, allMessages(bystander))
	require.Equal(t, "a-1:c", grant.RequestID, "a message on its way is not changed")

	// Later, the revoke carries the request's id: the agent finds its own in it.
	proxy.Handle(&protocol.ControlRevoke{ID: "v", SessionID: "vim-1", RequestID: asked.RequestID, AgentID: "a-1", Epoch: 4, Reason: protocol.ReasonReclaimed})
	require.Equal(t, "c", onlyMessage[*protocol.ControlRevoke](t, agent).RequestID)
	onlyMessage[*protocol.ControlRevoke](t, watcher)
	proxy.Handle(&protocol.Note{SessionID: "vim-1", From: "user", Text: "hello"})
	require.Equal(t, "hello", onlyMessage[*protocol.Note](t, agent).Text)
	onlyMessage[*protocol.Note](t, watcher)
	require.Empty(t, allMessages(bystander))
}

// Ending one agent's control leaves another's as it is: its own request, and a refusal of any.
func TestARevokeIsOfOneAgent(t *testing.T) {
	revoke := func(agent string, why protocol.Reason) *protocol.ControlRevoke {
		return &protocol.ControlRevoke{ID: "v", SessionID: "vim-1", AgentID: agent, Epoch: 4, Reason: why}
	}
	for name, c := range map[string]struct {
		revoke *protocol.ControlRevoke
		holder string
	}{
		"its own":              {revoke("a-1", protocol.ReasonReclaimed), protocol.HolderUser},
		"everybody's":          {revoke("", protocol.ReasonExited), protocol.HolderUser},
		"another's request":    {revoke("a-2", protocol.ReasonReleased), protocol.HolderAgent},
		"another's refusal":    {revoke("a-2", protocol.ReasonRefused), protocol.HolderAgent},
		"a refusal of its own": {revoke("a-1", protocol.ReasonRefused), protocol.HolderAgent},
	} {
		t.Run(name, func(t *testing.T) {
			_, proxy, agent := scene()
			proxy.Handle(&protocol.ControlGrant{ID: "g", SessionID: "vim-1", AgentID: "a-1", AgentName: "claude", Level: protocol.LevelDrive, Epoch: 3})
			proxy.Handle(c.revoke)
			allMessages(agent)
			agent.Handle(&protocol.SessionsList{RequestID: "l"})
			require.Equal(t, c.holder, onlyMessage[*protocol.SessionsListResult](t, agent).Sessions[0].Keyboard.Holder)
		})
	}
}

func TestTokenNameStandsForTheAgentsOwn(t *testing.T) {
	h, proxy, _ := scene()
	agent := h.Join(Member{Role: RoleAgent, Name: "laptop", Named: true})
	agent.Handle(&protocol.ControlRequest{RequestID: "c", SessionID: "vim-1", Level: protocol.LevelDrive, Why: "x", AgentName: "the user"})
	require.Equal(t, "laptop", onlyMessage[*protocol.ControlRequest](t, proxy).AgentName)
	agent.Handle(&protocol.Note{RequestID: "n", SessionID: "vim-1", From: "user", AgentName: "the user", Text: "x"})
	note := onlyMessage[*protocol.Note](t, proxy)
	require.Equal(t, []string{"agent", "laptop"}, []string{note.From, note.AgentName})
}

func TestAgentGoneGivesControlBack(t *testing.T) {
	h, proxy, agent := scene()
	lister := h.Join(Member{Role: RoleAgent})
	lasting := h.Join(Member{Role: RoleAgent, ID: "a-9", Lasting: true})
	for _, p := range []*Peer{agent, lasting} {
		p.Handle(&protocol.ControlRequest{RequestID: "c", SessionID: "vim-1", Level: protocol.LevelDrive, Why: "please"})
	}
	lister.Handle(&protocol.SessionsList{RequestID: "l"})
	require.Len(t, allMessages(proxy), 2)
	lister.Leave()
	lasting.Leave()
	// An agent that only listed was never present; a lasting agent stays, and hears the answer later.
	require.Equal(t, []string{"terminal.cancel", "terminal.agent.presence"}, kinds(allMessages(proxy)))
	agent.Leave()
	agent.Leave()
	sent := allMessages(proxy)
	require.Len(t, sent, 2)
	gone := sent[1].(*protocol.ControlRelease)
	require.True(t, gone.Gone)
	require.Equal(t, "a-1", gone.AgentID)
	_, err := protocol.Encode(gone)
	require.NoError(t, err)
}
