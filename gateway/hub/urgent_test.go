package hub

import (
	"testing"

	"github.com/stretchr/testify/require"

	"terminalproxy/protocol"
)

func TestAConnectionIsUrgentWhileAnAgentTypesOverIt(t *testing.T) {
	h, proxy, agent := scene()
	other := h.Join(Member{Role: RoleAgent, ID: "a-2"})
	same := h.Join(Member{Role: RoleAgent, ID: "a-1", Namespace: "elsewhere"})
	urgent := func() []bool { return []bool{proxy.IsUrgent(), agent.IsUrgent(), other.IsUrgent(), same.IsUrgent()} }
	require.Equal(t, []bool{false, false, false, false}, urgent())
	proxy.Handle(&protocol.ControlGrant{ID: "g", SessionID: "vim-1", AgentID: "a-1", Epoch: 3, Level: protocol.LevelDrive})
	require.Equal(t, []bool{true, true, false, false}, urgent())
	proxy.Handle(&protocol.ControlRevoke{ID: "v", SessionID: "vim-1", AgentID: "a-1", Epoch: 4, Reason: protocol.ReasonReclaimed})
	require.Equal(t, []bool{false, false, false, false}, urgent())
}
