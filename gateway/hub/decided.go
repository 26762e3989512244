package hub

import (
	"cmp"
	"time"

	"terminalproxy/protocol"
)

// decided keeps what a grant or revoke says of the keyboard, and is the agent that it is about.
func (s *session) decided(m protocol.Message) (agentID string) {
	switch m := m.(type) {
	case *protocol.ControlGrant:
		s.decide(&protocol.Decision{AgentName: m.AgentName, Granted: true, Level: m.Level, By: m.By}, s.keyboard.Holder == protocol.HolderAgent && s.keyboard.Epoch == m.Epoch)
		s.keyboard = protocol.Keyboard{
			Holder: protocol.HolderAgent, AgentID: m.AgentID, AgentName: m.AgentName, Level: m.Level, Epoch: m.Epoch, ExpiresAt: m.ExpiresAt,
		}
		return m.AgentID
	case *protocol.ControlRevoke:
		k := s.keyboard
		name := cmp.Or(m.AgentName, k.Asking)
		if k.Holder == protocol.HolderAgent && (m.AgentID == "" || m.AgentID == k.AgentID) {
			name = cmp.Or(m.AgentName, k.AgentName)
		}
		s.decide(&protocol.Decision{AgentName: name, Reason: m.Reason, By: m.By}, m.Reason == protocol.ReasonReplaced)
		// Neither a refusal nor a newer request ends a grant, and the end of one agent's request is not the end of another's control.
		if m.Reason != protocol.ReasonRefused && m.Reason != protocol.ReasonReplaced && (m.AgentID == "" || m.AgentID == k.AgentID) {
			s.keyboard = protocol.Keyboard{Holder: protocol.HolderUser, Epoch: max(m.Epoch, k.Epoch)}
		}
		return m.AgentID
	}
	return ""
}

// decide keeps a decision for the list, unless it is none: that an agent has the keyboard that asks for it again is no news, nor that
// it asks once more.
func (s *session) decide(d *protocol.Decision, none bool) {
	if !none {
		d.At = time.Now().UnixMilli()
		s.info.Decided = d
	}
}
