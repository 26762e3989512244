package hub

import (
	"cmp"
	"maps"
	"time"

	"terminalproxy/protocol"
)

// recordControl records a grant or revoke and returns the id of its agent.
func (s *session) recordControl(m protocol.Message) (agentID string) {
	switch m := m.(type) {
	case *protocol.ControlGrant:
		s.recordDecision(
			&protocol.Decision{AgentName: m.AgentName, Granted: true, Level: m.Level, By: m.By},
			s.keyboard.Holder == protocol.HolderAgent && s.keyboard.Epoch == m.Epoch,
		)
		s.keyboard = protocol.Keyboard{
			Holder: protocol.HolderAgent, AgentID: m.AgentID, AgentName: m.AgentName,
			Level: m.Level, Epoch: m.Epoch, ExpiresAt: m.ExpiresAt,
		}
		return m.AgentID
	case *protocol.ControlRevoke:
		k := s.keyboard
		name := cmp.Or(m.AgentName, k.Asking)
		if k.Holder == protocol.HolderAgent && (m.AgentID == "" || m.AgentID == k.AgentID) {
			name = cmp.Or(m.AgentName, k.AgentName)
		}
		s.recordDecision(
			&protocol.Decision{AgentName: name, Reason: m.Reason, By: m.By},
			m.Reason == protocol.ReasonReplaced,
		)
		// Neither a refusal nor a newer request ends a grant, and the end of one agent's request
		// does not end another agent's control.
		if m.Reason != protocol.ReasonRefused && m.Reason != protocol.ReasonReplaced &&
			(m.AgentID == "" || m.AgentID == k.AgentID) {
			s.keyboard = protocol.Keyboard{
				Holder: protocol.HolderUser, Epoch: max(m.Epoch, k.Epoch),
			}
		}
		return m.AgentID
	}
	return ""
}

// recordDecision records a decision for the list, unless it is unchanged: the holder asked again,
// or an agent repeated its request.
func (s *session) recordDecision(d *protocol.Decision, unchanged bool) {
	if !unchanged {
		d.At = time.Now().UnixMilli()
		s.info.Decided = d
	}
}

// publishControl records who has the keyboard, and informs the agent of the grant or revoke and the
// subscribers. The answered participants have it as the answer to their request.
func (h *Hub) publishControl(s *session, m protocol.Message, answered []waiter) {
	logControl(h.log, s, m)
	agentID := s.recordControl(m)
	sent := make(map[*Peer]bool, len(answered))
	for _, w := range answered {
		sent[w.peer] = true
	}
	if agentID != "" {
		sendOnce(
			maps.Keys(h.agents.connected[key{s.key.namespace, agentID}]),
			protocol.WithRequestID(m, ownID(agentID, protocol.RequestID(m))),
			sent,
		)
	}
	sendOnce(maps.Keys(s.subs.followers), protocol.WithRequestID(m, ""), sent)
}
