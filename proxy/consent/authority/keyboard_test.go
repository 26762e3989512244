package authority

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"terminalproxy/protocol"
	"terminalproxy/proxy/consent/control"
)

// The keyboard's state as agents see it, in each phase.
func TestAgentsSeeTheKeyboardsState(t *testing.T) {
	at := time.UnixMilli(1_700_000_000_000)
	ada := control.Agent{ID: "a", Name: "ada"}
	granted := protocol.Keyboard{Holder: protocol.HolderAgent, Epoch: 7, AgentID: "a", AgentName: "ada", Level: protocol.LevelType, ExpiresAt: at.UnixMilli()}
	line, confirm := granted, granted
	line.Held, line.HeldWhy, line.HeldLine = true, protocol.HeldLine, "git st"
	confirm.Held, confirm.HeldWhy = true, protocol.HeldConfirm
	state := control.State{Epoch: 7, Phase: control.Granted, Agent: ada, Level: protocol.LevelType, Until: at}
	onLine, waits := state, state
	onLine.Occupied, onLine.Line = true, "git st"
	waits.Pending.Keys, waits.Occupied, waits.Line = "<Enter>", true, "git st"
	for name, c := range map[string]struct {
		state control.State
		want  protocol.Keyboard
	}{
		"nobody asks": {control.State{Epoch: 7}, protocol.Keyboard{Holder: protocol.HolderUser, Epoch: 7}},
		"one asks": {
			control.State{Epoch: 7, Phase: control.Asked, Agent: ada, Level: protocol.LevelDrive, Reason: "to test", Asked: at},
			protocol.Keyboard{Holder: protocol.HolderUser, Epoch: 7, Asking: "ada", AskingLevel: protocol.LevelDrive, AskingReason: "to test", AskingSince: at.UnixMilli()},
		},
		"granted":               {state, granted},
		"the user is on a line": {onLine, line},
		"confirmation is first": {waits, confirm},
	} {
		t.Run(name, func(t *testing.T) {
			var a Authority
			a.newest.Store(&c.state)
			require.Equal(t, c.want, a.Keyboard())
		})
	}
}
