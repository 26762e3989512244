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
