package hub

import (
	"maps"
	"reflect"
	"slices"
	"time"

	"terminalproxy/protocol"
)

// boardEvery is the fastest rhythm in which a list of sessions is told anew.
const boardEvery = 250 * time.Millisecond

// usedEvery is how often a list is told anew because a user types.
const usedEvery = time.Minute

// board is the list of a namespace's sessions, for those who watch it; all of them have been told the same. It belongs to the hub's
// lock.
type board struct {
	watchers map[*Peer]struct{}
	told     map[string]protocol.SessionInfo
	last     time.Time   // of the last telling
	timer    *time.Timer // tells what came too early; nil while nothing waits
}

// watchList begins to tell a participant of the sessions that there are: Done, all of them, and then what changes.
func (h *Hub) watchList(p *Peer, m *protocol.SessionsWatch) {
	p.out.put(&protocol.Done{RequestID: m.RequestID})
	ns := p.member.Namespace
	b := h.boards[ns]
	if b == nil {
		b = &board{watchers: make(map[*Peer]struct{})}
		h.boards[ns] = b
	}
	delete(b.watchers, p) // it begins anew
	h.tell(ns, b)
	b.watchers[p] = struct{}{}
	p.out.put(&protocol.SessionsChanged{Full: true, Sessions: h.list(p)})
}

// unwatchList forgets a participant.
func (h *Hub) unwatchList(p *Peer) {
	b := h.boards[p.member.Namespace]
	if b == nil {
		return
	}
	if delete(b.watchers, p); len(b.watchers) == 0 {
		b.stop()
		delete(h.boards, p.member.Namespace)
	}
}

func (b *board) stop() {
	if b.timer != nil {
		b.timer.Stop()
		b.timer = nil
	}
}

// stirred says that something may have changed in the lists. It costs nothing while nobody watches.
func (h *Hub) stirred() {
	for ns, b := range h.boards {
		if b.timer != nil {
			continue
		}
		b.timer = time.AfterFunc(max(0, boardEvery-time.Since(b.last)), func() {
			h.mu.Lock()
			defer h.mu.Unlock()
			if b.timer != nil {
				b.timer = nil
				h.tell(ns, b)
			}
		})
	}
}

// tell sends what differs from what was told.
func (h *Hub) tell(ns string, b *board) {
	was := b.told
	b.told, b.last = make(map[string]protocol.SessionInfo), time.Now()
	m := &protocol.SessionsChanged{Sessions: []protocol.SessionInfo{}}
	for _, info := range h.listed(ns) {
		still := resting(info)
		b.told[info.SessionID] = still
		if old, known := was[info.SessionID]; !known || !reflect.DeepEqual(old, still) {
			m.Sessions = append(m.Sessions, info)
		}
	}
	for _, id := range slices.Sorted(maps.Keys(was)) {
		if _, there := b.told[id]; !there {
			m.Gone = append(m.Gone, id)
		}
	}
	if len(m.Sessions)+len(m.Gone) == 0 {
		return
	}
	for p := range b.watchers {
		if part := p.member.Rights.Changed(m); part != nil {
			p.out.put(part)
		}
	}
}

// resting is a session without what changes by itself or with each piece of output.
func resting(s protocol.SessionInfo) protocol.SessionInfo {
	s.IdleMs, s.Seq, s.Viewed = 0, 0, false
	s.UsedAt -= s.UsedAt % usedEvery.Milliseconds()
	if s.Blackout != nil {
		w := *s.Blackout
		w.SinceMs = 0
		s.Blackout = &w
	}
	return s
}
