package hub

import (
	"time"

	"terminalproxy/protocol"
)

// subscription is a participant's wish for everything new of one session. It belongs to the hub's lock.
type subscription struct {
	session *session
	peer    *Peer
	id      string // of the request
	every   time.Duration
	last    time.Time   // of the last snapshot
	timer   *time.Timer // sends the one that came too early
}

// subscribe starts the stream of a session: Done, the newest snapshot, and then what comes. A second one of the same
// participant replaces the first.
func (h *Hub) subscribe(p *Peer, m *protocol.SessionsSubscribe) {
	s := h.find(p, m)
	if s == nil {
		return
	}
	s.unsubscribe(p)
	p.out.follow(m)
	p.out.put(&protocol.Done{RequestID: m.RequestID})
	sub := &subscription{session: s, peer: p, id: m.RequestID, every: time.Duration(m.EveryMs) * time.Millisecond}
	sub.send()
	if s.info.State == protocol.StateExited {
		p.out.put(h.closing(s))
		return
	}
	s.subs[p] = sub
	if len(s.subs) == 1 {
		s.tellSubscribed()
	}
}

func (s *session) unsubscribe(p *Peer) {
	if sub := s.subs[p]; sub != nil {
		delete(s.subs, p)
		sub.stop()
		if len(s.subs) == 0 {
			s.tellSubscribed()
		}
	}
}

// tellSubscribed tells a proxy that wants to know whether anybody subscribes.
func (s *session) tellSubscribed() {
	if s.owner != nil && s.wonders {
		s.owner.out.put(&protocol.Subscribed{SessionID: s.key.id, On: len(s.subs) > 0, Brief: true})
	}
}

// asNow is a snapshot with the times of a moment.
type asNow struct {
	m, of  *protocol.Snapshot
	hidden *protocol.Hidden
	at     time.Time
}

// sameFor is how long the newest snapshot goes to others as it went to one: its times are that old then.
const sameFor = 10 * time.Millisecond

// now is the newest snapshot as of now, nil if there is none. It is one message for all who get it.
func (s *session) now() *protocol.Snapshot {
	if s.newest == nil {
		return nil
	}
	if n := &s.asNow; n.of != s.newest || n.hidden != s.blackout || time.Since(n.at) >= sameFor {
		out := *s.newest
		out.IdleMs, out.Blackout = s.idle(), s.hidden()
		*n = asNow{m: out.Share(s.newest), of: s.newest, hidden: s.blackout, at: time.Now()}
	}
	return s.asNow.m
}

func (sub *subscription) stop() {
	if sub.timer != nil {
		sub.timer.Stop()
		sub.timer = nil
	}
}

// send puts the newest snapshot into the participant's queue.
func (sub *subscription) send() {
	if m := sub.session.now(); m != nil {
		sub.last = time.Now()
		sub.peer.out.put(m)
	}
}

// flush sends a snapshot that was held back: nothing is held back over the end of a session.
func (sub *subscription) flush() {
	if sub.timer != nil {
		sub.stop()
		sub.send()
	}
}

// offer sends the newest snapshot, now or when the rhythm that the participant wanted allows.
func (sub *subscription) offer(h *Hub) {
	rest := sub.every - time.Since(sub.last)
	switch {
	case sub.timer != nil: // it will send the newest
	case rest <= 0:
		sub.send()
	default:
		sub.timer = time.AfterFunc(rest, func() {
			h.mu.Lock()
			defer h.mu.Unlock()
			if sub.timer != nil {
				sub.timer = nil
				sub.send()
			}
		})
	}
}
