package hub

import (
	"reflect"
	"slices"
	"time"

	"terminalproxy/protocol"
)

// boardEvery is the fastest rhythm of changes to a list.
const boardEvery = 250 * time.Millisecond

// outputEvery is how often a list reports that a session's screen changed.
const outputEvery = 3 * time.Second

// usedEvery is the resolution in which a list reports that a user types.
const usedEvery = time.Minute

// board is the list of a namespace's sessions, as its watchers have it: all of them were sent the
// same. The cost of a change does not depend on the number of sessions. Guarded by Hub.mu.
type board struct {
	watchers   map[*Peer]struct{}
	sent       map[string]sentEntry
	stale      map[string]struct{}  // sessions that may have changed
	later      map[string]time.Time // screens that changed, and when they are due
	lastSent   time.Time            // time of the last message
	timer      *time.Timer          // sends changes that came too early, or nil
	slow       *time.Timer          // sends screens that changed, or nil
	incomplete *protocol.Incomplete // as sent last
}

// sentEntry is the last entry sent for a session.
type sentEntry struct {
	stable protocol.SessionInfo // see stableInfo
	seq    uint64
	at     time.Time
}

// watchList answers Done and then sends the participant all sessions, and later their changes.
func (h *Hub) watchList(p *Peer, m *protocol.SessionsWatch) {
	p.out.put(&protocol.Done{RequestID: m.RequestID})
	of, all := listOf(p), h.listSessions(listOf(p))
	b := h.boards[of]
	if b == nil {
		b = h.newBoard(all)
		h.boards[of] = b
	}
	delete(b.watchers, p) // a repeated watch starts over
	h.sendListChanges(of, b)
	b.watchers[p] = struct{}{}
	p.sendListPart(&protocol.SessionsChanged{Full: true, Sessions: all, Incomplete: b.incomplete})
}

func (h *Hub) newBoard(all []protocol.SessionInfo) *board {
	b := &board{
		watchers: make(map[*Peer]struct{}), sent: make(map[string]sentEntry, len(all)),
		stale: make(map[string]struct{}), later: make(map[string]time.Time),
	}
	for _, info := range all {
		b.sent[info.SessionID] = sentEntry{stableInfo(info), info.Seq, time.Now()}
	}
	return b
}

// sendListPart sends a participant the part of a change that it may know, in messages within the
// size limit.
func (p *Peer) sendListPart(m *protocol.SessionsChanged) {
	if m = p.member.Rights.FilterChange(m); m == nil {
		return
	}
	for first := true; ; first = false {
		n := countThatFit(m.Sessions)
		part := &protocol.SessionsChanged{
			Full:       m.Full && first,
			Sessions:   m.Sessions[:n],
			More:       n < len(m.Sessions),
			Incomplete: m.Incomplete,
		}
		if m.Sessions = m.Sessions[n:]; !part.More {
			part.Gone = m.Gone
		}
		if p.out.put(part); !part.More {
			return
		}
	}
}

// unwatchList removes a participant, and the board with its last watcher.
func (h *Hub) unwatchList(p *Peer) {
	b := h.boards[listOf(p)]
	if b == nil {
		return
	}
	if delete(b.watchers, p); len(b.watchers) == 0 {
		b.stopTimers()
		delete(h.boards, listOf(p))
	}
}

func (b *board) stopTimers() {
	for _, t := range []**time.Timer{&b.timer, &b.slow} {
		if *t != nil {
			(*t).Stop()
			*t = nil
		}
	}
}

// markListStale notes that a session's entry in the lists may have changed. It is cheap while the
// lists have no watcher.
func (h *Hub) markListStale(k key) {
	for _, here := range []bool{true, false} {
		of := listKey{k.namespace, here}
		b := h.boards[of]
		if b == nil {
			continue
		}
		b.stale[k.id] = struct{}{}
		h.sendListChangesSoon(of, b)
	}
}

// sendListChangesSoon sends the changes as soon as the rhythm allows.
func (h *Hub) sendListChangesSoon(of listKey, b *board) {
	if b.timer == nil {
		h.scheduleListChanges(of, b, &b.timer, max(0, boardEvery-time.Since(b.lastSent)))
	}
}

// scheduleListChanges sends the changes after a delay.
func (h *Hub) scheduleListChanges(of listKey, b *board, timer **time.Timer, wait time.Duration) {
	*timer = time.AfterFunc(wait, func() {
		h.mu.Lock()
		defer h.mu.Unlock()
		if *timer != nil {
			*timer = nil
			h.sendListChanges(of, b)
		}
	})
}

// sendListChanges sends what differs from the entries sent before. Changed screens wait until they
// are due.
func (h *Hub) sendListChanges(of listKey, b *board) {
	b.lastSent = time.Now()
	for id, due := range b.later {
		if !b.lastSent.Before(due) {
			b.stale[id] = struct{}{}
		}
	}
	m := &protocol.SessionsChanged{
		Sessions: []protocol.SessionInfo{}, Incomplete: h.incompleteOf(of),
	}
	differs := !equal(b.incomplete, m.Incomplete)
	b.incomplete = m.Incomplete
	for id := range b.stale {
		h.appendListChange(of, b, id, m)
	}
	clear(b.stale)
	b.scheduleScreens(h, of)
	if len(m.Sessions)+len(m.Gone) == 0 && !differs {
		return
	}
	slices.SortFunc(m.Sessions, func(a, b protocol.SessionInfo) int {
		return comparePlaces(Place{a.StartedAt, a.SessionID}, Place{b.StartedAt, b.SessionID})
	})
	slices.Sort(m.Gone)
	for p := range b.watchers {
		p.sendListPart(&protocol.SessionsChanged{
			Sessions: m.Sessions, Gone: m.Gone, Incomplete: m.Incomplete,
		})
	}
}

// appendListChange adds the session's entry to m if it differs from the one sent before.
func (h *Hub) appendListChange(of listKey, b *board, id string, m *protocol.SessionsChanged) {
	old, known := b.sent[id]
	info, there := h.listEntry(of, id)
	if !there {
		delete(b.sent, id)
		delete(b.later, id)
		if known {
			m.Gone = append(m.Gone, id)
		}
		return
	}
	t, due := sentEntry{stableInfo(info), info.Seq, b.lastSent}, old.at.Add(outputEvery)
	switch drawn := old.seq != t.seq; {
	case !known, !sameStableInfo(&old.stable, &t.stable), drawn && !b.lastSent.Before(due):
		m.Sessions = append(m.Sessions, info)
		b.sent[id] = t
		delete(b.later, id)
	case drawn:
		b.later[id] = due
	default:
		delete(b.later, id)
	}
}

// scheduleScreens starts the timer for the first changed screen that is due.
func (b *board) scheduleScreens(h *Hub, of listKey) {
	if len(b.later) == 0 || b.slow != nil {
		return
	}
	rest := outputEvery
	for _, due := range b.later {
		rest = min(rest, due.Sub(b.lastSent))
	}
	h.scheduleListChanges(of, b, &b.slow, max(rest, boardEvery))
}

// stableInfo returns an entry without the fields that change by themselves or with each output.
func stableInfo(s protocol.SessionInfo) protocol.SessionInfo {
	s.IdleMs, s.Seq, s.LastLine, s.Viewed = 0, 0, "", false
	s.UsedAt -= s.UsedAt % usedEvery.Milliseconds()
	if s.Blackout != nil {
		w := *s.Blackout
		w.SinceMs = 0
		s.Blackout = &w
	}
	return s
}

// sameStableInfo compares two entries field by field, those that differ most often first. It takes
// a tenth of the time of reflection.
func sameStableInfo(a, b *protocol.SessionInfo) bool {
	return a.State == b.State && a.Moving == b.Moving && a.Title == b.Title &&
		a.Foreground == b.Foreground && a.Directory == b.Directory && a.UsedAt == b.UsedAt &&
		a.Cols == b.Cols && a.Rows == b.Rows && a.Alt == b.Alt && a.DetachedAt == b.DetachedAt &&
		a.Kept == b.Kept && a.StartedAt == b.StartedAt &&
		a.Pid == b.Pid && a.ExitCode == b.ExitCode && a.Signal == b.Signal &&
		a.Headless == b.Headless && a.Parts == b.Parts && a.Mutes == b.Mutes &&
		a.SessionID == b.SessionID && a.Name == b.Name && a.Command == b.Command &&
		a.Cwd == b.Cwd && a.ParentSessionID == b.ParentSessionID &&
		a.IdleMs == b.IdleMs && a.Seq == b.Seq && a.LastLine == b.LastLine &&
		a.Viewed == b.Viewed &&
		slices.Equal(a.Args, b.Args) && slices.Equal(a.Muted, b.Muted) &&
		equal(a.Progress, b.Progress) && equal(a.Decided, b.Decided) &&
		equal(a.Blackout, b.Blackout) && equal(a.Chat, b.Chat) &&
		reflect.DeepEqual(a.Keyboard, b.Keyboard)
}

// equal reports whether two pointers are both nil or point to equal values.
func equal[T any](a, b *T) bool { return a == b || a != nil && b != nil && reflect.DeepEqual(a, b) }
