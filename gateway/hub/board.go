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

// outputEvery is how often a list is told anew because a session's screen changes.
const outputEvery = 3 * time.Second

// usedEvery is how often a list is told anew because a user types.
const usedEvery = time.Minute

// board is the list of a namespace's sessions, for those who watch it; all of them have been told the same. It belongs to the hub's
// lock.
type board struct {
	watchers map[*Peer]struct{}
	told     map[string]telling
	last     time.Time   // of the last telling
	timer    *time.Timer // tells what came too early; nil while nothing waits
	slow     *time.Timer // tells of screens that changed; nil while none did
}

// telling is what was told of a session last, and when.
type telling struct {
	rest protocol.SessionInfo // see resting
	seq  uint64
	at   time.Time
}

// watchList begins to tell a participant of the sessions that there are: Done, all of them, and then what changes.
func (h *Hub) watchList(p *Peer, m *protocol.SessionsWatch) {
	p.out.put(&protocol.Done{RequestID: m.RequestID})
	of := listOf(p)
	b := h.boards[of]
	if b == nil {
		b = &board{watchers: make(map[*Peer]struct{})}
		h.boards[of] = b
	}
	delete(b.watchers, p) // it begins anew
	h.tell(of, b)
	b.watchers[p] = struct{}{}
	p.out.put(&protocol.SessionsChanged{Full: true, Sessions: h.list(p)})
}

// unwatchList forgets a participant.
func (h *Hub) unwatchList(p *Peer) {
	b := h.boards[listOf(p)]
	if b == nil {
		return
	}
	if delete(b.watchers, p); len(b.watchers) == 0 {
		b.stop()
		delete(h.boards, listOf(p))
	}
}

func (b *board) stop() {
	for _, t := range []**time.Timer{&b.timer, &b.slow} {
		if *t != nil {
			(*t).Stop()
			*t = nil
		}
	}
}

// stirred says that something may have changed in the lists. It costs nothing while nobody watches.
func (h *Hub) stirred() {
	for of, b := range h.boards {
		if b.timer != nil {
			continue
		}
		h.tellIn(of, b, &b.timer, max(0, boardEvery-time.Since(b.last)))
	}
}

// tellIn tells what differs after a while.
func (h *Hub) tellIn(of listKey, b *board, timer **time.Timer, wait time.Duration) {
	*timer = time.AfterFunc(wait, func() {
		h.mu.Lock()
		defer h.mu.Unlock()
		if *timer != nil {
			*timer = nil
			h.tell(of, b)
		}
	})
}

// tell sends what differs from what was told. Of screens that change it waits to tell.
func (h *Hub) tell(of listKey, b *board) {
	was, now, wait := b.told, time.Now(), time.Duration(0)
	b.told, b.last = make(map[string]telling), now
	m := &protocol.SessionsChanged{Sessions: []protocol.SessionInfo{}}
	for _, info := range h.listed(of) {
		t := telling{resting(info), info.Seq, now}
		old, known := was[info.SessionID]
		rest := outputEvery - now.Sub(old.at)
		switch {
		case !known, !reflect.DeepEqual(old.rest, t.rest), old.seq != t.seq && rest <= 0:
			m.Sessions = append(m.Sessions, info)
		case old.seq != t.seq && (wait == 0 || rest < wait):
			wait = rest
			fallthrough
		default:
			t = old
		}
		b.told[info.SessionID] = t
	}
	if wait > 0 && b.slow == nil {
		h.tellIn(of, b, &b.slow, wait)
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
	s.IdleMs, s.Seq, s.LastLine, s.Viewed = 0, 0, "", false
	s.UsedAt -= s.UsedAt % usedEvery.Milliseconds()
	if s.Blackout != nil {
		w := *s.Blackout
		w.SinceMs = 0
		s.Blackout = &w
	}
	return s
}
