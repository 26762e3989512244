package hub

import "terminalproxy/protocol"

// watcher is a participant's place in the live output of one session. It belongs to the hub's lock.
type watcher struct {
	// at is the number of bytes of live output that it has; fresh, that it needs a repaint before more is of use.
	at         uint64
	fresh      bool
	cols, rows int // of its last repaint
}

// watch begins a participant's live output with a repaint. Asked again, it repaints again.
func (h *Hub) watch(p *Peer, m *protocol.Watch) {
	s := h.find(p, m)
	switch {
	case s == nil: // it was told
	case s.info.State == protocol.StateExited:
		p.out.put(h.closing(s))
	default:
		s.watchers[p] = &watcher{fresh: true}
		s.rewatch()
	}
}

// rewatch asks the proxy for a repaint, if there is somebody who needs one.
func (s *session) rewatch() {
	if s.owner != nil && len(s.watchers) > 0 {
		s.owner.out.put(&protocol.Watch{SessionID: s.key.id})
	}
}

// unwatch ends a participant's live output; the proxy hears of the last one's end.
func (s *session) unwatch(p *Peer) {
	if s.watchers[p] == nil {
		return
	}
	delete(s.watchers, p)
	if len(s.watchers) == 0 && s.owner != nil {
		s.owner.out.put(&protocol.Unwatch{SessionID: s.key.id})
	}
}

// output passes live output on to those who have all that came before, and a repaint to those who need one.
func (h *Hub) output(s *session, m *protocol.Output) {
	gap := false
	for p, w := range s.watchers {
		switch {
		case m.Repaint && (w.fresh || w.at != m.Seq || w.cols != m.Cols || w.rows != m.Rows):
			*w = watcher{at: m.Seq, cols: m.Cols, rows: m.Rows}
			p.out.put(m)
		case m.Repaint, w.fresh:
		case w.at != m.Seq:
			w.fresh, gap = true, true
		default:
			w.at += uint64(len(m.DataB64))
			p.out.put(m)
		}
	}
	if gap {
		s.rewatch()
	}
}

// catchUp has a participant repainted that was too slow, now that it takes messages again.
func (p *Peer) catchUp() {
	p.hub.mu.Lock()
	defer p.hub.mu.Unlock()
	p.hub.directory.Watch(p, Behind)
	for _, s := range p.hub.sessions {
		if w := s.watchers[p]; w != nil {
			w.fresh = true
			s.rewatch()
		}
	}
}

// endWatch is the last that watchers hear of a session.
func (s *session) endWatch(last protocol.Message) {
	for p := range s.watchers {
		if s.subs[p] == nil {
			p.out.put(last)
		}
	}
	clear(s.watchers)
	clear(s.attached)
}

// attended passes on what an attached person does.
func (h *Hub) attended(p *Peer, m protocol.Message) {
	s := h.find(p, m)
	_, types := m.(*protocol.ViewerInput)
	switch {
	case s == nil: // it was told
	case !types:
		s.detach(p)
	case s.attached[p] == nil:
		p.fail(m, protocol.CodeNoGrant, "nothing was typed: send terminal.attach first")
	case s.owner != nil:
		s.owner.out.put(protocol.Forward(m, "", p.member.ID))
	}
}

// reattach tells a proxy that came back who sits in front of its session.
func (s *session) reattach() {
	for _, m := range s.attached {
		s.owner.out.put(m)
	}
}

// detach tells the proxy that a person is gone.
func (s *session) detach(p *Peer) {
	if s.attached[p] == nil {
		return
	}
	delete(s.attached, p)
	if s.owner != nil {
		s.owner.out.put(&protocol.Detach{SessionID: s.key.id, ViewerID: p.member.ID})
	}
}

// detached tells a person that the proxy let them go.
func (s *session) detached(m *protocol.Detach) {
	for p := range s.attached {
		if p.member.ID == m.ViewerID {
			delete(s.attached, p)
			s.unwatch(p)
			p.out.put(&protocol.Detach{SessionID: m.SessionID})
		}
	}
}
