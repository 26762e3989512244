package hub

import "terminalproxy/protocol"

// Directory knows what is not in this switchboard: the sessions of other gateways. It is the one place where the switchboard learns of
// them, and it brings no transport with it. Its methods but Own are called under the hub's lock: none of them waits, and none calls the
// hub from the same goroutine.
type Directory interface {
	// Own asks whether a proxy of a namespace may open a session here, and tells the other gateways that it does. It waits a short
	// while for their answer, and is called without the hub's lock. The error is for the proxy.
	Own(namespace string, m *protocol.SessionOpen) *protocol.Error
	// Find are the places of the sessions of a namespace that are elsewhere, and Look is one of them.
	Find(namespace string) []Place
	Look(namespace, id string) (info protocol.SessionInfo, there bool)
	// Complete is false while not every gateway has told its sessions of a namespace.
	Complete(namespace string) bool
	// Incomplete says that sessions of a namespace are elsewhere and not known, since other gateways cannot be reached; nil for none.
	Incomplete(namespace string) *protocol.Incomplete
	// Forward takes a message that this switchboard cannot answer by itself, and reports whether it did: it brings it to the gateway
	// that can, and comes back to the participant with [Peer.Deliver] or [Peer.Unknown].
	Forward(p *Peer, m protocol.Message) bool
	// Follow is Forward for a session that has just moved away from here, with what the participant asked here before.
	Follow(p *Peer, m protocol.Message) bool
	// Announce says that a session is here from now on, or no longer.
	Announce(namespace, id string, here bool)
	// Watch says what a participant does from now on.
	Watch(p *Peer, now Doing)
}

// Doing is what a participant does.
type Doing int

// What a participant does.
const (
	Came   Doing = iota // it joined
	Works               // it has a request under way
	Rests               // it has none, and no connection
	Behind              // it takes live output again, and lacks some
	Left                // it is gone
)

// alone is the directory of a gateway without others: all that there is is in memory here.
type alone struct{}

func (alone) Own(string, *protocol.SessionOpen) *protocol.Error        { return nil }
func (alone) Find(string) []Place                                      { return nil }
func (alone) Look(_, _ string) (info protocol.SessionInfo, there bool) { return info, false }
func (alone) Complete(string) bool                                     { return true }
func (alone) Incomplete(string) *protocol.Incomplete                   { return nil }
func (alone) Forward(*Peer, protocol.Message) bool                     { return false }
func (alone) Follow(*Peer, protocol.Message) bool                      { return false }
func (alone) Announce(_, _ string, _ bool)                             {}
func (alone) Watch(*Peer, Doing)                                       {}

// Extend has the switchboard use a directory. It is called before anybody joins.
func (h *Hub) Extend(d Directory) { h.directory = d }

// Stir says that something may have changed in what the directory knows of sessions of a namespace; without ids, in what it lacks.
func (h *Hub) Stir(namespace string, ids ...string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, id := range ids {
		h.stirred(key{namespace, id})
	}
	if of := (listKey{namespace, false}); len(ids) == 0 && h.boards[of] != nil {
		h.tellSoon(of, h.boards[of])
	}
}

// Running reports whether a session is here, and its proxy connected.
func (h *Hub) Running(namespace, id string) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	s := h.sessions[key{namespace, id}]
	return s != nil && s.owner != nil
}

// Has reports whether a session is here.
func (h *Hub) Has(namespace, id string) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.sessions[key{namespace, id}] != nil
}

// Info is a session that is here, as lists have it.
func (h *Hub) Info(namespace, id string) (info protocol.SessionInfo, there bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	s := h.sessions[key{namespace, id}]
	if s == nil {
		return info, false
	}
	return s.listed(), true
}

// Hosts reports whether the host with a key is connected here.
func (h *Hub) Hosts(namespace, hostKey string) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.hosts[hostOf(&Peer{member: Member{Namespace: namespace}}, hostKey)] != nil
}

// Member is who the participant is.
func (p *Peer) Member() Member { return p.member }

// Deliver gives the participant a message from another gateway. room reports whether it takes messages as fast as they come.
func (p *Peer) Deliver(m protocol.Message) (room bool) { return p.out.pass(m) }

// Room reports whether the participant takes messages as fast as they come.
func (p *Peer) Room() bool { return p.out.room() }

// Holds counts, with 1 and -1, the grants that the participant has at other gateways.
func (p *Peer) Holds(more int32) { p.grants.Add(more) }

// Unknown answers a message about a session that is nowhere.
func (p *Peer) Unknown(m protocol.Message) {
	p.hub.mu.Lock()
	defer p.hub.mu.Unlock()
	if !p.gone {
		p.unknown(m)
	}
}

func (p *Peer) unknown(m protocol.Message) {
	if start, ok := m.(*protocol.ProxyStart); ok {
		p.unstarted(start)
		return
	}
	say := p.hub.missing(p, protocol.SessionID(m))
	if protocol.RequestID(m) == "" { // else it tells what the answer is for
		say = protocol.KindOf(m) + ": " + say
	}
	p.fail(m, protocol.CodeNoSession, say)
}

// elsewhere reports whether a message is for another gateway, and brings it on its way. Who came from another gateway is not sent on.
func (h *Hub) elsewhere(p *Peer, m protocol.Message) bool {
	if p.member.Remote || h.directory == (alone{}) {
		return false
	}
	id := protocol.SessionID(m)
	switch m := m.(type) {
	case *protocol.SessionsList:
		return !h.directory.Complete(p.member.Namespace) && h.directory.Forward(p, m)
	case *protocol.ProxyStart:
		return h.hosts[hostOf(p, m.HostKey)] == nil && h.directory.Forward(p, m)
	}
	return id != "" && h.sessions[key{p.member.Namespace, id}] == nil && h.directory.Forward(p, m)
}

// Listed answers a participant that asked for the list, as far as the list is known now.
func (p *Peer) Listed(m *protocol.SessionsList) {
	p.hub.mu.Lock()
	defer p.hub.mu.Unlock()
	p.out.put(p.hub.answer(p, m))
}

// Move takes out a session whose proxy is with another gateway now. What participants of this gateway wait for and watch moves with
// it; those of other gateways end with [ErrMoved], and look for it by themselves.
func (h *Hub) Move(namespace, id string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	s := h.sessions[key{namespace, id}]
	if s == nil {
		return
	}
	h.log.Info("session moved to another gateway", "session", id)
	if s.owner != nil {
		s.owner.out.end(ErrMoved) // is the proxy there after all, it comes back and takes the session with it
		h.orphan(s)
	}
	wanted := s.wanted()
	h.bury(s, true)
	for _, w := range wanted {
		if w.peer.member.Remote {
			w.peer.out.end(ErrMoved)
			continue
		}
		w.peer.out.unfollow(id)
		if !h.directory.Follow(w.peer, w.message) {
			w.peer.fail(w.message, protocol.CodeUnavailable, "session "+id+" moved to another gateway, which your connection does not reach: come back with a token")
		}
	}
}

// want is what a participant waits for or watches, as it asked for it.
type want struct {
	peer    *Peer
	message protocol.Message
}

// wanted is all that is wanted of a session, requests first and in their order. It takes the requests out.
func (s *session) wanted() (all []want) {
	if s.away != nil {
		for _, q := range s.away.inOrder() {
			q.remove()
			for _, w := range q.waiting {
				delete(w.peer.mine, q)
				all = append(all, want{w.peer, protocol.WithRequestID(q.request, w.id)})
			}
		}
	}
	for p, m := range s.attached {
		all = append(all, want{p, m})
	}
	for p, sub := range s.subs {
		wish := p.out.follows(s.key.id)
		wish.RequestID, wish.SessionID, wish.EveryMs = sub.id, s.key.id, sub.every.Milliseconds()
		all = append(all, want{p, &wish})
	}
	for p, v := range s.gallery.viewers {
		all = append(all, want{p, &protocol.View{RequestID: v.id, SessionID: s.key.id, EveryMs: v.every.Milliseconds()}})
	}
	for p := range s.watchers {
		all = append(all, want{p, &protocol.Watch{SessionID: s.key.id}})
	}
	for p, l := range s.talk.listeners {
		all = append(all, want{p, &protocol.ChatSubscribe{RequestID: l.id, SessionID: s.key.id, After: l.after}})
	}
	return all
}

// Repeats reports whether a gateway may be asked m again that may have had it before.
func Repeats(m protocol.Message) bool { return repeats(m) }

// Fate is what is to be added to a failure of m: what is not known about it. It is "" where that does not matter.
func Fate(m protocol.Message) string { return (&pending{request: m}).fate() }
