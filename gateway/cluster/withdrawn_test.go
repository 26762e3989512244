package cluster

import (
	"testing"

	"github.com/stretchr/testify/require"

	"terminalproxy/protocol"
)

// The call gives it up, its connection ends, or the gateway that it came through ends.
func TestAQuestionFromAnotherGatewayDiesWithItsAsker(t *testing.T) {
	for name, giveUp := range map[string]func(at *node, agent *player){
		"the call": func(_ *node, agent *player) {
			agent.Handle(&protocol.Cancel{RequestID: "r", SessionID: "one", Withdraw: true})
		},
		"its connection":  func(_ *node, agent *player) { agent.Leave() }, // as when the command is killed
		"another gateway": func(at *node, _ *player) { at.vanish() },
	} {
		t.Run(name, func(t *testing.T) {
			three(t, func(t *testing.T, _ *fakeNATS, a, b, _ *node) {
				proxy := a.proxy()
				proxy.Handle(opening("one"))
				who := known["agent"]
				who.ID, who.Token, who.Lasting = "a-1", "agent", true // commands and MCP servers have such an identity
				agent := b.enters(who)
				agent.Handle(&protocol.ControlRequest{RequestID: "r", SessionID: "one", Level: protocol.LevelDrive, Why: "to test"})
				asked := next[*protocol.ControlRequest](proxy)
				giveUp(b, agent)
				for {
					m := next[protocol.Message](proxy)
					if cancel, ok := m.(*protocol.Cancel); ok {
						require.True(t, cancel.Withdraw)
						require.Equal(t, asked.RequestID, cancel.RequestID)
						return
					}
				}
			})
		})
	}
}
