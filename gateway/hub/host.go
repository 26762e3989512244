package hub

import (
	"crypto/sha256"
	"maps"
	"time"

	"terminalproxy/protocol"
)

// hostKey names a host: who knows the secret behind the sum, in the same namespace, may have it start programs.
type hostKey struct {
	namespace string
	sum       [sha256.Size]byte
}

func hostOf(p *Peer, secret string) hostKey {
	return hostKey{p.member.Namespace, sha256.Sum256([]byte(secret))}
}

// started is a session that a host says it has started, before it is open here: the agent hears of it when it can be read.
type started struct {
	request *pending
	answer  *protocol.ProxyStarted
}

// host registers a proxy's connection as a host. The same process may come back before its old connection is seen to be
// gone: the newest counts.
func (h *Hub) host(p *Peer, m *protocol.ProxyHost) {
	h.noHost(p) // one key at a time
	h.hosts[hostOf(p, m.HostKey)] = p
	p.out.put(&protocol.Done{RequestID: m.RequestID})
}

func (h *Hub) noHost(p *Peer) {
	maps.DeleteFunc(h.hosts, func(_ hostKey, host *Peer) bool { return host == p })
}

// hostGone takes a proxy's connection off the list of hosts: what it was asked to start it will not start.
func (h *Hub) hostGone(p *Peer) {
	h.noHost(p)
	for _, q := range p.asked {
		if q.session == nil {
			q.fail(protocol.CodeUnavailable, "the host that starts programs for you went away; whether it did start this one is not known, look at the list")
		}
	}
}

// start asks the agent's own host, and no other, to start a program (SAFETY R33).
func (h *Hub) start(p *Peer, m *protocol.ProxyStart) {
	host := h.hosts[hostOf(p, m.HostKey)]
	if m.HostKey == "" || host == nil {
		p.unstarted(m)
		return
	}
	h.forward(p, host, nil, m)
}

// unstarted answers a start for which there is no host.
func (p *Peer) unstarted(m *protocol.ProxyStart) {
	say := "no host of yours starts programs here, nothing was started; `gateway mcp` and `gateway run` are such hosts, and a user shares a terminal with: proxy --agent PROGRAM"
	if lacks := p.hub.lacks(listOf(p)); lacks != nil {
		say = "no host of yours starts programs here, nothing was started; it may be at another gateway: " + lacks.Words(time.Now())
	}
	p.fail(m, protocol.CodeUnavailable, say)
}

// started takes a host's answer.
func (h *Hub) started(p *Peer, m *protocol.ProxyStarted) {
	q, k := p.asked[m.RequestID], key{p.member.Namespace, m.SessionID}
	switch {
	case q == nil || q.session != nil:
		h.log.Debug("start that nobody waits for", "request", m.RequestID)
	case m.Error == "" && m.SessionID == "":
		q.fail(protocol.CodeUnavailable, "the host neither started the program nor said why")
	case m.Error == "" && h.sessions[k] == nil:
		h.starting[k] = started{q, m}
	default:
		q.answer(m)
	}
}

// opened answers whoever waits for a session to be there.
func (h *Hub) opened(k key) {
	if s, ok := h.starting[k]; ok {
		delete(h.starting, k)
		s.request.answer(s.answer)
	}
}

// forgetStart is for a request that is over.
func (h *Hub) forgetStart(q *pending) {
	maps.DeleteFunc(h.starting, func(_ key, s started) bool { return s.request == q })
}
