package hub

import "terminalproxy/protocol"

// Relay carries the messages of this hub's participants to the gateways that have their sessions.
// The hub calls its methods under the lock: they must not wait, and must not call the hub from the
// same goroutine.
type Relay interface {
	// Forward takes a message that this hub cannot answer, and reports whether it did. It brings
	// the message to another gateway; the answer comes with [Peer.Deliver] or [Peer.RefuseUnknown].
	Forward(p *Peer, m protocol.Message) bool
	// ForwardMoved is Forward for what a participant asked here about a session that has just moved
	// away.
	ForwardMoved(p *Peer, m protocol.Message) bool
	// NoteDoing reports what a participant does from now on.
	NoteDoing(p *Peer, now Doing)
}

// Doing is what a participant does.
type Doing int

// What a participant does.
const (
	Came   Doing = iota // it joined
	Works               // it has an open request
	Rests               // it has neither a request nor a connection
	Behind              // it takes live output again and needs a repaint
	Left                // it is gone
)

// noRelay is the relay of a gateway without others.
type noRelay struct{}

func (noRelay) Forward(*Peer, protocol.Message) bool      { return false }
func (noRelay) ForwardMoved(*Peer, protocol.Message) bool { return false }
func (noRelay) NoteDoing(*Peer, Doing)                    {}

// Member returns the participant's identity.
func (p *Peer) Member() Member { return p.member }

// Deliver sends the participant a message from another gateway. room reports whether it keeps up.
func (p *Peer) Deliver(m protocol.Message) (room bool) { return p.out.putAsIs(m) }

// HasRoom reports whether the participant keeps up with its messages.
func (p *Peer) HasRoom() bool { return p.out.hasRoom() }

// AddRemoteGrants adds to the number of grants that the participant has at other gateways.
func (p *Peer) AddRemoteGrants(more int32) { p.grants.Add(more) }

// RefuseUnknown answers a message about a session that no gateway has.
func (p *Peer) RefuseUnknown(m protocol.Message) {
	p.hub.mu.Lock()
	defer p.hub.mu.Unlock()
	if !p.gone {
		p.failUnknown(m)
	}
}

func (p *Peer) failUnknown(m protocol.Message) {
	if start, ok := m.(*protocol.ProxyStart); ok {
		p.rejectStart(start)
		return
	}
	message := p.unknownSessionText(protocol.SessionID(m))
	if protocol.RequestID(m) == "" { // without an id, the text names the message
		message = protocol.KindOf(m) + ": " + message
	}
	p.failRequest(m, protocol.CodeNoSession, message)
}

// forwardRemote forwards a message for another gateway and reports whether it did. A participant
// that came from another gateway is not forwarded again.
func (h *Hub) forwardRemote(p *Peer, m protocol.Message) bool {
	if p.member.Remote || h.relay == (noRelay{}) {
		return false
	}
	id := protocol.SessionID(m)
	switch m := m.(type) {
	case *protocol.SessionsList:
		return !h.directory.IsComplete(p.member.Namespace) && h.relay.Forward(p, m)
	case *protocol.ProxyStart:
		return h.hosts.connected[hostOf(p, m.HostKey)] == nil && h.relay.Forward(p, m)
	}
	return id != "" && h.sessions[key{p.member.Namespace, id}] == nil && h.relay.Forward(p, m)
}

// SendList answers a list request with the sessions known now.
func (p *Peer) SendList(m *protocol.SessionsList) {
	p.hub.mu.Lock()
	defer p.hub.mu.Unlock()
	p.out.put(p.hub.lists.replyTo(p, m))
}

// IsRepeatable reports whether a gateway may get m a second time.
func IsRepeatable(m protocol.Message) bool { return isRepeatable(m) }

// UncertaintyText returns what to add to a failure of m about its unknown effect, or "".
func UncertaintyText(m protocol.Message) string { return (&pending{request: m}).uncertaintyText() }
