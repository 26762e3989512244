package hub

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"terminalproxy/protocol"
)

// Bounds of a message with sessions, which is smaller than the largest message.
const (
	partSessions = 200 // which keep another gateway busy for some 10 ms: what comes between does not wait long
	partBytes    = protocol.MaxMessage / 2
)

// list is what a participant may see, in the order of starting.
func (h *Hub) list(p *Peer) []protocol.SessionInfo {
	return p.member.Rights.Sessions(h.listed(listOf(p)))
}

// listKey names a list of sessions: those of a namespace, or those of them that are here.
type listKey struct {
	namespace string
	here      bool
}

// listOf is the list that a participant is told. Other gateways are told what is here, and who has no token reaches no more.
func listOf(p *Peer) listKey {
	return listKey{p.member.Namespace, p.member.Remote || p.member.Token == ""}
}

// lacks says that sessions of other gateways are missing in a list, nil for none.
func (h *Hub) lacks(of listKey) *protocol.Incomplete {
	if of.here {
		return nil
	}
	return h.directory.Incomplete(of.namespace)
}

// Place is that of a session in the lists.
type Place struct {
	StartedAt int64
	SessionID string
}

// inOrder is the order of starting.
func inOrder(a, b Place) int {
	return cmp.Or(cmp.Compare(a.StartedAt, b.StartedAt), strings.Compare(a.SessionID, b.SessionID))
}

// places are the sessions of a list, in order.
func (h *Hub) places(of listKey) (all []Place) {
	for k, s := range h.sessions {
		if k.namespace == of.namespace {
			all = append(all, Place{s.info.StartedAt, k.id})
		}
	}
	if !of.here {
		for _, p := range h.directory.Find(of.namespace) {
			if h.sessions[key{of.namespace, p.SessionID}] == nil {
				all = append(all, p)
			}
		}
	}
	slices.SortFunc(all, inOrder)
	return all
}

// listed are the sessions of a list, in order.
func (h *Hub) listed(of listKey) []protocol.SessionInfo {
	places := h.places(of)
	out := make([]protocol.SessionInfo, 0, len(places))
	for _, p := range places {
		if info, there := h.entry(of, p.SessionID); there {
			out = append(out, info)
		}
	}
	return out
}

// entry is one session of a list. One that lost its proxy here may run at another gateway already.
func (h *Hub) entry(of listKey, id string) (info protocol.SessionInfo, there bool) {
	s := h.sessions[key{of.namespace, id}]
	if !of.here && (s == nil || s.info.State == protocol.StateLost) {
		info, there = h.directory.Look(of.namespace, id)
	}
	if s == nil || there && info.State == protocol.StateRunning {
		return info, there
	}
	return s.listed(), true
}

// listed is the session as lists have it.
func (s *session) listed() protocol.SessionInfo {
	info := s.info
	info.IdleMs, info.Keyboard, info.Blackout, info.Viewed = s.idle(), s.keyboard, s.hidden(), s.gallery.viewed()
	info.LastLine = s.lastLine()
	if s.blackout.ByUser() {
		info.Chat = nil
	}
	if info.Keyboard.Holder == "" {
		info.Keyboard.Holder = protocol.HolderUser
	}
	return info
}

// lastLine is the last row on which something stands, "" while something is kept from agents.
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

// answer is the list for a participant that asked for it: all of it, or the page that it wants.
func (h *Hub) answer(p *Peer, m *protocol.SessionsList) protocol.Message {
	if !m.Paged {
		return &protocol.SessionsListResult{RequestID: m.RequestID, Sessions: h.list(p), Incomplete: h.lacks(listOf(p))}
	}
	places := h.places(listOf(p))
	if after, ok := placeOf(m.After); ok {
		at, found := slices.BinarySearchFunc(places, after, inOrder)
		if found {
			at++
		}
		places = places[at:]
	}
	page := &protocol.SessionsListResult{RequestID: m.RequestID, Sessions: []protocol.SessionInfo{}, Incomplete: h.lacks(listOf(p))}
	size := 0
	for i, place := range places {
		info, there := h.entry(listOf(p), place.SessionID)
		if !there || !p.member.Rights.Sees(place.SessionID) {
			continue
		}
		if size += bulk(&info); size > partBytes && len(page.Sessions) > 0 {
			last := places[i-1]
			page.Next = strconv.FormatInt(last.StartedAt, 10) + "." + last.SessionID
			break
		}
		page.Sessions = append(page.Sessions, info)
	}
	return page
}

// placeOf is the place in a list that a page's Next names.
func placeOf(after string) (at Place, ok bool) {
	started, id, ok := strings.Cut(after, ".")
	if !ok {
		return at, false
	}
	at.SessionID = id
	var err error
	at.StartedAt, err = strconv.ParseInt(started, 10, 64)
	return at, err == nil
}

// fitting is how many of the first sessions fit into one message: one at least.
func fitting(all []protocol.SessionInfo) (n int) {
	for size := 0; n < len(all) && n < partSessions; n++ {
		if size += bulk(&all[n]); size > partBytes && n > 0 {
			break
		}
	}
	return n
}

// bulk is about the bytes that a session takes in a message: never less than half of them.
func bulk(s *protocol.SessionInfo) int {
	const names = 600 // of the fields, with the numbers, unless nearly all of them are there
	k := &s.Keyboard
	n := names + escaped(s.SessionID, s.Name, s.Command, s.Cwd, s.ParentSessionID, s.Signal, s.Title, s.Foreground, s.Directory, s.LastLine) +
		escaped(s.Args...) + escaped(s.Muted...) + escaped(k.AgentID, k.AgentName, k.HeldWhy, k.HeldLine, k.Program, k.Asking, k.AskingReason)
	if s.Decided != nil {
		n += escaped(s.Decided.AgentName, s.Decided.By)
	}
	if s.Chat != nil {
		n += escaped(s.Chat.Agent, s.Chat.Mode, s.Chat.Why)
	}
	return n
}

// escaped is how many bytes strings have at most in JSON, with their quotes.
func escaped(all ...string) (n int) {
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
