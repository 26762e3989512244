package authority

import (
	"time"

	"terminalproxy/protocol"
	"terminalproxy/proxy/consent/control"
)

// Keyboard returns who may type, for agents, from the newest published state. It is safe for
// concurrent use.
func (a *Authority) Keyboard() protocol.Keyboard {
	st := a.NewestState()
	k := protocol.Keyboard{Holder: protocol.HolderUser, Epoch: st.Epoch}
	switch st.Phase {
	case control.Granted:
		k.Holder, k.AgentID, k.AgentName = protocol.HolderAgent, st.Agent.ID, st.Agent.Name
		k.Level, k.ExpiresAt, k.Paused = st.Level, protocol.Milli(st.Until), st.Paused
		k.Held, k.Program, k.Away = st.Pending.Keys != "" || st.Occupied, st.Program, st.OtherProgram != ""
		switch {
		case st.Pending.Keys != "":
			k.HeldWhy = protocol.HeldConfirm
		case st.Occupied:
			k.HeldWhy, k.HeldLine = protocol.HeldLine, st.Line
		}
	case control.Asked:
		k.Asking, k.AskingLevel, k.AskingReason = st.Agent.Name, st.Level, st.Reason
		k.AskingSince, k.AskingSeconds = protocol.Milli(st.Asked), int64(st.For/time.Second)
	case control.Observing:
	}
	return k
}
