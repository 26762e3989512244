package hub

import (
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

// board is the list of a namespace's sessions, for those who watch it; all of them have been told the same. A change costs what it
// changes: no other session is looked at. It belongs to the hub's lock.
type board struct {
	watchers map[*Peer]struct{}
	told     map[string]telling
	stirred  map[string]struct{}  // what may have changed since, by session
	later    map[string]time.Time // screens that changed, and when that is told
	last     time.Time            // of the last telling
	timer    *time.Timer          // tells what came too early; nil while nothing waits
	slow     *time.Timer          // tells of screens that changed; nil while none did
	lacks    *protocol.Incomplete // as it was told last
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
	of, all := listOf(p), h.listed(listOf(p))
	b := h.boards[of]
	if b == nil {
		b = h.newBoard(all)
		h.boards[of] = b
	}
	delete(b.watchers, p) // it begins anew
	h.tell(of, b)
	b.watchers[p] = struct{}{}
	p.changed(&protocol.SessionsChanged{Full: true, Sessions: all, Incomplete: b.lacks})
}

// newBoard is a board that tells what changes of a list.
func (h *Hub) newBoard(all []protocol.SessionInfo) *board {
	b := &board{
		watchers: make(map[*Peer]struct{}), told: make(map[string]telling, len(all)), stirred: make(map[string]struct{}), later: make(map[string]time.Time),
	}
	for _, info := range all {
		b.told[info.SessionID] = telling{resting(info), info.Seq, time.Now()}
	}
	return b
}

// changed tells a participant what it may know of a change, in messages that are not too large.
func (p *Peer) changed(m *protocol.SessionsChanged) {
	if m = p.member.Rights.Changed(m); m == nil {
		return
	}
	for first := true; ; first = false {
		n := fitting(m.Sessions)
		part := &protocol.SessionsChanged{Full: m.Full && first, Sessions: m.Sessions[:n], More: n < len(m.Sessions), Incomplete: m.Incomplete}
		if m.Sessions = m.Sessions[n:]; !part.More {
			part.Gone = m.Gone
		}
		if p.out.put(part); !part.More {
			return
		}
	}
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

// stirred says that something may have changed in what the lists tell of a session. It costs nothing while nobody watches.
func (h *Hub) stirred(k key) {
	for _, here := range []bool{true, false} {
		of := listKey{k.namespace, here}
		b := h.boards[of]
		if b == nil {
			continue
		}
		b.stirred[k.id] = struct{}{}
		h.tellSoon(of, b)
	}
}

// tellSoon tells what differs as soon as the rhythm allows.
func (h *Hub) tellSoon(of listKey, b *board) {
	if b.timer == nil {
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
	b.last = time.Now()
	for id, due := range b.later {
		if !b.last.Before(due) {
			b.stirred[id] = struct{}{}
		}
	}
	m := &protocol.SessionsChanged{Sessions: []protocol.SessionInfo{}, Incomplete: h.lacks(of)}
	differs := !equal(b.lacks, m.Incomplete)
	b.lacks = m.Incomplete
	for id := range b.stirred {
		h.compare(of, b, id, m)
	}
	clear(b.stirred)
	b.wait(h, of)
	if len(m.Sessions)+len(m.Gone) == 0 && !differs {
		return
	}
	slices.SortFunc(m.Sessions, func(a, b protocol.SessionInfo) int {
		return inOrder(Place{a.StartedAt, a.SessionID}, Place{b.StartedAt, b.SessionID})
	})
	slices.Sort(m.Gone)
	for p := range b.watchers {
		p.changed(&protocol.SessionsChanged{Sessions: m.Sessions, Gone: m.Gone, Incomplete: m.Incomplete})
	}
}

// compare adds to a message what of a session differs from what was told.
func (h *Hub) compare(of listKey, b *board, id string, m *protocol.SessionsChanged) {
	old, known := b.told[id]
	info, there := h.entry(of, id)
	if !there {
		delete(b.told, id)
		delete(b.later, id)
		if known {
			m.Gone = append(m.Gone, id)
		}
		return
	}
	t, due := telling{resting(info), info.Seq, b.last}, old.at.Add(outputEvery)
	switch drawn := old.seq != t.seq; {
	case !known, !alike(&old.rest, &t.rest), drawn && !b.last.Before(due):
		m.Sessions = append(m.Sessions, info)
		b.told[id] = t
		delete(b.later, id)
	case drawn:
		b.later[id] = due
	default:
		delete(b.later, id)
	}
}

// wait has the screens told that changed, when the first of them is due.
func (b *board) wait(h *Hub, of listKey) {
	if len(b.later) == 0 || b.slow != nil {
		return
	}
	rest := outputEvery
	for _, due := range b.later {
		rest = min(rest, due.Sub(b.last))
	}
	h.tellIn(of, b, &b.slow, max(rest, boardEvery))
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

// alike reports whether two resting sessions are told the same. It compares what mostly differs first, and is a tenth of what
// reflection takes.
func alike(a, b *protocol.SessionInfo) bool {
	return a.State == b.State && a.Moving == b.Moving && a.Title == b.Title && a.Foreground == b.Foreground && a.Directory == b.Directory && a.UsedAt == b.UsedAt &&
		a.Cols == b.Cols && a.Rows == b.Rows && a.Alt == b.Alt && a.DetachedAt == b.DetachedAt && a.Kept == b.Kept && a.StartedAt == b.StartedAt &&
		a.Pid == b.Pid && a.ExitCode == b.ExitCode && a.Signal == b.Signal && a.Headless == b.Headless && a.Parts == b.Parts && a.Mutes == b.Mutes &&
		a.SessionID == b.SessionID && a.Name == b.Name && a.Command == b.Command && a.Cwd == b.Cwd && a.ParentSessionID == b.ParentSessionID &&
		a.IdleMs == b.IdleMs && a.Seq == b.Seq && a.LastLine == b.LastLine && a.Viewed == b.Viewed &&
		slices.Equal(a.Args, b.Args) && slices.Equal(a.Muted, b.Muted) && equal(a.Progress, b.Progress) && equal(a.Decided, b.Decided) &&
		equal(a.Blackout, b.Blackout) && equal(a.Chat, b.Chat) && reflect.DeepEqual(a.Keyboard, b.Keyboard)
}

// equal reports whether two values that may be missing are equal.
func equal[T any](a, b *T) bool { return a == b || a != nil && b != nil && reflect.DeepEqual(a, b) }
