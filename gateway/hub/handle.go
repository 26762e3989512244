package hub

import (
	"time"

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

// HandleRepeat is [Peer.Handle] for a message that another gateway may have forwarded to the same
// proxy. The proxy recognises a repeated input by its id. The hub does not, so its own answers must
// not claim that nothing was typed.
func (p *Peer) HandleRepeat(m protocol.Message) {
	if fate := UncertaintyText(m); fate != "" {
		p.hub.mu.Lock()
		if p.uncertain == nil {
			p.uncertain = make(map[string]string)
		}
		p.uncertain[protocol.RequestID(m)] = fate
		p.hub.mu.Unlock()
	}
	p.Handle(m)
}

// fewSubscribers is the largest number of subscribers for which TryHandle stores a snapshot at
// once. More would delay the proxy's observer.
const fewSubscribers = 16

// TryHandle is Handle for a snapshot, if it can be stored without waiting for the hub's lock and
// with little work. Otherwise TryHandle changes nothing and returns false; then a goroutine that
// may wait calls Handle.
func (p *Peer) TryHandle(m *protocol.Snapshot) bool {
	h := p.hub
	if !h.mu.TryLock() {
		return false
	}
	s := h.sessions[key{p.member.Namespace, m.SessionID}]
	if p.gone || p.member.Role != RoleProxy || s == nil || s.owner != p ||
		len(s.subs.followers) > fewSubscribers {
		h.mu.Unlock()
		return false
	}
	h.carrier.deferDelivery()
	defer h.carrier.runDeferred() // after the lock is released
	defer h.mu.Unlock()
	if p.allowOrRefuse(m) {
		h.storeSnapshot(s, m)
		h.lists.markStale(s.key)
	}
	return true
}

// allowOrRefuse reports whether a participant may send m, and otherwise answers it. A viewer that
// tries is disconnected.
func (p *Peer) allowOrRefuse(m protocol.Message) bool {
	refusal := p.member.Rights.CheckMessage(m, time.Now())
	if refusal == nil {
		return true
	}
	p.logFailure(m, refusal.Code)
	p.out.put(refusal)
	if p.member.Role == RoleViewer {
		p.out.end(ErrForbidden)
	}
	return false
}

// sessionOf returns the session of a proxy's message, or of the request that it answers.
func (p *Peer) sessionOf(m protocol.Message) key {
	if q := p.unanswered[protocol.RequestID(m)]; q != nil && q.session != nil {
		return q.session.key
	}
	return key{p.member.Namespace, protocol.SessionID(m)}
}

// handlePublished handles a message that a proxy publishes.
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
	h.updateSession(p, s, m)
}

// updateSession applies a proxy's message to its session.
func (h *Hub) updateSession(p *Peer, s *session, m protocol.Message) {
	switch m := m.(type) {
	case protocol.SnapshotPart:
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
	q := p.unanswered[protocol.RequestID(m)]
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
