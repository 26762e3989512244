package hub

import (
	"iter"
	"maps"

	"terminalproxy/protocol"
)

// Handle takes a message from the participant. It never waits, but for the directory when a proxy opens a session. One goroutine may
// call it, in the order of the wire.
func (p *Peer) Handle(m protocol.Message) {
	h := p.hub
	if open, ok := m.(*protocol.SessionOpen); ok && p.member.Role == RoleProxy {
		if no := h.directory.Own(p.member.Namespace, open); no != nil {
			p.out.put(no)
			return
		}
	}
	h.mu.Lock()
	h.turns.pledge()
	defer h.turns.keep() // without the lock
	defer h.mu.Unlock()
	switch {
	case p.gone || !p.may(m):
	case p.member.Role == RoleProxy:
		k := p.about(m)
		h.publish(p, m)
		h.stirred(k)
	case h.elsewhere(p, m):
	default:
		h.ask(p, m)
	}
}

// about is the session that a proxy's message is about, or the request that it answers.
func (p *Peer) about(m protocol.Message) key {
	if q := p.asked[protocol.RequestID(m)]; q != nil && q.session != nil {
		return q.session.key
	}
	return key{p.member.Namespace, protocol.SessionID(m)}
}

// publish takes a proxy's message.
func (h *Hub) publish(p *Peer, m protocol.Message) {
	switch m := m.(type) {
	case *protocol.SessionOpen:
		h.open(p, m)
		return
	case *protocol.Done, *protocol.Error:
		if !p.rehears(m) {
			h.settle(p, nil, m)
		}
		return
	case *protocol.ProxyHost:
		h.host(p, m)
		return
	case *protocol.ProxyStarted:
		h.started(p, m)
		return
	}
	s := h.sessions[key{p.member.Namespace, protocol.SessionID(m)}]
	if s == nil || s.owner != p {
		p.fail(m, protocol.CodeNoSession, "session "+protocol.SessionID(m)+" was not opened on this connection: send terminal.session.open first")
		return
	}
	switch m := m.(type) {
	case *protocol.Snapshot:
		h.snapshot(s, m)
	case *protocol.SessionClose:
		h.end(s, m)
	case *protocol.Resize:
		s.info.Cols, s.info.Rows = m.Cols, m.Rows
	case *protocol.ControlGrant, *protocol.ControlRevoke:
		h.control(s, m, h.settle(p, s, m))
	case *protocol.Note:
		h.note(s, m)
	case *protocol.Blackout:
		s.black(m)
		for peer := range s.subs {
			peer.out.put(m)
		}
	case *protocol.Output:
		h.output(s, m)
	case *protocol.Rows:
		h.rows(s, m)
	case *protocol.Detach:
		s.detached(m)
	case *protocol.ChatStatus:
		s.chatting(m)
	case *protocol.ChatRecords:
		s.said(m)
	default:
		h.settle(p, s, m)
	}
}

// settle gives a proxy's answer to those who asked, and says who that was. s is nil for answers that name no session.
func (h *Hub) settle(p *Peer, s *session, m protocol.Message) []waiter {
	q := p.asked[protocol.RequestID(m)]
	if q == nil || s != nil && q.session != s {
		h.log.Debug("answer that nobody waits for", "type", protocol.KindOf(m), "request", protocol.RequestID(m))
		return nil
	}
	q.answer(m)
	return q.waiting
}

// control keeps who has the keyboard, and tells the agent that a grant or revoke names, and the subscribers. told have
// heard it as the answer to their request.
func (h *Hub) control(s *session, m protocol.Message, told []waiter) {
	h.logControl(s, m)
	agentID := s.decided(m)
	heard := make(map[*Peer]bool, len(told))
	for _, w := range told {
		heard[w.peer] = true
	}
	if agentID != "" {
		tell(maps.Keys(h.agents[key{s.key.namespace, agentID}]), protocol.WithRequestID(m, ownID(agentID, protocol.RequestID(m))), heard)
	}
	tell(maps.Keys(s.subs), protocol.WithRequestID(m, ""), heard)
}

// tell puts m into the queues of those who have not heard it.
func tell(peers iter.Seq[*Peer], m protocol.Message, heard map[*Peer]bool) {
	for peer := range peers {
		if !heard[peer] {
			heard[peer] = true
			peer.out.put(m)
		}
	}
}
