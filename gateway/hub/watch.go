package hub

import "terminalproxy/protocol"

// watcher is a participant's position in the live output of one session. Guarded by Hub.mu.
type watcher struct {
	// at counts the bytes of live output sent to it; needsRepaint skips output until a repaint.
	at           uint64
	needsRepaint bool
	cols, rows   int // of its last repaint
}

// watchOutput starts a participant's live output with a repaint. A repeated request repaints.
func (h *Hub) watchOutput(p *Peer, s *session) {
	if s.info.State == protocol.StateExited {
		p.out.put(h.past.closeMessage(s))
		return
	}
	s.watchers.followers[p] = &watcher{needsRepaint: true}
	s.watchers.resume()
}

// forwardOutput sends live output to watchers without a gap, and a repaint to those that need one.
func (s *session) forwardOutput(m *protocol.Output) {
	gap := false
	for p, w := range s.watchers.followers {
		switch {
		case m.Repaint && (w.needsRepaint || w.at != m.Seq || w.cols != m.Cols || w.rows != m.Rows):
			*w = watcher{at: m.Seq, cols: m.Cols, rows: m.Rows}
			p.out.put(m)
		case m.Repaint, w.needsRepaint:
		case w.at != m.Seq:
			w.needsRepaint, gap = true, true
		default:
			w.at += uint64(len(m.DataB64))
			p.out.put(m)
		}
	}
	if gap {
		s.watchers.resume()
	}
}

// catchUp requests repaints for a slow participant that reads again.
func (p *Peer) catchUp() {
	p.hub.mu.Lock()
	defer p.hub.mu.Unlock()
	p.hub.relay.NoteActivity(p, NeedsRepaint)
	for _, s := range p.hub.sessions {
		if w := s.watchers.followers[p]; w != nil {
			w.needsRepaint = true
			s.watchers.resume()
		}
	}
}

// endWatch sends the watchers the last message.
func (s *session) endWatch(last protocol.Message) {
	for p := range s.watchers.followers {
		if s.subs.followers[p] == nil {
			p.out.put(last)
		}
	}
	clear(s.watchers.followers)
	clear(s.attached)
}

// forwardTyping forwards the input of an attached person.
func (s *session) forwardTyping(p *Peer, m *protocol.ViewerInput) {
	if s.attached[p] == nil {
		p.failRequest(m, protocol.CodeNoGrant, "nothing was typed: send terminal.attach first")
		return
	}
	s.sendToProxy(protocol.Forward(m, "", p.member.ID))
}

// sendAttached informs a reconnected proxy who is attached to its session.
func (s *session) sendAttached() {
	for _, m := range s.attached {
		s.owner.out.put(m)
	}
}

// detachPerson informs the proxy that a person left.
func (s *session) detachPerson(p *Peer) {
	if s.attached[p] == nil {
		return
	}
	delete(s.attached, p)
	s.sendToProxy(&protocol.Detach{SessionID: s.key.id, ViewerID: p.member.ID})
}

// handleDetached informs a person that the proxy detached them.
func (s *session) handleDetached(m *protocol.Detach) {
	for p := range s.attached {
		if p.member.ID == m.ViewerID {
			delete(s.attached, p)
			s.watchers.remove(p)
			p.out.put(&protocol.Detach{SessionID: m.SessionID})
		}
	}
}
