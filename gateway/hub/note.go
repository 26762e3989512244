package hub

import (
	"maps"

	"terminalproxy/protocol"
)

// forwardUserNote sends the user's words to the subscribers and to the agents that asked for
// control or wrote to the user.
func (h *Hub) forwardUserNote(s *session, m *protocol.Note) {
	out := *m
	out.From, out.RequestID = protocol.FromUser, ""
	sent := make(map[*Peer]bool)
	for agentID := range s.askers {
		sendOnce(maps.Keys(h.agents.connected[key{s.key.namespace, agentID}]), &out, sent)
	}
	sendOnce(maps.Keys(s.subs.followers), &out, sent)
}

// attributedNote returns a participant's note for the proxy, with the author as the gateway knows
// it. An agent writes to the user; all others write to the agent, for the user.
func (p *Peer) attributedNote(m *protocol.Note, wireID string) *protocol.Note {
	out := &protocol.Note{RequestID: wireID, SessionID: m.SessionID, Text: m.Text}
	if p.member.Role == RoleAgent {
		out.From, out.AgentID, out.TokenID = protocol.FromAgent, p.member.ID, p.member.TokenID
		out.AgentName = p.displayName(m.AgentName)
		return out
	}
	out.From, out.By = protocol.FromUser, p.displayName(m.By)
	return out
}
