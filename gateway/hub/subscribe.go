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
func (h *Hub) addSubscription(p *Peer, m *protocol.SessionsSubscribe) {
	s := h.findOrFail(p, m)
	if s == nil {
		return
	}
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

// subscribedState says whether there are subscribers.
func (s *session) subscribedState() protocol.Message {
	return &protocol.Subscribed{SessionID: s.key.id, On: len(s.subs.followers) > 0, Brief: true}
}

// datedCopy is a snapshot with its times as of one moment.
type datedCopy struct {
	m, of  *protocol.Snapshot
	hidden *protocol.Hidden
	at     time.Time
}

// sameFor is how long subscribers share one dated copy, so its times are at most that old.
const sameFor = 10 * time.Millisecond

// currentSnapshot returns the newest snapshot with times as of now, or nil. All receivers share one
// message.
func (s *session) currentSnapshot() *protocol.Snapshot {
	if s.newest == nil {
		return nil
	}
	if n := &s.current; n.of != s.newest || n.hidden != s.blackout || time.Since(n.at) >= sameFor {
		out := *s.newest
		out.IdleMs, out.Blackout = s.idleMs(), s.currentBlackout()
		*n = datedCopy{m: out.Share(s.newest), of: s.newest, hidden: s.blackout, at: time.Now()}
	}
	return s.current.m
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
