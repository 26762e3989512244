package hub

import (
	"iter"
	"slices"
	"strconv"
	"strings"
	"sync"

	"terminalproxy/protocol"
)

// Bounds of a message with sessions, below the bounds of a message.
const (
	// Another gateway handles this many in about 10 ms, so other messages are not delayed for long.
	partSessions = 200
	partBytes    = protocol.MaxMessage / 2
)

// lists answers list requests and sends changes to the watchers. It reads sessions but never
// changes them. Guarded by Hub.mu: callers of its methods hold it, and its timers acquire it.
type lists struct {
	mu        *sync.Mutex // Hub.mu
	sessions  map[key]*session
	directory Directory
	boards    map[listKey]*board // lists that are watched
	orders    map[string]*Order  // of the sessions here, by namespace
}

// listKey identifies a list: the sessions of a namespace, or only the local ones.
type listKey struct {
	namespace string
	localOnly bool
}

// listOf returns the key of a participant's list. Other gateways and participants without a token
// get local sessions only.
func listOf(p *Peer) listKey {
	return listKey{p.member.Namespace, p.member.Remote || p.member.Token == ""}
}

// visibleTo returns the sessions that a participant may see, in the order of starting.
func (l *lists) visibleTo(p *Peer) []protocol.SessionInfo {
	return p.member.Rights.FilterSessions(l.sessionsOf(listOf(p)))
}

// incompleteOf reports sessions of other gateways that may be missing in a list, or returns nil.
func (l *lists) incompleteOf(of listKey) *protocol.Incomplete {
	if of.localOnly {
		return nil
	}
	return l.directory.Incomplete(of.namespace)
}

// sessionsOf returns the sessions of a list, in order.
func (l *lists) sessionsOf(of listKey) []protocol.SessionInfo {
	out := make([]protocol.SessionInfo, 0, l.orders[of.namespace].Len())
	for p := range l.placesAfter(of, beforeAll) {
		if info, there := l.findEntry(of, p.SessionID); there {
			out = append(out, info)
		}
	}
	return out
}

// placesAfter returns the places of a list that follow the given one, in order: those of the
// sessions here and those from the directory.
func (l *lists) placesAfter(of listKey, after Place) iter.Seq[Place] {
	return func(yield func(Place) bool) {
		here := placeCursor{readAfter: l.orders[of.namespace].After, last: after}
		others := placeCursor{last: after, ended: of.localOnly, readAfter: func(p Place) []Place {
			return l.directory.FindSessions(of.namespace, p)
		}}
		for {
			next, ok := here.peekPlace()
			other, more := others.peekPlace()
			switch {
			case !ok && !more:
				return
			case !ok || more && comparePlaces(other, next) < 0:
				others.read = others.read[1:]
				if l.sessions[key{of.namespace, other.SessionID}] != nil {
					continue // the session is here too
				}
				next = other
			default:
				here.read = here.read[1:]
			}
			if !yield(next) {
				return
			}
		}
	}
}

// placeSession gives a session its place in the lists.
func (l *lists) placeSession(s *session) {
	l.removePlace(s)
	order := l.orders[s.key.namespace]
	if order == nil {
		order = &Order{}
		l.orders[s.key.namespace] = order
	}
	s.place = Place{s.info.StartedAt, s.key.id}
	order.Insert(s.place)
}

// removePlace removes a session's place from the lists, if it has one.
func (l *lists) removePlace(s *session) {
	order := l.orders[s.key.namespace]
	order.Remove(s.place)
	if order.Len() == 0 {
		delete(l.orders, s.key.namespace)
	}
}

// findEntry returns one session of a list. A session that lost its proxy here may already run at
// another gateway.
func (l *lists) findEntry(of listKey, id string) (info protocol.SessionInfo, there bool) {
	s := l.sessions[key{of.namespace, id}]
	if !of.localOnly && (s == nil || s.info.State == protocol.StateLost) {
		info, there = l.directory.FindSession(of.namespace, id)
	}
	if s == nil || there && info.State == protocol.StateRunning {
		return info, there
	}
	return s.listInfo(), true
}

// listInfo returns the session's entry in the lists.
func (s *session) listInfo() protocol.SessionInfo {
	info := s.info
	info.IdleMs, info.Keyboard, info.Blackout = s.idleMs(), s.keyboard, s.currentBlackout()
	info.Viewed = s.rowStream.isViewedByPerson()
	info.LastLine = s.lastLine()
	if s.blackout.ByUser() {
		info.Chat = nil
	}
	if info.Keyboard.Holder == "" {
		info.Keyboard.Holder = protocol.HolderUser
	}
	return info
}

// lastLine returns the last row with text, or "" while the screen is hidden from agents.
func (s *session) lastLine() string {
	const most = 200
	if s.blackout != nil || s.newest == nil || s.newest.Screen == nil {
		return ""
	}
	for i, row := range slices.Backward(s.newest.Screen.Lines) {
		if row = strings.TrimSpace(row); row != "" && !slices.Contains(s.newest.HiddenText, i) {
			return shorten(row, most)
		}
	}
	return ""
}

// replyTo returns the answer to a list request: the whole list, or one page.
func (l *lists) replyTo(p *Peer, m *protocol.SessionsList) protocol.Message {
	if !m.Paged {
		return &protocol.SessionsListResult{
			RequestID:  m.RequestID,
			Sessions:   l.visibleTo(p),
			Incomplete: l.incompleteOf(listOf(p)),
		}
	}
	last, ok := parsePlace(m.After)
	if !ok {
		last = beforeAll
	}
	page := &protocol.SessionsListResult{
		RequestID:  m.RequestID,
		Sessions:   []protocol.SessionInfo{},
		Incomplete: l.incompleteOf(listOf(p)),
	}
	size := 0
	for place := range l.placesAfter(listOf(p), last) {
		info, there := l.findEntry(listOf(p), place.SessionID)
		if !there || !p.member.Rights.CanSee(place.SessionID) {
			last = place
			continue
		}
		if size += estimateSize(&info); size > partBytes && len(page.Sessions) > 0 {
			page.Next = strconv.FormatInt(last.StartedAt, 10) + "." + last.SessionID
			break
		}
		page.Sessions, last = append(page.Sessions, info), place
	}
	return page
}

// parsePlace reads the place from a page's Next.
func parsePlace(after string) (at Place, ok bool) {
	started, id, ok := strings.Cut(after, ".")
	if !ok {
		return at, false
	}
	at.SessionID = id
	var err error
	at.StartedAt, err = strconv.ParseInt(started, 10, 64)
	return at, err == nil
}

// countThatFit returns how many of the first sessions fit into one message, at least one.
func countThatFit(all []protocol.SessionInfo) (n int) {
	for size := 0; n < len(all) && n < partSessions; n++ {
		if size += estimateSize(&all[n]); size > partBytes && n > 0 {
			break
		}
	}
	return n
}

// estimateSize estimates the bytes of a session in a message; the true size is at most twice that.
func estimateSize(s *protocol.SessionInfo) int {
	// of the field names and numbers; less than the real size only if nearly all are present
	const names = 600
	k := &s.Keyboard
	n := names + escapedLen(s.Args...) + escapedLen(s.Muted...)
	n += escapedLen(
		s.SessionID, s.Name, s.Command, s.Cwd, s.ParentSessionID, s.Signal, s.Title, s.Foreground,
		s.Directory, s.LastLine,
	)
	n += escapedLen(
		k.AgentID, k.AgentName, k.HeldWhy, k.HeldLine, k.Program, k.Asking, k.AskingReason,
	)
	if s.Decided != nil {
		n += escapedLen(s.Decided.AgentName, s.Decided.By)
	}
	if s.Chat != nil {
		n += escapedLen(s.Chat.Agent, s.Chat.Mode, s.Chat.Why)
	}
	return n
}

// escapedLen returns the largest size of strings in JSON, with their quotes, in bytes.
func escapedLen(all ...string) (n int) {
	for _, s := range all {
		n += len(s) + len(`"",`)
		for i := range len(s) {
			if c := s[i]; c < ' ' || c == '"' || c == '\\' || c >= 0x7f {
				n += 5
			}
		}
	}
	return n
}
