package hub

import (
	"time"

	"terminalproxy/protocol"
)

// subscription is a participant's stream of one session's snapshots. Guarded by Hub.mu.
type subscription struct {
	session *session
	peer    *Peer
	id      string // of the request
	rhythm  rhythm
}

// addSubscription starts the stream of a session: Done, the newest snapshot, and then later ones. A
// second request of the participant replaces the first.
func (h *Hub) addSubscription(p *Peer, s *session, m *protocol.SessionsSubscribe) {
	s.removeSubscription(p)
	p.out.setSnapshotForm(m)
	p.out.put(&protocol.Done{RequestID: m.RequestID})
	sub := &subscription{session: s, peer: p, id: m.RequestID}
	every := time.Duration(m.EveryMs) * time.Millisecond
	sub.rhythm = rhythm{mu: &h.mu, every: every, send: sub.sendNewest}
	sub.sendNewest()
	if s.info.State == protocol.StateExited {
		p.out.put(h.past.closeMessage(s))
		return
	}
	s.subs.add(p, sub)
}

func (s *session) removeSubscription(p *Peer) {
	if sub := s.subs.remove(p); sub != nil {
		sub.rhythm.next.stop()
	}
}

// subscribedState returns the message that informs the proxy whether there are subscribers.
func (s *session) subscribedState() protocol.Message {
	return &protocol.Subscribed{SessionID: s.key.id, On: len(s.subs.followers) > 0, Deltas: true}
}

// sendNewest puts the newest snapshot into the participant's queue.
func (sub *subscription) sendNewest() {
	if m := sub.session.currentSnapshot(); m != nil {
		sub.rhythm.last = time.Now()
		sub.peer.out.put(m)
	}
}

// flush sends a delayed snapshot now, before the session ends.
func (sub *subscription) flush() {
	if sub.rhythm.next.stop() {
		sub.sendNewest()
	}
}

// offerNewest sends the newest snapshot, now or when the participant's rhythm allows.
func (sub *subscription) offerNewest() {
	if sub.rhythm.isDue() {
		sub.sendNewest()
	}
}
