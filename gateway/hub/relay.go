package hub

import "terminalproxy/protocol"

// Relay carries the messages of this hub's participants to the gateways that have their sessions.
// The hub calls its methods under the lock: they must not wait, and must not call the hub from the
// same goroutine.
type Relay interface {
	// Forward takes a message that this hub cannot answer, and reports whether it could. The
	// message goes to another gateway; the answer arrives through [Peer.Deliver] or
	// [Peer.RefuseUnknown].
	Forward(p *Peer, m protocol.Message) bool
	// ForwardMoved is Forward for a request or a stream of a session that has just moved away.
	ForwardMoved(p *Peer, m protocol.Message) bool
	// NoteActivity reports a change of a participant's activity.
	NoteActivity(p *Peer, now Activity)
}

// Activity is a state of a participant.
type Activity int

// The activities.
const (
	Joined       Activity = iota // it joined
	Busy                         // it has an open request
	Idle                         // it has neither a request nor a connection
	NeedsRepaint                 // it reads live output again after some was dropped
	Left                         // it is gone
)

// noRelay is the relay of a gateway without others.
type noRelay struct{}

func (noRelay) Forward(*Peer, protocol.Message) bool      { return false }
func (noRelay) ForwardMoved(*Peer, protocol.Message) bool { return false }
func (noRelay) NoteActivity(*Peer, Activity)              {}
