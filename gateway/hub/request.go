package hub

import (
	"cmp"
	"fmt"
	"reflect"

	"terminalproxy/protocol"
)

// dispatchRequest answers or forwards a request of an agent, a viewer or an owner.
func (h *Hub) dispatchRequest(p *Peer, m protocol.Message) {
	switch m := m.(type) {
	case *protocol.SessionsList:
		p.out.put(h.lists.replyTo(p, m))
	case *protocol.SessionsWatch:
		h.lists.addWatcher(p, m)
	case *protocol.ProxyStart:
		h.startProgram(p, m)
	case *protocol.SecretWatch:
		p.watchSecrets(m)
	case *protocol.Cancel, *protocol.SessionsSubscribe, *protocol.Watch, *protocol.Unwatch,
		*protocol.View, *protocol.Unview, *protocol.Ack, *protocol.Detach, *protocol.ViewerInput,
		*protocol.ChatSubscribe, *protocol.ChatUnsubscribe:
		if s := h.findOrFail(p, m); s != nil {
			h.handleFollower(p, s, m)
		}
	default:
		h.routeRequest(p, m)
	}
}

// handleFollower processes what a participant asks of a session's streams, or withdraws.
func (h *Hub) handleFollower(p *Peer, s *session, m protocol.Message) {
	switch m := m.(type) {
	case *protocol.Cancel:
		p.cancelRequest(s, m)
	case *protocol.SessionsSubscribe:
		h.addSubscription(p, s, m)
	case *protocol.Watch:
		h.watchOutput(p, s)
	case *protocol.Unwatch:
		s.watchers.remove(p)
	case *protocol.View:
		h.viewSession(p, s, m)
	case *protocol.Unview:
		s.removeViewer(p)
	case *protocol.Ack:
		s.rowStream.ackRows(p, m)
	case *protocol.Detach:
		s.detachPerson(p)
	case *protocol.ViewerInput:
		s.forwardTyping(p, m)
	case *protocol.ChatSubscribe:
		s.conversation.followChat(p, m)
	case *protocol.ChatUnsubscribe:
		s.conversation.remove(p)
		p.out.put(&protocol.Done{RequestID: m.RequestID})
	}
}

// routeRequest forwards a request to the proxy that owns its session.
func (h *Hub) routeRequest(p *Peer, m protocol.Message) {
	id := protocol.SessionID(m)
	if id == "" {
		p.out.put(&protocol.Error{
			RequestID: protocol.RequestID(m),
			Code:      protocol.CodeBadMessage,
			Field:     "sessionId",
			Message:   `field "sessionId": is missing`,
		})
		return
	}
	if protocol.RequestID(m) == "" {
		p.out.put(&protocol.Error{
			Code:    protocol.CodeBadMessage,
			Field:   "requestId",
			Message: `field "requestId": is missing`,
		})
		return
	}
	s := h.findOrFail(p, m)
	switch {
	case s == nil: // findOrFail answered
	case s.info.State == protocol.StateExited:
		h.answerEnded(p, s, m)
	case s.isRemoteSecret(m):
		p.failRequest(m, protocol.CodeUnavailable, "session "+id+" is not on this machine")
	case s.lacksChat(m):
		p.failRequest(m, protocol.CodeNoChat, s.noChatText())
	case s.owner == nil && !IsRepeatable(m):
		message := "the proxy of session " + id + " lost its connection, and may reconnect " +
			"within seconds: nothing was done"
		p.failRequest(m, protocol.CodeUnavailable, message)
	default:
		h.forwardRequest(p, cmp.Or(s.owner, s.standIn), s, m)
	}
}

func (h *Hub) answerEnded(p *Peer, s *session, m protocol.Message) {
	if h.handleEnded(p, s, m) {
		return
	}
	p.sendReply(protocol.WithRequestID(h.past.replyTo(s, m), protocol.RequestID(m)))
}

// forwardRequest forwards a request to a proxy and records the waiter. s is nil if the request
// names no session.
func (h *Hub) forwardRequest(p, owner *Peer, s *session, m protocol.Message) {
	id := protocol.RequestID(m)
	wireID := wireID(p.member.ID, id)
	request := p.attributedCopy(m, wireID)
	if q := owner.unanswered[wireID]; q != nil {
		// The same request again is one request. A different one under this id could not be told
		// apart.
		if q.session == s && isSameRequest(q.request, request) && len(q.waiting) < maxOpen {
			q.addWaiter(p, id)
			return
		}
		p.out.put(&protocol.Error{
			RequestID: id,
			Code:      protocol.CodeBadMessage,
			Field:     "requestId",
			Message:   `field "requestId": names another request that waits for its answer`,
		})
		return
	}
	if len(p.ownRequests) >= maxOpen {
		message := fmt.Sprintf("%d requests are waiting for their answers already", maxOpen)
		p.failRequest(m, protocol.CodeBusy, message)
		return
	}
	p.logRequest(request)
	s.noteRequester(p, request)
	q := &pending{
		owner: owner, session: s, wireID: wireID, number: h.nextNumber(), request: request,
	}
	q.addWaiter(p, id)
	owner.unanswered[wireID] = q
	q.offerSecret()
	if s == nil || owner == s.owner {
		q.send()
	}
}

// noteRequester records a participant that asks for control, writes a note or attaches. s may be nil
// for other requests.
func (s *session) noteRequester(p *Peer, request protocol.Message) {
	switch request := request.(type) {
	case *protocol.ControlRequest:
		s.addAsker(p.member.ID)
	case *protocol.Note:
		if request.AgentID != "" {
			s.addAsker(request.AgentID)
		}
	case *protocol.Attach:
		s.attached[p] = request
	}
}

// isSameRequest reports whether b repeats a.
func isSameRequest(a, b protocol.Message) bool {
	if wait, ok := a.(*protocol.Wait); ok {
		again, ok := b.(*protocol.Wait)
		return ok && again.Repeats(wait)
	}
	return reflect.DeepEqual(a, b)
}

// cancelRequest removes a participant from the waiters of a request.
func (p *Peer) cancelRequest(s *session, m *protocol.Cancel) {
	owner := cmp.Or(s.owner, s.standIn)
	if owner == nil {
		return // failHeld answered
	}
	id := wireID(p.member.ID, m.RequestID)
	switch q := owner.unanswered[id]; {
	case q == nil: // answered meanwhile, and the answer may be lost: the proxy knows it
		owner.out.put(&protocol.Cancel{RequestID: id, SessionID: m.SessionID, Withdraw: m.Withdraw})
	case q.session == s && q.mustTellProxy(m):
		q.dropWaiter(p, &protocol.Cancel{Withdraw: m.Withdraw})
	}
}

// handleEnded handles m if an ended session still allows it, and reports whether it did. The agent
// that started the session and people may close it, which forgets it. Hiding it forgets what it
// showed.
func (h *Hub) handleEnded(p *Peer, s *session, m protocol.Message) bool {
	switch m := m.(type) {
	case *protocol.Close:
		if p.member.Role == RoleAgent && p.member.ID != s.starter {
			return false
		}
		h.dropEnded(s, true)
	case *protocol.ControlDecide:
		if m.Hide != protocol.HideOn {
			return false
		}
		s.setBlackout(&protocol.Blackout{On: true, Why: protocol.BlackoutUser})
		s.past = nil
		h.past.noteChange()
	default:
		return false
	}
	p.out.put(&protocol.Done{RequestID: protocol.RequestID(m)})
	return true
}

// forwardRemote forwards a message for another gateway and reports whether it did. A participant
// that came from another gateway is not forwarded again.
func (h *Hub) forwardRemote(p *Peer, m protocol.Message) bool {
	if p.member.Remote || h.relay == (noRelay{}) {
		return false
	}
	id := protocol.SessionID(m)
	switch m := m.(type) {
	case *protocol.SessionsList:
		return !h.directory.IsComplete(p.member.Namespace) && h.relay.Forward(p, m)
	case *protocol.ProxyStart:
		return h.hosts.connected[hostOf(p, m.HostKey)] == nil && h.relay.Forward(p, m)
	}
	return id != "" && h.sessions[key{p.member.Namespace, id}] == nil && h.relay.Forward(p, m)
}
