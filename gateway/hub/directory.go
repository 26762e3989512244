package hub

import "terminalproxy/protocol"

// Directory records which gateway has each session. The hub calls all methods except ClaimSession
// under its lock: they must not wait, and must not call the hub from the same goroutine.
type Directory interface {
	// ClaimSession asks whether a proxy of a namespace may open a session here, and announces it to
	// the other gateways. It waits briefly for their answer and is called without the hub's lock.
	// The error is meant for the proxy.
	ClaimSession(namespace string, m *protocol.SessionOpen) *protocol.Error
	// FindSessions returns places of a namespace's sessions at other gateways that follow the given
	// one, in order. It may return only some of them; an empty list means the end.
	FindSessions(namespace string, after Place) []Place
	FindSession(namespace, id string) (info protocol.SessionInfo, there bool)
	// IsComplete is false until all gateways have reported their sessions of a namespace.
	IsComplete(namespace string) bool
	// Incomplete reports that unreachable gateways may have sessions of a namespace; otherwise nil.
	Incomplete(namespace string) *protocol.Incomplete
	// AnnounceSession reports that a session arrived here or left.
	AnnounceSession(namespace, id string, here bool)
}

// localDirectory is the directory of a gateway without others.
type localDirectory struct{}

func (localDirectory) ClaimSession(string, *protocol.SessionOpen) *protocol.Error { return nil }

func (localDirectory) FindSessions(string, Place) []Place { return nil }

func (localDirectory) FindSession(_, _ string) (info protocol.SessionInfo, there bool) {
	return info, false
}
func (localDirectory) IsComplete(string) bool                 { return true }
func (localDirectory) Incomplete(string) *protocol.Incomplete { return nil }
func (localDirectory) AnnounceSession(_, _ string, _ bool)    {}
