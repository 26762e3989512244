package hub

import "terminalproxy/protocol"

// Directory knows which gateway has which session. The hub calls all methods except ClaimSession
// under its lock: they must not wait, and must not call the hub from the same goroutine.
type Directory interface {
	// ClaimSession asks whether a proxy of a namespace may open a session here, and tells the other
	// gateways. It waits briefly for their answer and is called without the hub's lock. The error
	// is for the proxy.
	ClaimSession(namespace string, m *protocol.SessionOpen) *protocol.Error
	// FindSessions returns the next places after one, in order, of a namespace's sessions at other
	// gateways: some of them, and an empty list only at the end. FindSession returns one session.
	FindSessions(namespace string, after Place) []Place
	FindSession(namespace, id string) (info protocol.SessionInfo, there bool)
	// IsComplete is false until all gateways have reported their sessions of a namespace.
	IsComplete(namespace string) bool
	// Incomplete reports that unreachable gateways may have sessions of a namespace; otherwise nil.
	Incomplete(namespace string) *protocol.Incomplete
	// AnnounceSession reports that a session is here from now on, or no longer.
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
