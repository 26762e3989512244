package hub

import (
	"time"

	"terminalproxy/protocol"
)

// Ended are the user's own sessions that have ended, in that order, each as a proxy would publish it: for the gateway that takes
// over. There are none where nobody is connected who could do that.
func (h *Hub) Ended() (sessions [][]protocol.Message) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if len(h.peers) == 0 {
		return nil
	}
	for _, s := range h.tombstones {
		if s.key.namespace == "" {
			sessions = append(sessions, h.remains(s))
		}
	}
	return sessions
}

// EndedIDs names the user's own sessions that have ended and that the user does not hide, in that order; ok is false when the
// switchboard is closed and has forgotten them.
func (h *Hub) EndedIDs() (ids []string, ok bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, s := range h.tombstones {
		if s.key.namespace == "" && !s.blackout.ByUser() {
			ids = append(ids, s.key.id)
		}
	}
	return ids, !h.closed
}

// Remains is one of the user's own ended sessions as a proxy would publish it, nil if it is forgotten.
func (h *Hub) Remains(id string) []protocol.Message {
	h.mu.Lock()
	defer h.mu.Unlock()
	s := h.sessions[key{"", id}]
	if s == nil || s.info.State != protocol.StateExited || s.blackout.ByUser() {
		return nil
	}
	return h.remains(s)
}

// Endings holds a token when [Hub.EndedIDs] may have changed. One goroutine may receive.
func (h *Hub) Endings() <-chan struct{} { return h.endings }

func (h *Hub) endingsChanged() {
	select {
	case h.endings <- struct{}{}:
	default:
	}
}

func (h *Hub) remains(s *session) []protocol.Message {
	i := &s.info
	all := []protocol.Message{&protocol.SessionOpen{
		ID: h.nextID(), SessionID: i.SessionID, Name: i.Name, Command: i.Command, Args: i.Args, Cwd: i.Cwd, Cols: i.Cols, Rows: i.Rows,
		Pid: i.Pid, StartedAt: i.StartedAt, ParentSessionID: i.ParentSessionID, Headless: i.Headless, AgentID: s.starter,
	}}
	if newest := s.now(); newest != nil {
		all = append(all, newest)
	}
	return append(all, &protocol.SessionClose{
		ID: h.nextID(), SessionID: i.SessionID, ExitCode: i.ExitCode, Signal: i.Signal, EndedAt: s.ended.UnixMilli(), Past: s.past,
	})
}

// endedAt is when a program has ended, as its proxy says: not in the future.
func endedAt(m *protocol.SessionClose) time.Time {
	now := time.Now()
	if at := time.UnixMilli(m.EndedAt); m.EndedAt > 0 && at.Before(now) {
		return at
	}
	return now
}
