package hub

import (
	"time"

	"terminalproxy/protocol"
)

// EndedSessions returns the user's own ended sessions, oldest first, each as its proxy would
// publish it, for the gateway that takes over. It is empty unless a participant is connected, which
// may be that gateway.
func (h *Hub) EndedSessions() (sessions [][]protocol.Message) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if len(h.peers) == 0 {
		return nil
	}
	for _, s := range h.past.tombstones {
		if s.key.namespace == "" {
			sessions = append(sessions, h.past.messagesOf(s))
		}
	}
	return sessions
}

// EndedIDs returns the ids of the user's own ended sessions that are not hidden, oldest first. ok
// is false once the hub is closed and has forgotten them.
func (h *Hub) EndedIDs() (ids []string, ok bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, s := range h.past.tombstones {
		if s.key.namespace == "" && !s.blackout.ByUser() {
			ids = append(ids, s.key.id)
		}
	}
	return ids, !h.closed
}

// EndedSession returns one of the user's own ended sessions as its proxy would publish it, or nil.
func (h *Hub) EndedSession(id string) []protocol.Message {
	h.mu.Lock()
	defer h.mu.Unlock()
	s := h.sessions[key{"", id}]
	if s == nil || s.info.State != protocol.StateExited || s.blackout.ByUser() {
		return nil
	}
	return h.past.messagesOf(s)
}

// EndedChanges holds a token when [Hub.EndedIDs] may have changed. One goroutine may receive.
func (h *Hub) EndedChanges() <-chan struct{} { return h.past.changes }

// endedAt returns when the program ended, by its proxy's clock but not in the future.
func endedAt(m *protocol.SessionClose) time.Time {
	now := time.Now()
	if at := time.UnixMilli(m.EndedAt); m.EndedAt > 0 && at.Before(now) {
		return at
	}
	return now
}
