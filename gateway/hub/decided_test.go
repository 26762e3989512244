package hub

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"terminalproxy/protocol"
)

// The list says what was decided last and by whom, and each report of a decision has that too.
func TestTheListNamesTheDecider(t *testing.T) {
	h, proxy, agent := scene()
	defer h.Close()
	decided := func() *protocol.Decision {
		d := h.lists.sessionsOf(listKey{localOnly: true})[0].Decided
		if d != nil {
			require.LessOrEqual(t, d.At, time.Now().UnixMilli())
			require.Positive(t, d.At)
			c := *d
			c.At = 0
			return &c
		}
		return nil
	}
	require.Nil(t, decided())
	grant := &protocol.ControlGrant{ID: "g", SessionID: "vim-1", AgentID: "a-1", AgentName: "claude", Level: protocol.LevelType, Epoch: 2, By: "ada"}
	proxy.Handle(grant)
	require.Equal(t, "ada", onlyMessage[*protocol.ControlGrant](t, agent).By)
	granted := &protocol.Decision{AgentName: "claude", Granted: true, Level: protocol.LevelType, By: "ada"}
	require.Equal(t, granted, decided())

	again := *grant
	again.By = protocol.ByTerminal
	proxy.Handle(&again)
	require.Equal(t, granted, decided(), "it had that already")
	proxy.Handle(&protocol.ControlRevoke{ID: "r", SessionID: "vim-1", AgentID: "a-2", AgentName: "codex", Reason: protocol.ReasonReplaced})
	require.Equal(t, granted, decided(), "it asks once more")

	proxy.Handle(&protocol.ControlRevoke{ID: "r", SessionID: "vim-1", AgentID: "a-2", AgentName: "codex", Reason: protocol.ReasonRefused, By: protocol.ByTerminal})
	require.Equal(t, &protocol.Decision{AgentName: "codex", Reason: protocol.ReasonRefused, By: protocol.ByTerminal}, decided())

	// A proxy from before the gateway told names.
	proxy.Handle(&protocol.ControlRevoke{ID: "r", SessionID: "vim-1", AgentID: "a-1", Epoch: 2, Reason: protocol.ReasonExpired})
	require.Equal(t, &protocol.Decision{AgentName: "claude", Reason: protocol.ReasonExpired}, decided())
	asks := full("vim-1", 1, "a", "b")
	asks.Keyboard = &protocol.Keyboard{Holder: protocol.HolderUser, Asking: "codex"}
	proxy.Handle(asks)
	proxy.Handle(&protocol.ControlRevoke{ID: "r", SessionID: "vim-1", AgentID: "a-2", Reason: protocol.ReasonRefused})
	require.Equal(t, &protocol.Decision{AgentName: "codex", Reason: protocol.ReasonRefused}, decided())
}
