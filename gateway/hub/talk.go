package hub

import (
	"slices"
	"sort"
	"strings"

	"terminalproxy/protocol"
)

// Bounds of the records kept of a conversation while it is followed. The oldest go first.
const (
	maxTalk   = 4 << 20 // bytes, approximately
	talkBatch = 64 << 10
	maxGaps   = 64
)

// conversation is the part of a session's conversation that listeners may still need. The hub
// subscribes at the proxy once for all of them. It is empty without listeners. Guarded by Hub.mu.
type conversation struct {
	following[listener]
	charged held                  // Hub.heldTalk
	charge  charge                // of the records
	records []protocol.ChatRecord // by their numbers
	size    int
	last    uint64 // number of the newest record
	more    bool   // more records will follow
	gaps    []gap  // oldest first
	// id of the unconfirmed subscription; records before its answer belong to an older one
	subscribing string
}

// gap marks missing records before the one with a number: the proxy lost them, or they were
// trimmed.
type gap struct{ before, count uint64 }

// listener is a participant that follows a conversation. At most one message is in its queue; newer
// records wait here.
type listener struct {
	id          string // of the request
	after       uint64 // number of the last record that it has
	queued      bool   // a message is in its queue
	ending      bool   // no record follows
	lastMessage protocol.Message
}

// reset forgets the records, because another conversation begins.
func (t *conversation) reset() {
	t.charged.setCharge(&t.charge, "", 0)
	*t = conversation{following: t.following, charged: t.charged}
	for _, l := range t.followers {
		l.after = 0
	}
}

// noChatText returns the error for a session without a coding agent.
func (s *session) noChatText() string {
	if s.takesAsks {
		return "session " + s.key.id +
			" only holds requests of agents, and accepts no prompts: answer at the terminal of its gateway " +
			"chat, where text with a refusal reaches the agent that asked"
	}
	return "there is no coding agent to talk to in session " + s.key.id +
		": its user starts one with proxy --chat AGENT"
}

// isForChat reports whether m is for a coding agent.
func isForChat(m protocol.Message) bool {
	switch m.(type) {
	case *protocol.ChatSend, *protocol.ChatAnswer, *protocol.ChatInterrupt:
		return true
	}
	return false
}

// lacksChat reports whether m needs a conversation and the session has none.
func (s *session) lacksChat(m protocol.Message) bool {
	if _, asks := m.(*protocol.ChatAsk); asks {
		return !s.takesAsks
	}
	return !s.hasChat && isForChat(m)
}

func (s *session) setChatState(m *protocol.ChatStatus) {
	s.info.Chat = &protocol.ChatState{
		Agent: m.Agent, State: m.State, Open: m.Open, Oldest: m.Oldest, Mode: m.Mode, Why: m.Why,
	}
}

// followChat adds a listener and sends Done, the records after the listener's last one, and then
// new ones. A second request replaces the first.
func (t *conversation) followChat(p *Peer, m *protocol.ChatSubscribe) {
	s := t.session
	switch {
	case !s.hasChat:
		p.failRequest(m, protocol.CodeNoChat, s.noChatText())
		return
	case s.info.State == protocol.StateExited:
		p.failRequest(m, protocol.CodeExited, s.exitText())
		return
	}
	t.remove(p)
	if m.RequestID != "" {
		p.out.put(&protocol.Done{RequestID: m.RequestID})
	}
	t.add(p, &listener{id: m.RequestID, after: m.After})
	t.offerRecords(p)
}

// request asks the proxy for the records missing here.
func (t *conversation) request() protocol.Message {
	t.subscribing = t.session.owner.hub.nextID()
	return &protocol.ChatSubscribe{
		RequestID: t.subscribing, SessionID: t.session.key.id, After: t.last,
	}
}

// dropRecords drops the records of a conversation without listeners.
func (t *conversation) dropRecords() protocol.Message {
	t.reset()
	return &protocol.ChatUnsubscribe{SessionID: t.session.key.id}
}

// takeResubscribeReply reports whether a proxy's answer confirms a subscription of the hub.
func (p *Peer) takeResubscribeReply(m protocol.Message) bool {
	id := protocol.RequestID(m)
	if !strings.HasPrefix(id, ownIDs) {
		return false
	}
	for s := range p.ownSessions {
		if s.conversation.subscribing == id {
			s.conversation.subscribing = ""
			return true
		}
	}
	return false
}

// addChatRecords stores a proxy's records, except those already stored, and offers them to the
// listeners.
func (t *conversation) addChatRecords(m *protocol.ChatRecords) {
	s := t.session
	if len(t.followers) == 0 || t.subscribing != "" {
		return // it was sent before this request
	}
	if m.Lost > 0 && len(m.Records) > 0 {
		t.addGap(gap{m.Records[0].Number, m.Lost})
	}
	for i := range m.Records {
		r := &m.Records[i]
		if r.Number <= t.last {
			continue
		}
		t.last = r.Number
		if t.completesText(r) {
			t.dropPieces(r.Item.ID)
		}
		t.size += r.ApproxSize()
		t.records = append(t.records, *r)
	}
	t.more = m.More
	token := s.owner.member.TokenID
	t.trimRecords(min(maxTalk, t.charged.roomFor(t.charge, token)))
	t.charged.setCharge(&t.charge, token, t.size)
	t.offerRecordsToAll()
}

// trimRecords drops the oldest records beyond a number of bytes. The newest one stays.
func (t *conversation) trimRecords(limit int) {
	for t.size > limit && len(t.records) > 1 {
		t.size -= t.records[0].ApproxSize()
		number, next := t.records[0].Number, t.records[1].Number
		t.records = t.records[1:]
		if len(t.gaps) > 0 && t.gaps[0].before <= number {
			t.gaps[0] = gap{next, t.gaps[0].count + 1}
		} else {
			t.gaps = append([]gap{{next, 1}}, t.gaps...)
		}
	}
}

// addGap records a gap. If there are too many, the oldest two become one.
func (t *conversation) addGap(g gap) {
	if len(t.gaps) == maxGaps {
		t.gaps[1].count += t.gaps[0].count
		t.gaps = slices.Delete(t.gaps, 0, 1)
	}
	t.gaps = append(t.gaps, g)
}

func (t *conversation) completesText(r *protocol.ChatRecord) bool {
	return r.Item != nil && r.Item.Kind == protocol.ChatText && r.Item.ID != ""
}

// dropPieces drops the pieces of a text that is complete now.
func (t *conversation) dropPieces(id string) {
	kept := t.records[:0:0]
	for i := range t.records {
		if r := &t.records[i]; r.Piece != nil && r.Piece.ID == id {
			t.size -= r.ApproxSize()
			continue
		}
		kept = append(kept, t.records[i])
	}
	t.records = kept
}

func (t *conversation) offerRecordsToAll() {
	for p := range t.followers {
		t.offerRecords(p)
	}
}

// offerRecords sends a participant its next records if it has acknowledged the previous ones and
// the user does not hide the screen. After the last ones it sends the end of the conversation.
func (t *conversation) offerRecords(p *Peer) {
	s := t.session
	l := t.followers[p]
	if l.queued {
		return
	}
	if s.blackout.ByUser() {
		if !l.ending {
			return
		}
	} else if m := t.nextRecords(l); m != nil {
		m.SessionID, l.queued = s.key.id, true
		p.out.put(m)
		return
	}
	if l.ending {
		if l.lastMessage != nil {
			p.out.put(l.lastMessage)
		}
		t.remove(p)
	}
}

// nextRecords returns the next records for a listener, or nil.
func (t *conversation) nextRecords(l *listener) *protocol.ChatRecords {
	i := sort.Search(len(t.records), func(i int) bool { return t.records[i].Number > l.after })
	m, size := &protocol.ChatRecords{}, 0
	for ; i < len(t.records) && len(m.Records) < protocol.MaxChatRecords; i++ {
		if size += t.records[i].ApproxSize(); size > talkBatch && len(m.Records) > 0 {
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

// ackRecords notes that a participant has received records, and sends the next ones.
func (p *Peer) ackRecords(m *protocol.ChatRecords) {
	p.hub.mu.Lock()
	defer p.hub.mu.Unlock()
	s := p.hub.sessions[key{p.member.Namespace, m.SessionID}]
	if s == nil || s.conversation.followers[p] == nil {
		return
	}
	s.conversation.followers[p].queued = false
	s.conversation.offerRecords(p)
}

// endChat sends listeners their missing records and then the last message.
func (t *conversation) endChat(last protocol.Message) {
	for p, l := range t.followers {
		l.ending = true
		if t.session.subs.followers[p] == nil {
			l.lastMessage = protocol.WithRequestID(last, l.id)
		}
		t.offerRecords(p)
	}
}
