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
		if s.key.namespace != "" {
			continue
		}
		i := &s.info
		all := []protocol.Message{&protocol.SessionOpen{
			ID: h.nextID(), SessionID: i.SessionID, Name: i.Name, Command: i.Command, Args: i.Args, Cwd: i.Cwd, Cols: i.Cols, Rows: i.Rows,
			Pid: i.Pid, StartedAt: i.StartedAt, ParentSessionID: i.ParentSessionID, Headless: i.Headless, AgentID: s.starter,
		}}
		if newest := s.now(); newest != nil {
			all = append(all, newest)
		}
		sessions = append(sessions, append(all, &protocol.SessionClose{
			ID: h.nextID(), SessionID: i.SessionID, ExitCode: i.ExitCode, Signal: i.Signal, EndedAt: s.ended.UnixMilli(), Past: s.past,
		}))
	}
	return sessions
}

// endedAt is when a program has ended, as its proxy says: not in the future.
func endedAt(m *protocol.SessionClose) time.Time {
	now := time.Now()
	if at := time.UnixMilli(m.EndedAt); m.EndedAt > 0 && at.Before(now) {
		return at
	}
	return now
}
