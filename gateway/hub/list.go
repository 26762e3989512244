package hub

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"terminalproxy/protocol"
)

// Bounds of a message with sessions, below the bounds of a message.
const (
	// partSessions take another gateway some 10 ms, so other messages need not wait long.
	partSessions = 200
	partBytes    = protocol.MaxMessage / 2
)

// visibleSessions returns the sessions that a participant may see, in the order of starting.
func (h *Hub) visibleSessions(p *Peer) []protocol.SessionInfo {
	return p.member.Rights.FilterSessions(h.listSessions(listOf(p)))
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

// incompleteOf reports sessions of other gateways that may be missing in a list, or returns nil.
func (h *Hub) incompleteOf(of listKey) *protocol.Incomplete {
	if of.localOnly {
		return nil
	}
	return h.directory.Incomplete(of.namespace)
}

// Place is the position of a session in the lists.
type Place struct {
	StartedAt int64
	SessionID string
}

// comparePlaces orders sessions by their start.
func comparePlaces(a, b Place) int {
	return cmp.Or(cmp.Compare(a.StartedAt, b.StartedAt), strings.Compare(a.SessionID, b.SessionID))
}

// sortedPlaces returns the places of a list's sessions, in order.
func (h *Hub) sortedPlaces(of listKey) (all []Place) {
	for k, s := range h.sessions {
		if k.namespace == of.namespace {
			all = append(all, Place{s.info.StartedAt, k.id})
		}
	}
	if !of.localOnly {
		for _, p := range h.directory.FindSessions(of.namespace) {
			if h.sessions[key{of.namespace, p.SessionID}] == nil {
				all = append(all, p)
			}
		}
	}
	slices.SortFunc(all, comparePlaces)
	return all
}

// listSessions returns the sessions of a list, in order.
func (h *Hub) listSessions(of listKey) []protocol.SessionInfo {
	places := h.sortedPlaces(of)
	out := make([]protocol.SessionInfo, 0, len(places))
	for _, p := range places {
		if info, there := h.listEntry(of, p.SessionID); there {
			out = append(out, info)
		}
	}
	return out
}

// listEntry returns one session of a list. A session that lost its proxy here may already run at
// another gateway.
func (h *Hub) listEntry(of listKey, id string) (info protocol.SessionInfo, there bool) {
	s := h.sessions[key{of.namespace, id}]
	if !of.localOnly && (s == nil || s.info.State == protocol.StateLost) {
		info, there = h.directory.FindSession(of.namespace, id)
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
	info.Viewed = s.gallery.isViewedByPerson()
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

// listReply returns the answer to a list request: the whole list, or one page.
func (h *Hub) listReply(p *Peer, m *protocol.SessionsList) protocol.Message {
	if !m.Paged {
		return &protocol.SessionsListResult{
			RequestID:  m.RequestID,
			Sessions:   h.visibleSessions(p),
			Incomplete: h.incompleteOf(listOf(p)),
		}
	}
	places := h.sortedPlaces(listOf(p))
	if after, ok := parsePlace(m.After); ok {
		at, found := slices.BinarySearchFunc(places, after, comparePlaces)
		if found {
			at++
		}
		places = places[at:]
	}
	page := &protocol.SessionsListResult{
		RequestID:  m.RequestID,
		Sessions:   []protocol.SessionInfo{},
		Incomplete: h.incompleteOf(listOf(p)),
	}
	size := 0
	for i, place := range places {
		info, there := h.listEntry(listOf(p), place.SessionID)
		if !there || !p.member.Rights.CanSee(place.SessionID) {
			continue
		}
		if size += estimateSize(&info); size > partBytes && len(page.Sessions) > 0 {
			last := places[i-1]
			page.Next = strconv.FormatInt(last.StartedAt, 10) + "." + last.SessionID
			break
		}
		page.Sessions = append(page.Sessions, info)
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
