package hub

import (
	"fmt"
	"time"

	"terminalproxy/protocol"
)

// rowStream is the screen of a session for its viewers. Guarded by Hub.mu.
type rowStream struct {
	following[viewer]
	forPeople bool // the proxy was told that a viewer is a person
	// base is the last complete set of rows from the proxy's current connection. newest is the
	// same, or nil while it is hidden.
	base, newest *protocol.Rows
	// parts caches the difference between newest and what a viewer has (nil for a new viewer).
	parts map[*protocol.Rows]*protocol.Rows
}

// viewer is a participant that views a screen. At most one message to it is unacknowledged;
// meanwhile only the newest rows are kept for it.
type viewer struct {
	peer   *Peer
	id     string // of the request
	rhythm rhythm
	sent   *protocol.Rows // the complete rows sent last, or nil
	ready  bool           // it acknowledged sent
}

// viewSession adds a viewer: Done, the screen, and then its changes. A second request replaces the
// first.
func (h *Hub) viewSession(p *Peer, s *session, m *protocol.View) {
	s.removeViewer(p)
	p.out.put(&protocol.Done{RequestID: m.RequestID})
	v := &viewer{peer: p, id: m.RequestID, ready: true}
	every := time.Duration(m.EveryMs) * time.Millisecond
	v.rhythm = rhythm{mu: &h.mu, every: every, send: func() { v.offerNewest(s) }}
	if s.info.State == protocol.StateExited {
		p.out.put(s.finalRows())
		p.out.put(h.past.closeMessage(s))
		return
	}
	s.rowStream.add(p, v)
	s.rowStream.reportPeople()
	v.offerNewest(s)
}

// request asks the proxy for rows.
func (g *rowStream) request() protocol.Message {
	g.forPeople = g.isViewedByPerson()
	return &protocol.View{SessionID: g.session.key.id, Agents: !g.forPeople}
}

// reportPeople asks the proxy again if the first person came or the last one left.
func (g *rowStream) reportPeople() {
	if g.isViewedByPerson() != g.forPeople {
		g.resume()
	}
}

// dropRows drops the rows of a session without viewers.
func (g *rowStream) dropRows() protocol.Message {
	g.setNewest(nil)
	return &protocol.Unview{SessionID: g.session.key.id}
}

// isViewedByPerson reports whether a viewer is a person.
func (g *rowStream) isViewedByPerson() bool {
	for p := range g.followers {
		if p.member.Role != RoleAgent {
			return true
		}
	}
	return false
}

// removeViewer ends a participant's view.
func (s *session) removeViewer(p *Peer) {
	if v := s.rowStream.remove(p); v != nil {
		v.rhythm.next.stop()
		s.rowStream.reportPeople()
	}
}

// storeRows stores a proxy's rows and offers them to the viewers.
func (s *session) storeRows(m *protocol.Rows) {
	h := s.owner.hub
	full, ok := m.Complete(s.rowStream.base)
	if !ok { // the proxy sends all rows after every open, so the fault is the proxy's
		s.owner.out.put(&protocol.Error{
			Code: protocol.CodeBadMessage, Field: "since",
			Message: fmt.Sprintf(
				"the rows of %s with number %d are not the newest here: send all of them",
				m.SessionID, m.Since,
			),
		})
		return
	}
	for _, v := range s.rowStream.followers {
		if s.rowStream.newest != nil && v.sent != s.rowStream.newest {
			h.counters.droppedFrames.Add(1)
		}
	}
	s.rowStream.base = full
	s.rowStream.setNewest(full)
	for _, v := range s.rowStream.followers {
		v.offerNewest(s)
	}
}

func (g *rowStream) setNewest(newest *protocol.Rows) { g.newest, g.parts = newest, nil }

// partFor returns the difference from sent to the newest rows.
func (g *rowStream) partFor(sent *protocol.Rows) *protocol.Rows {
	part := g.parts[sent]
	if part == nil {
		if g.parts == nil {
			g.parts = make(map[*protocol.Rows]*protocol.Rows)
		}
		part = g.newest.Difference(sent).Share()
		g.parts[sent] = part
	}
	return part
}

// offerNewest sends the newest rows to a viewer that is ready, now or when its rhythm allows.
func (v *viewer) offerNewest(s *session) {
	newest := s.rowStream.newest
	if v.ready && newest != nil && newest != v.sent && v.rhythm.isDue() {
		v.sendNewest(s)
	}
}

func (v *viewer) sendNewest(s *session) {
	v.peer.hub.counters.frames.Add(1)
	v.peer.out.put(s.rowStream.partFor(v.sent))
	v.sent, v.ready, v.rhythm.last = s.rowStream.newest, false, time.Now()
}

// ackRows marks a viewer as ready for newer rows.
func (g *rowStream) ackRows(p *Peer, m *protocol.Ack) {
	if v := g.followers[p]; v != nil && v.sent != nil && v.sent.Seq == m.Seq {
		v.ready = true
		v.offerNewest(g.session)
	}
}

// endViews sends each viewer the last rows, acknowledged or not, and how the session ended.
func (s *session) endViews(last protocol.Message) {
	for p, v := range s.rowStream.followers {
		v.rhythm.next.stop()
		if s.rowStream.newest != nil && s.rowStream.newest != v.sent {
			v.sendNewest(s)
		}
		if s.subs.followers[p] == nil {
			p.out.put(protocol.WithRequestID(last, v.id))
		}
	}
	clear(s.rowStream.followers)
	s.rowStream.base = nil
	s.rowStream.setNewest(nil)
}

// finalRows returns the last screen of an ended session.
func (s *session) finalRows() *protocol.Rows {
	f, line := s.lastFrame(), uint64(0)
	var wraps []protocol.Wrap
	if s.past != nil && !f.Blackout.ByUser() {
		line = s.past.NextLine
		wraps = s.past.Rows(line, line).Wraps
	}
	return &protocol.Rows{
		SessionID: s.key.id, Line: line, Seq: 1, Rev: f.Seq, Cols: f.Screen.Cols,
		Rows: f.Screen.Rows, Cursor: f.Screen.Cursor, Lines: f.Screen.Lines,
		State: &protocol.ViewState{
			Title: f.Screen.Title, Alt: f.Screen.Alt, Keyboard: f.Keyboard, Blackout: f.Blackout,
			Wraps: wraps,
		},
	}
}
