package hub

import "terminalproxy/protocol"

// watcher is a participant's position in the live output of one session. Guarded by Hub.mu.
type watcher struct {
	// at counts the bytes of live output that it has; needsRepaint skips output until a repaint.
	at           uint64
	needsRepaint bool
	cols, rows   int // of its last repaint
}

// watchOutput starts a participant's live output with a repaint. A repeated request repaints.
func (h *Hub) watchOutput(p *Peer, m *protocol.Watch) {
	s := h.findOrFail(p, m)
	switch {
	case s == nil: // findOrFail answered
	case s.info.State == protocol.StateExited:
		p.out.put(h.past.closeMessage(s))
	default:
		s.watchers[p] = &watcher{needsRepaint: true}
		s.requestRepaint()
	}
}

// requestRepaint asks the proxy for a repaint, if the session has watchers.
func (s *session) requestRepaint() {
	if s.owner != nil && len(s.watchers) > 0 {
		s.owner.out.put(&protocol.Watch{SessionID: s.key.id})
	}
}

// removeWatcher ends a participant's live output. The proxy stops sending it after the last one.
func (s *session) removeWatcher(p *Peer) {
	if s.watchers[p] == nil {
		return
	}
	delete(s.watchers, p)
	if len(s.watchers) == 0 && s.owner != nil {
		s.owner.out.put(&protocol.Unwatch{SessionID: s.key.id})
	}
}

// forwardOutput sends live output to watchers without a gap, and a repaint to those that need one.
func (s *session) forwardOutput(m *protocol.Output) {
	gap := false
	for p, w := range s.watchers {
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
		s.requestRepaint()
	}
}

// catchUp requests repaints for a slow participant that reads again.
func (p *Peer) catchUp() {
	p.hub.mu.Lock()
	defer p.hub.mu.Unlock()
	p.hub.directory.NoteDoing(p, Behind)
	for _, s := range p.hub.sessions {
		if w := s.watchers[p]; w != nil {
			w.needsRepaint = true
			s.requestRepaint()
		}
	}
}

// endWatch sends the last message to the watchers that do not subscribe.
func (s *session) endWatch(last protocol.Message) {
	for p := range s.watchers {
		if s.subs[p] == nil {
			p.out.put(last)
		}
	}
	clear(s.watchers)
	clear(s.attached)
}

// forwardAttached forwards the input of an attached person, or detaches them.
func (h *Hub) forwardAttached(p *Peer, m protocol.Message) {
	s := h.findOrFail(p, m)
	_, types := m.(*protocol.ViewerInput)
	switch {
	case s == nil: // findOrFail answered
	case !types:
		s.detachPerson(p)
	case s.attached[p] == nil:
		p.failRequest(m, protocol.CodeNoGrant, "nothing was typed: send terminal.attach first")
	case s.owner != nil:
		s.owner.out.put(protocol.Forward(m, "", p.member.ID))
	}
}

// sendAttached tells a proxy that reconnected who is attached to its session.
func (s *session) sendAttached() {
	for _, m := range s.attached {
		s.owner.out.put(m)
	}
}

// detachPerson tells the proxy that a person left.
func (s *session) detachPerson(p *Peer) {
	if s.attached[p] == nil {
		return
	}
	delete(s.attached, p)
	if s.owner != nil {
		s.owner.out.put(&protocol.Detach{SessionID: s.key.id, ViewerID: p.member.ID})
	}
}

// handleDetached tells a person that the proxy detached them.
func (s *session) handleDetached(m *protocol.Detach) {
	for p := range s.attached {
		if p.member.ID == m.ViewerID {
			delete(s.attached, p)
			s.removeWatcher(p)
			p.out.put(&protocol.Detach{SessionID: m.SessionID})
		}
	}
}
