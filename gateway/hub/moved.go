package hub

import "terminalproxy/protocol"

// RemoveMoved removes a session whose proxy is with another gateway now. The requests and streams
// of this gateway's participants follow it. Those of other gateways end with [ErrMoved], and their
// gateways find the session again.
func (h *Hub) RemoveMoved(namespace, id string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	s := h.sessions[key{namespace, id}]
	if s == nil {
		return
	}
	h.log.Info("session moved to another gateway", "session", id)
	if s.owner != nil {
		// If the proxy is there after all, it reconnects and takes the session with it.
		s.owner.out.end(ErrMoved)
		h.detachProxy(s)
	}
	interests := s.takeInterests()
	h.dropEnded(s, true)
	for _, interest := range interests {
		if interest.peer.member.Remote {
			interest.peer.out.end(ErrMoved)
			continue
		}
		interest.peer.out.clearSnapshotForm(id)
		if !h.relay.ForwardMoved(interest.peer, interest.message) {
			interest.peer.failRequest(
				interest.message,
				protocol.CodeUnavailable,
				"session "+id+" moved to another gateway, which your connection does not reach: "+
					"connect with a token",
			)
		}
	}
}

// openInterest is an open request or a stream of a participant, as it asked for it.
type openInterest struct {
	peer    *Peer
	message protocol.Message
}

// takeInterests returns all open interests in a session, requests first and oldest first. It
// removes the requests.
func (s *session) takeInterests() (all []openInterest) {
	if s.standIn != nil {
		for _, q := range s.standIn.unansweredByAge() {
			q.unregisterRequest(nil)
			for _, w := range q.waiting {
				delete(w.peer.ownRequests, q)
				all = append(all, openInterest{w.peer, protocol.WithRequestID(q.request, w.id)})
			}
		}
	}
	for p, m := range s.attached {
		all = append(all, openInterest{p, m})
	}
	for p, sub := range s.subs.followers {
		form := p.out.snapshotForm(s.key.id)
		form.RequestID, form.SessionID, form.EveryMs = sub.id, s.key.id, sub.rhythm.every.Milliseconds()
		all = append(all, openInterest{p, &form})
	}
	for p, v := range s.rowStream.followers {
		all = append(all, openInterest{p, &protocol.View{
			RequestID: v.id, SessionID: s.key.id, EveryMs: v.rhythm.every.Milliseconds(),
		}})
	}
	for p := range s.watchers.followers {
		all = append(all, openInterest{p, &protocol.Watch{SessionID: s.key.id}})
	}
	for p, l := range s.conversation.followers {
		all = append(all, openInterest{p, &protocol.ChatSubscribe{
			RequestID: l.id, SessionID: s.key.id, After: l.after,
		}})
	}
	return all
}
