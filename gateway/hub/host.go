package hub

import (
	"crypto/sha256"
	"maps"

	"terminalproxy/protocol"
)

// hostKey identifies a host. A participant of the namespace that knows the secret behind the sum
// may start programs there.
type hostKey struct {
	namespace string
	sum       [sha256.Size]byte
}

func hostOf(p *Peer, secret string) hostKey {
	return hostKey{p.member.Namespace, sha256.Sum256([]byte(secret))}
}

// startedProgram is a session that a host has started and that is not open yet. The agent gets the
// answer when the session can be read.
type startedProgram struct {
	request *pending
	answer  *protocol.ProxyStarted
}

// hosts holds the connections that start programs for agents, and what they have started. Guarded
// by Hub.mu.
type hosts struct {
	connected map[hostKey]*Peer
	starting  map[key]startedProgram // started and not open yet
}

// registerHost registers a proxy's connection as a host. A process may reconnect before its old
// connection is known to be gone, so the newest one counts.
func (h *hosts) registerHost(p *Peer, m *protocol.ProxyHost) {
	h.removeHost(p) // a connection has one key
	h.connected[hostOf(p, m.HostKey)] = p
	p.out.put(&protocol.Done{RequestID: m.RequestID})
}

func (h *hosts) removeHost(p *Peer) {
	maps.DeleteFunc(h.connected, func(_ hostKey, host *Peer) bool { return host == p })
}

// forgetStart drops the start that belongs to a finished request.
func (h *hosts) forgetStart(q *pending) {
	maps.DeleteFunc(h.starting, func(_ key, s startedProgram) bool { return s.request == q })
}
