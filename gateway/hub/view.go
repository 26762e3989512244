package hub

import (
	"fmt"
	"time"

	"terminalproxy/protocol"
)

// gallery is the screen of a session for those who look at it. It belongs to the hub's lock.
type gallery struct {
	viewers map[*Peer]*viewer
	// base is what the proxy sent last on this connection, with all rows; newest is the same, or nil while it may not be shown.
	base, newest *protocol.Rows
	// parts are the ways to say newest, each made once, by what the viewer has: nil for nothing.
	parts map[*protocol.Rows]*protocol.Rows
}

// viewer is a participant that looks at a screen. It has at most one message that it did not acknowledge: what is newer waits here,
// and only the newest of it.
type viewer struct {
	peer  *Peer
	id    string // of the request
	every time.Duration
	has   *protocol.Rows // what it was sent last, with all rows; nil for nothing yet
	ready bool           // it acknowledged that
	last  time.Time
	timer *time.Timer // sends what came too early
}

// view begins a participant's look at a session: Done, the screen, and then what changes. A second one replaces the first.
func (h *Hub) view(p *Peer, m *protocol.View) {
	s := h.find(p, m)
	switch {
	case s == nil: // it was told
		return
	case s.info.State != protocol.StateExited && !s.views:
		p.fail(m, protocol.CodeUnavailable, fmt.Sprintf("the proxy of session %s is older and sends no rows: read its screen", s.key.id))
		return
	}
	s.unview(p)
	p.out.put(&protocol.Done{RequestID: m.RequestID})
	v := &viewer{peer: p, id: m.RequestID, every: time.Duration(m.EveryMs) * time.Millisecond, ready: true}
	if s.info.State == protocol.StateExited {
		p.out.put(s.still())
		p.out.put(h.closing(s))
		return
	}
	before := s.gallery.viewed()
	s.gallery.viewers[p] = v
	v.offer(h, s)
	if len(s.gallery.viewers) == 1 || s.gallery.viewed() != before {
		s.review()
	}
}

// review has the proxy send rows, if somebody looks.
func (s *session) review() {
	if s.owner != nil && len(s.gallery.viewers) > 0 {
		s.owner.out.put(&protocol.View{SessionID: s.key.id, Agents: !s.gallery.viewed()})
	}
}

// viewed reports whether a person looks. An agent that does is none.
func (g *gallery) viewed() bool {
	for p := range g.viewers {
		if p.member.Role != RoleAgent {
			return true
		}
	}
	return false
}

// unview ends a participant's look; the proxy hears of the last one's end.
func (s *session) unview(p *Peer) {
	v := s.gallery.viewers[p]
	if v == nil {
		return
	}
	before := s.gallery.viewed()
	delete(s.gallery.viewers, p)
	v.stop()
	if len(s.gallery.viewers) > 0 {
		if s.gallery.viewed() != before {
			s.review()
		}
		return
	}
	s.gallery.show(nil)
	if s.owner != nil {
		s.owner.out.put(&protocol.Unview{SessionID: s.key.id})
	}
}

// rows keeps what a proxy sent, and offers it to those who look.
func (h *Hub) rows(s *session, m *protocol.Rows) {
	full, ok := m.Complete(s.gallery.base)
	if !ok { // the proxy sends all rows after every open, so this is its mistake
		s.owner.out.put(&protocol.Error{
			Code: protocol.CodeBadMessage, Field: "since",
			Message: fmt.Sprintf("the rows of %s with number %d are not the newest here: send all of them", m.SessionID, m.Since),
		})
		return
	}
	for _, v := range s.gallery.viewers {
		if s.gallery.newest != nil && v.has != s.gallery.newest {
			h.counters.droppedFrames.Add(1)
		}
	}
	s.gallery.base = full
	s.gallery.show(full)
	for _, v := range s.gallery.viewers {
		v.offer(h, s)
	}
}

func (g *gallery) show(newest *protocol.Rows) { g.newest, g.parts = newest, nil }

// part is newest for a viewer that has something.
func (g *gallery) part(has *protocol.Rows) *protocol.Rows {
	part := g.parts[has]
	if part == nil {
		if g.parts == nil {
			g.parts = make(map[*protocol.Rows]*protocol.Rows)
		}
		part = g.newest.Difference(has).Share()
		g.parts[has] = part
	}
	return part
}

// offer sends the newest rows to a viewer that is ready for them, now or when the rhythm that it wanted allows.
func (v *viewer) offer(h *Hub, s *session) {
	newest := s.gallery.newest
	if !v.ready || newest == nil || newest == v.has || v.timer != nil {
		return
	}
	if rest := v.every - time.Since(v.last); rest > 0 {
		v.timer = time.AfterFunc(rest, func() {
			h.mu.Lock()
			defer h.mu.Unlock()
			if v.timer != nil {
				v.timer = nil
				v.offer(h, s)
			}
		})
		return
	}
	v.send(s)
}

func (v *viewer) send(s *session) {
	v.peer.hub.counters.frames.Add(1)
	v.peer.out.put(s.gallery.part(v.has))
	v.has, v.ready, v.last = s.gallery.newest, false, time.Now()
}

func (v *viewer) stop() {
	if v.timer != nil {
		v.timer.Stop()
		v.timer = nil
	}
}

// ack notes that a viewer is ready for more.
func (h *Hub) ack(p *Peer, m *protocol.Ack) {
	s := h.find(p, m)
	if s == nil {
		return // it was told
	}
	if v := s.gallery.viewers[p]; v != nil && v.has != nil && v.has.Seq == m.Seq {
		v.ready = true
		v.offer(h, s)
	}
}

// endView is the last that viewers hear of a session: the rows that they lack, acknowledged or not, and how it ended. told have
// heard that already.
func (s *session) endView(last protocol.Message, told map[*Peer]*subscription) {
	for p, v := range s.gallery.viewers {
		v.stop()
		if s.gallery.newest != nil && s.gallery.newest != v.has {
			v.send(s)
		}
		if told[p] == nil {
			p.out.put(protocol.WithRequestID(last, v.id))
		}
	}
	clear(s.gallery.viewers)
	s.gallery.base = nil
	s.gallery.show(nil)
}

// still is the last screen of an ended session.
func (s *session) still() *protocol.Rows {
	f, line := s.frame(), uint64(0)
	if s.past != nil && !f.Blackout.ByUser() {
		line = s.past.NextLine
	}
	return &protocol.Rows{
		SessionID: s.key.id, Line: line, Seq: 1, Rev: f.Seq, Cols: f.Screen.Cols, Rows: f.Screen.Rows, Cursor: f.Screen.Cursor, Lines: f.Screen.Lines,
		State: &protocol.ViewState{Title: f.Screen.Title, Alt: f.Screen.Alt, Keyboard: f.Keyboard, Blackout: f.Blackout},
	}
}
