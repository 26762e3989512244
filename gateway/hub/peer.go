package hub

import (
	"errors"

	"terminalproxy/gateway/access/rights"
	"terminalproxy/protocol"
)

// Join adds a participant. The caller must call Leave in the end, even after an error of Next.
func (h *Hub) Join(m Member) *Peer {
	if m.ID == "" {
		m.ID = newID(m.Role)
	}
	if m.Rights.Can == 0 {
		m.Rights.Who, m.Rights.Can = "role "+string(m.Role), rights.OfRole(m.Role, m.Local)
	}
	p := &Peer{
		hub: h, member: m, out: newOutbox(&h.counters), unanswered: make(map[string]*pending),
		ownSessions: make(map[*session]struct{}), ownRequests: make(map[*pending]struct{}),
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closed {
		p.gone = true
		p.out.end(ErrClosed)
		return p
	}
	h.peers[p] = struct{}{}
	h.relay.NoteActivity(p, Joined)
	h.log.Info("joined", p.logAttr(), "local", m.Local)
	if m.Role == RoleAgent {
		h.agents.addConnection(p)
	}
	return p
}

// ID returns the participant's id. Proxies know an agent by it.
func (p *Peer) ID() string { return p.member.ID }

// Next returns the next message for the participant. It waits until done is closed. After the
// participant's end it returns the remaining messages and then the reason: ErrLeft, ErrForbidden,
// ErrSlow, ErrClosed, or the argument of End or EndAtOnce. One goroutine may call it.
func (p *Peer) Next(done <-chan struct{}) (protocol.Message, error) {
	for {
		m, err := p.out.waitPop(done)
		if records, ok := m.(*protocol.ChatRecords); ok {
			p.ackRecords(records)
		}
		if !errors.Is(err, errBehind) {
			return m, err
		}
		p.catchUp()
	}
}

// SetNotify makes the caller fetch messages with TryNext instead of Next. The hub calls turn
// without a lock when there may be messages, and not again until TryNext has returned nothing. turn
// must not wait. Call SetNotify once, before the first message is handled.
func (p *Peer) SetNotify(turn func()) {
	p.out.mu.Lock()
	defer p.out.mu.Unlock()
	p.out.turn, p.out.carrier = turn, &p.hub.carrier
	p.out.wakeLocked()
}

// TryNext is [Peer.Next] for a caller that must not wait, not even for the hub's lock. It returns
// neither a message nor an error while the outbox is empty.
func (p *Peer) TryNext() (protocol.Message, error) {
	for {
		m, err := p.out.popOrEndTurn()
		if records, ok := m.(*protocol.ChatRecords); ok {
			go p.ackRecords(records)
		}
		if !errors.Is(err, errBehind) {
			return m, err
		}
		go p.catchUp()
	}
}

// EndAtOnce ends the participant with a reason and drops its queue.
func (p *Peer) EndAtOnce(reason error) { p.out.cut(reason) }

// End ends the participant with a reason, after the messages in its queue.
func (p *Peer) End(reason error) { p.out.end(reason) }

// Refuse answers a frame that was not a message.
func (p *Peer) Refuse(e *protocol.Error) { p.out.put(e) }

// Leave removes the participant. Its requests are dropped, a proxy's sessions are kept as lost, and
// an agent without a lasting identity gives up its control.
func (p *Peer) Leave() {
	h := p.hub
	h.mu.Lock()
	defer h.mu.Unlock()
	if p.gone {
		return
	}
	p.gone = true
	delete(h.peers, p)
	delete(h.secretWatchers, p)
	h.relay.NoteActivity(p, Left)
	p.out.end(ErrLeft)
	h.log.Info("left", p.logAttr(), "cause", p.out.endReason())
	k := key{p.member.Namespace, p.member.ID}
	left := p.member.Role == RoleAgent && h.agents.removeConnection(p)
	for q := range p.ownRequests {
		q.dropWaiter(p, &protocol.Cancel{Withdraw: true, Gone: true})
	}
	h.hosts.dropHost(p)
	h.lists.removeWatcher(p)
	for _, s := range h.sessions {
		s.removeSubscription(p)
		s.watchers.remove(p)
		s.removeViewer(p)
		s.conversation.remove(p)
		s.detachPerson(p)
		if s.owner == p {
			h.keepLost(s)
		}
		if h.agents.connected[k] == nil && !p.member.Lasting && s.askers[p.member.ID] &&
			p.member.Role == RoleAgent {
			s.reportAgentGone(p.member.ID)
		}
	}
	if left {
		h.agents.sendPresence(k, false)
	}
}

// Close ends all participants with ErrClosed and drops all state. Leave may still be called.
func (h *Hub) Close() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.closed = true
	for _, s := range h.sessions {
		s.stopTimers()
	}
	h.lists.close()
	for p := range h.peers {
		p.gone = true
		for _, q := range p.unanswered {
			q.stopTimer()
		}
		p.out.end(ErrClosed)
	}
	clear(h.peers)
	clear(h.agents.connected)
	clear(h.sessions)
	clear(h.hosts.connected)
	clear(h.hosts.starting)
	h.past.tombstones = nil
}
