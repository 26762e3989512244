package hub

import (
	"maps"

	"terminalproxy/protocol"
)

// note passes the user's words on: to the subscribers, and to the agents that have to do with the session's control.
func (h *Hub) note(s *session, m *protocol.Note) {
	out := *m
	out.From, out.RequestID = protocol.FromUser, ""
	heard := make(map[*Peer]bool)
	for agentID := range s.askers {
		tell(maps.Keys(h.agents[key{s.key.namespace, agentID}]), &out, heard)
	}
	tell(maps.Keys(s.subs), &out, heard)
}

// note is a participant's message for the proxy, with who writes it as the gateway knows it: an agent writes to the user,
// everybody else to the agent, for the user.
func (p *Peer) note(m *protocol.Note, wireID string) *protocol.Note {
	out := &protocol.Note{RequestID: wireID, SessionID: m.SessionID, Text: m.Text}
	if p.member.Role == RoleAgent {
		out.From, out.AgentID, out.AgentName, out.TokenID = protocol.FromAgent, p.member.ID, p.name(m.AgentName), p.member.TokenID
		return out
	}
	out.From, out.By = protocol.FromUser, p.name(m.By)
	return out
}
