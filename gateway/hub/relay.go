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
