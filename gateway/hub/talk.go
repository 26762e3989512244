package hub

import (
	"slices"
	"sort"
	"strings"

	"terminalproxy/protocol"
)

// Bounds of what is kept of a conversation while somebody follows it. The oldest records go first.
const (
	maxTalk      = 4 << 20 // bytes, about
	talkBatch    = 64 << 10
	maxGaps      = 64
	recordWeight = 200
)

// talk is the conversation of a session, for those who follow it: one subscription to the proxy for all of them. Nothing is kept while
// nobody does. It belongs to the hub's lock.
type talk struct {
	listeners map[*Peer]*listener
	records   []protocol.ChatRecord // by their numbers
	size      int
	last      uint64 // number of the newest record
	more      bool   // further ones are on their way
	gaps      []gap  // oldest first
	asked     string // id of the subscription that the proxy has not taken yet: what comes before that is of another one
}

// gap is a place where records are missing, before the one with a number: the proxy lost them, or they no longer fit.
type gap struct{ before, count uint64 }

// listener is a participant that follows a conversation. At most one message waits in its queue: what is newer waits here.
type listener struct {
	id    string // of the request
	after uint64 // the number of the last record that it has
	waits bool   // a message is in its queue
	ends  bool   // nothing more comes
	over  protocol.Message
}

// begin forgets a conversation, for another one that takes its place.
func (t *talk) begin() {
	*t = talk{listeners: t.listeners}
	for _, l := range t.listeners {
		l.after = 0
	}
}

// mute says that no coding agent talks there.
func (s *session) mute() string {
	if s.outside {
		return "session " + s.key.id + " is for what agents ask, and takes no prompts: they are answered at the terminal of the gateway chat " +
			"to which it belongs, where words with a refusal reach the one that asked"
	}
	return "no coding agent talks in session " + s.key.id + ": its user starts one with proxy --chat AGENT"
}

// ofChat reports whether m is for a coding agent.
func ofChat(m protocol.Message) bool {
	switch m.(type) {
	case *protocol.ChatSend, *protocol.ChatImage, *protocol.ChatAnswer, *protocol.ChatInterrupt:
		return true
	}
	return false
}

// deaf reports whether m is for a conversation and the session has none.
func (s *session) deaf(m protocol.Message) bool {
	if _, asks := m.(*protocol.ChatAsk); asks {
		return !s.chats && !s.outside
	}
	return !s.chats && ofChat(m)
}

// speaker is who a participant is in a conversation: an agent by its id, a person by a name.
func (p *Peer) speaker(claimed string) (agentID, by string) {
	if p.member.Role == RoleAgent {
		return p.member.ID, ""
	}
	return "", p.name(claimed)
}

// chatting keeps the state of a conversation.
func (s *session) chatting(m *protocol.ChatStatus) {
	s.info.Chat = &protocol.ChatState{Agent: m.Agent, State: m.State, Open: m.Open, Oldest: m.Oldest, Mode: m.Mode, Why: m.Why}
}

// hear has a participant follow a conversation: Done, the records behind the one that it has, and then what comes. A second one
// replaces the first.
func (h *Hub) hear(p *Peer, m *protocol.ChatSubscribe) {
	s := h.find(p, m)
	switch {
	case s == nil: // it was told
		return
	case !s.chats:
		p.fail(m, protocol.CodeNoChat, s.mute())
		return
	case s.info.State == protocol.StateExited:
		p.fail(m, protocol.CodeExited, s.exited())
		return
	}
	s.unhear(p)
	if m.RequestID != "" {
		p.out.put(&protocol.Done{RequestID: m.RequestID})
	}
	t := &s.talk
	t.listeners[p] = &listener{id: m.RequestID, after: m.After}
	if len(t.listeners) == 1 {
		t.begin()
		t.listeners[p].after = m.After
		s.rehear()
	}
	s.offer(p)
}

// rehear has the proxy send the records that are not here, if somebody follows.
func (s *session) rehear() {
	if s.owner != nil && len(s.talk.listeners) > 0 {
		s.talk.asked = s.owner.hub.nextID()
		s.owner.out.put(&protocol.ChatSubscribe{RequestID: s.talk.asked, SessionID: s.key.id, After: s.talk.last})
	}
}

// rehears reports whether a proxy's answer says that it has taken a subscription of the hub's own.
func (p *Peer) rehears(m protocol.Message) bool {
	id := protocol.RequestID(m)
	if !strings.HasPrefix(id, ownIDs) {
		return false
	}
	for s := range p.owns {
		if s.talk.asked == id {
			s.talk.asked = ""
			return true
		}
	}
	return false
}

// unhear ends a participant's following; the proxy hears of the last one's end.
func (s *session) unhear(p *Peer) {
	t := &s.talk
	if t.listeners[p] == nil {
		return
	}
	if delete(t.listeners, p); len(t.listeners) > 0 {
		return
	}
	t.begin()
	if s.owner != nil {
		s.owner.out.put(&protocol.ChatUnsubscribe{SessionID: s.key.id})
	}
}

// said keeps what a proxy sent, and offers it to those who follow. What came before is passed over.
func (s *session) said(m *protocol.ChatRecords) {
	t := &s.talk
	if len(t.listeners) == 0 || t.asked != "" {
		return // it was on its way
	}
	if m.Lost > 0 && len(m.Records) > 0 {
		t.lacks(gap{m.Records[0].Number, m.Lost})
	}
	for i := range m.Records {
		r := &m.Records[i]
		if r.Number <= t.last {
			continue
		}
		t.last = r.Number
		if t.finishes(r) {
			t.whole(r.Item.ID)
		}
		t.size += weight(r)
		t.records = append(t.records, *r)
	}
	t.more = m.More
	t.trim()
	s.offerTalk()
}

// trim drops what no longer fits.
func (t *talk) trim() {
	for t.size > maxTalk && len(t.records) > 1 {
		t.size -= weight(&t.records[0])
		number, next := t.records[0].Number, t.records[1].Number
		t.records = t.records[1:]
		if len(t.gaps) > 0 && t.gaps[0].before <= number {
			t.gaps[0] = gap{next, t.gaps[0].count + 1}
		} else {
			t.gaps = slices.Insert(t.gaps, 0, gap{next, 1})
		}
	}
}

// lacks notes a place where records are missing. Of many the oldest become one.
func (t *talk) lacks(g gap) {
	if len(t.gaps) == maxGaps {
		t.gaps = slices.Replace(t.gaps, 0, 2, gap{t.gaps[1].before, t.gaps[0].count + t.gaps[1].count})
	}
	t.gaps = append(t.gaps, g)
}

func (t *talk) finishes(r *protocol.ChatRecord) bool {
	return r.Item != nil && r.Item.Kind == protocol.ChatText && r.Item.ID != ""
}

// whole drops the pieces of a text, which comes whole now.
func (t *talk) whole(id string) {
	kept := t.records[:0:0]
	for i := range t.records {
		if r := &t.records[i]; r.Piece != nil && r.Piece.ID == id {
			t.size -= weight(r)
			continue
		}
		kept = append(kept, t.records[i])
	}
	t.records = kept
}

// weight is about how much memory a record takes, in bytes.
func weight(r *protocol.ChatRecord) int {
	switch {
	case r.Item != nil:
		return recordWeight + len(r.Item.Text) + len(r.Item.Input)
	case r.Piece != nil:
		return recordWeight + len(r.Piece.Text)
	case r.Request != nil:
		return recordWeight + len(r.Request.Input) + len(r.Request.Why) + recordWeight*len(r.Request.Form)
	}
	return recordWeight
}

// offerTalk offers what is new to all who follow.
func (s *session) offerTalk() {
	for p := range s.talk.listeners {
		s.offer(p)
	}
}

// offer sends a participant the next records that it lacks, if it has taken those before and the user does not hide the screen; behind
// the last ones, what ended the conversation.
func (s *session) offer(p *Peer) {
	t := &s.talk
	l := t.listeners[p]
	if l.waits {
		return
	}
	if s.blackout.ByUser() {
		if !l.ends {
			return
		}
	} else if m := t.next(l); m != nil {
		m.SessionID, l.waits = s.key.id, true
		p.out.put(m)
		return
	}
	if l.ends {
		if l.over != nil {
			p.out.put(l.over)
		}
		s.unhear(p)
	}
}

// next are the records that come next for a listener, nil for none.
func (t *talk) next(l *listener) *protocol.ChatRecords {
	i := sort.Search(len(t.records), func(i int) bool { return t.records[i].Number > l.after })
	m, size := &protocol.ChatRecords{}, 0
	for ; i < len(t.records) && len(m.Records) < protocol.MaxChatRecords; i++ {
		if size += weight(&t.records[i]); size > talkBatch && len(m.Records) > 0 {
			break
		}
		m.Records = append(m.Records, t.records[i])
	}
	if len(m.Records) == 0 {
		return nil
	}
	last := m.Records[len(m.Records)-1].Number
	for _, g := range t.gaps {
		if g.before > l.after && g.before <= last {
			m.Lost += min(g.count, g.before-1-l.after)
		}
	}
	l.after, m.More = last, i < len(t.records) || t.more
	return m
}

// heard says that a participant has taken records, and what is next comes.
func (p *Peer) heard(m *protocol.ChatRecords) {
	p.hub.mu.Lock()
	defer p.hub.mu.Unlock()
	s := p.hub.sessions[key{p.member.Namespace, m.SessionID}]
	if s == nil || s.talk.listeners[p] == nil {
		return
	}
	s.talk.listeners[p].waits = false
	s.offer(p)
}

// endTalk is the last that those who follow hear, behind what they lack. told have heard it already.
func (s *session) endTalk(last protocol.Message, told map[*Peer]*subscription) {
	for p, l := range s.talk.listeners {
		l.ends = true
		if told[p] == nil {
			l.over = protocol.WithRequestID(last, l.id)
		}
		s.offer(p)
	}
}
