package hub

import (
	"crypto/sha256"
	"maps"
	"time"

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

// dropHost removes a proxy's connection from the hosts and fails the starts it has not answered.
func (h *hosts) dropHost(p *Peer) {
	h.removeHost(p)
	for _, q := range p.asked {
		if q.session == nil {
			q.failWaiters(
				protocol.CodeUnavailable,
				"the host that starts programs for you went away; it is unknown whether it "+
					"started this one: look at the list",
			)
		}
	}
}

// startProgram asks the agent's own host, and no other, to start a program (SAFETY R33).
func (h *Hub) startProgram(p *Peer, m *protocol.ProxyStart) {
	host := h.hosts.connected[hostOf(p, m.HostKey)]
	if m.HostKey == "" || host == nil {
		p.rejectStart(m)
		return
	}
	h.forwardRequest(p, host, nil, m)
}

// rejectStart answers a start that has no host.
func (p *Peer) rejectStart(m *protocol.ProxyStart) {
	message := "no host of yours starts programs here, so nothing was started; `gateway mcp` " +
		"and `gateway run` are such hosts, and a user shares a terminal with: proxy --agent " +
		"PROGRAM"
	if lacks := p.hub.lists.incompleteOf(listOf(p)); lacks != nil {
		message = "no host of yours starts programs here, so nothing was started; it may be at " +
			"another gateway: " + lacks.Words(time.Now())
	}
	p.failRequest(m, protocol.CodeUnavailable, message)
}

// handleStarted processes a host's answer.
func (h *Hub) handleStarted(p *Peer, m *protocol.ProxyStarted) {
	q, k := p.asked[m.RequestID], key{p.member.Namespace, m.SessionID}
	switch {
	case q == nil || q.session != nil:
		h.log.Debug("start without an open request", "request", m.RequestID)
	case m.Error == "" && m.SessionID == "":
		q.failWaiters(protocol.CodeUnavailable, "the host neither started the program nor said why")
	case m.Error == "" && h.sessions[k] == nil:
		h.hosts.starting[k] = startedProgram{q, m}
	default:
		q.answerWaiters(m)
	}
}

// answerStart answers the agent once the session that it started is open.
func (h *hosts) answerStart(k key) {
	if s, ok := h.starting[k]; ok {
		delete(h.starting, k)
		s.request.answerWaiters(s.answer)
	}
}

// forgetStart drops the start that belongs to a finished request.
func (h *hosts) forgetStart(q *pending) {
	maps.DeleteFunc(h.starting, func(_ key, s startedProgram) bool { return s.request == q })
}
