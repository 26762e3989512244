package hub

import (
	"iter"
	"maps"

	"terminalproxy/protocol"
)

// Handle processes a message from the participant. It waits only for the directory, when a proxy
// opens a session. One goroutine may call it, in the order of the wire.
func (p *Peer) Handle(m protocol.Message) {
	h := p.hub
	if open, ok := m.(*protocol.SessionOpen); ok && p.member.Role == RoleProxy {
		if refusal := h.directory.ClaimSession(p.member.Namespace, open); refusal != nil {
			p.out.put(refusal)
			return
		}
	}
	h.mu.Lock()
	h.carrier.deferDelivery()
	defer h.carrier.runDeferred() // after the lock is released
	defer h.mu.Unlock()
	switch {
	case p.gone || !p.allowOrRefuse(m):
	case p.member.Role == RoleProxy:
		k := p.sessionOf(m)
		h.handlePublished(p, m)
		h.lists.markStale(k)
	case h.forwardRemote(p, m):
	default:
		h.dispatchRequest(p, m)
	}
}

// sessionOf returns the session of a proxy's message, or of the request that it answers.
func (p *Peer) sessionOf(m protocol.Message) key {
	if q := p.asked[protocol.RequestID(m)]; q != nil && q.session != nil {
		return q.session.key
	}
	return key{p.member.Namespace, protocol.SessionID(m)}
}

// handlePublished processes a proxy's message.
func (h *Hub) handlePublished(p *Peer, m protocol.Message) {
	switch m := m.(type) {
	case *protocol.SessionOpen:
		h.openSession(p, m)
		return
	case *protocol.Done, *protocol.Error:
		if !p.takeResubscribeReply(m) {
			h.finishRequest(p, nil, m)
		}
		return
	case *protocol.ProxyHost:
		h.hosts.registerHost(p, m)
		return
	case *protocol.ProxyStarted:
		h.handleStarted(p, m)
		return
	}
	s := h.sessions[key{p.member.Namespace, protocol.SessionID(m)}]
	if s == nil || s.owner != p {
		p.failRequest(
			m,
			protocol.CodeNoSession,
			"session "+protocol.SessionID(m)+" was not opened on this connection: send terminal.session.open first",
		)
		return
	}
	switch m := m.(type) {
	case *protocol.Snapshot:
		h.storeSnapshot(s, m)
	case *protocol.SessionClose:
		h.endSession(s, m)
	case *protocol.Resize:
		s.info.Cols, s.info.Rows = m.Cols, m.Rows
	case *protocol.ControlGrant, *protocol.ControlRevoke:
		h.publishControl(s, m, h.finishRequest(p, s, m))
	case *protocol.Note:
		h.forwardUserNote(s, m)
	case *protocol.Blackout:
		s.setBlackout(m)
		for peer := range s.subs.followers {
			peer.out.put(m)
		}
	case *protocol.Output:
		s.forwardOutput(m)
	case *protocol.Rows:
		s.storeRows(m)
	case *protocol.Detach:
		s.handleDetached(m)
	case *protocol.ChatStatus:
		s.setChatState(m)
	case *protocol.ChatRecords:
		s.conversation.addChatRecords(m)
	default:
		h.finishRequest(p, s, m)
	}
}

// finishRequest forwards a proxy's answer and returns the participants that waited for it. s is nil
// if the answer names no session.
func (h *Hub) finishRequest(p *Peer, s *session, m protocol.Message) []waiter {
	q := p.asked[protocol.RequestID(m)]
	if q == nil || s != nil && q.session != s {
		h.log.Debug(
			"answer without an open request", "type", protocol.KindOf(m),
			"request", protocol.RequestID(m),
		)
		return nil
	}
	q.answerWaiters(m)
	return q.waiting
}

// publishControl records who has the keyboard, and informs the agent of the grant or revoke and the
// subscribers. The answered participants have it as the answer to their request.
func (h *Hub) publishControl(s *session, m protocol.Message, answered []waiter) {
	logControl(h.log, s, m)
	agentID := s.recordControl(m)
	sent := make(map[*Peer]bool, len(answered))
	for _, w := range answered {
		sent[w.peer] = true
	}
	if agentID != "" {
		sendOnce(
			maps.Keys(h.agents.connected[key{s.key.namespace, agentID}]),
			protocol.WithRequestID(m, ownID(agentID, protocol.RequestID(m))),
			sent,
		)
	}
	sendOnce(maps.Keys(s.subs.followers), protocol.WithRequestID(m, ""), sent)
}

// sendOnce sends m to peers not yet in sent, and adds them.
func sendOnce(peers iter.Seq[*Peer], m protocol.Message, sent map[*Peer]bool) {
	for peer := range peers {
		if !sent[peer] {
			sent[peer] = true
			peer.out.put(m)
		}
	}
}
