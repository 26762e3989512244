package hub

import (
	"reflect"
	"slices"
	"sort"
	"time"

	"terminalproxy/protocol"
)

// boardEvery is the fastest rhythm of changes to a list.
const boardEvery = 250 * time.Millisecond

// outputEvery is how often a list reports that a session's screen changed.
const outputEvery = 3 * time.Second

// usedEvery is the resolution in which a list reports that a user types.
const usedEvery = time.Minute

// board is the list of a namespace's sessions as sent to its watchers, who all receive the same.
// The cost of a change does not depend on the number of sessions. Guarded by Hub.mu.
type board struct {
	of         listKey
	watchers   map[*Peer]struct{}
	sent       map[string]sentEntry
	stale      map[string]struct{}  // sessions that may have changed
	later      map[string]time.Time // screens that changed, and when they are due
	rhythm     rhythm               // of the changes
	screens    delayed              // sends screens that changed
	incomplete *protocol.Incomplete // as sent last
}

// sentEntry is an entry as it was last sent for a session.
type sentEntry struct {
	stable protocol.SessionInfo // see stableInfo
	seq    uint64
	at     time.Time
}

// addWatcher answers Done and then sends the participant all sessions, and later their changes.
func (l *lists) addWatcher(p *Peer, m *protocol.SessionsWatch) {
	p.out.put(&protocol.Done{RequestID: m.RequestID})
	of, all := listOf(p), l.sessionsOf(listOf(p))
	b := l.boards[of]
	if b == nil {
		b = newBoard(of, all)
		b.rhythm = rhythm{mu: l.mu, every: boardEvery, send: func() { l.sendChanges(b) }}
		l.boards[of] = b
	}
	delete(b.watchers, p) // a repeated watch starts over
	l.sendChanges(b)
	b.watchers[p] = struct{}{}
	p.sendListPart(&protocol.SessionsChanged{Full: true, Sessions: all, Incomplete: b.incomplete})
}

func newBoard(of listKey, all []protocol.SessionInfo) *board {
	b := &board{
		of:       of,
		watchers: make(map[*Peer]struct{}), sent: make(map[string]sentEntry, len(all)),
		stale: make(map[string]struct{}), later: make(map[string]time.Time),
	}
	for _, info := range all {
		b.sent[info.SessionID] = sentEntry{stableInfo(info), info.Seq, time.Now()}
	}
	return b
}

// sendListPart sends a participant the part of a change that it may see, in messages within the
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

// removeWatcher removes a participant, and the board with its last watcher.
func (l *lists) removeWatcher(p *Peer) {
	b := l.boards[listOf(p)]
	if b == nil {
		return
	}
	if delete(b.watchers, p); len(b.watchers) == 0 {
		b.stopTimers()
		delete(l.boards, listOf(p))
	}
}

// noteReachability notes that the directory lost or regained contact with other gateways.
func (l *lists) noteReachability(namespace string) {
	if b := l.boards[listKey{namespace, false}]; b != nil {
		b.rhythm.sendLater()
	}
}

// close drops all boards and places.
func (l *lists) close() {
	for _, b := range l.boards {
		b.stopTimers()
	}
	clear(l.boards)
	clear(l.orders)
}

func (b *board) stopTimers() {
	b.rhythm.next.stop()
	b.screens.stop()
}

// markStale notes that a session's entry in the lists may have changed. It is cheap while the
// lists have no watcher.
func (l *lists) markStale(k key) {
	for _, here := range []bool{true, false} {
		of := listKey{k.namespace, here}
		b := l.boards[of]
		if b == nil {
			continue
		}
		b.stale[k.id] = struct{}{}
		b.rhythm.sendLater()
	}
}

// sendChanges sends what differs from the entries sent before. Changed screens wait until they
// are due.
func (l *lists) sendChanges(b *board) {
	b.rhythm.last = time.Now()
	for id, due := range b.later {
		if !b.rhythm.last.Before(due) {
			b.stale[id] = struct{}{}
		}
	}
	m := &protocol.SessionsChanged{
		Sessions: []protocol.SessionInfo{}, Incomplete: l.incompleteOf(b.of),
	}
	differs := !equal(b.incomplete, m.Incomplete)
	b.incomplete = m.Incomplete
	for id := range b.stale {
		l.appendChange(b, id, m)
	}
	clear(b.stale)
	l.scheduleScreens(b)
	if len(m.Sessions)+len(m.Gone) == 0 && !differs {
		return
	}
	sort.Slice(m.Sessions, func(i, k int) bool {
		a, b := &m.Sessions[i], &m.Sessions[k]
		return comparePlaces(Place{a.StartedAt, a.SessionID}, Place{b.StartedAt, b.SessionID}) < 0
	})
	slices.Sort(m.Gone)
	for p := range b.watchers {
		p.sendListPart(&protocol.SessionsChanged{
			Sessions: m.Sessions, Gone: m.Gone, Incomplete: m.Incomplete,
		})
	}
}

// appendChange adds the session's entry to m if it differs from the one sent before.
func (l *lists) appendChange(b *board, id string, m *protocol.SessionsChanged) {
	old, known := b.sent[id]
	info, there := l.findEntry(b.of, id)
	if !there {
		delete(b.sent, id)
		delete(b.later, id)
		if known {
			m.Gone = append(m.Gone, id)
		}
		return
	}
	t, due := sentEntry{stableInfo(info), info.Seq, b.rhythm.last}, old.at.Add(outputEvery)
	switch drawn := old.seq != t.seq; {
	case !known, !sameStableInfo(&old.stable, &t.stable), drawn && !b.rhythm.last.Before(due):
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
func (l *lists) scheduleScreens(b *board) {
	if len(b.later) == 0 {
		return
	}
	rest := outputEvery
	for _, due := range b.later {
		rest = min(rest, due.Sub(b.rhythm.last))
	}
	b.screens.start(l.mu, max(rest, boardEvery), b.rhythm.send)
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
		a.Headless == b.Headless &&
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
