package hub

import "terminalproxy/protocol"

// startProgram asks the agent's own host, and no other, to start a program (SAFETY R33).
func (h *Hub) startProgram(p *Peer, m *protocol.ProxyStart) {
	host := h.hosts.connected[hostOf(p, m.HostKey)]
	if m.HostKey == "" || host == nil {
		p.rejectStart(m)
		return
	}
	h.forwardRequest(p, host, nil, m)
}

// handleStarted processes a host's answer.
func (h *Hub) handleStarted(p *Peer, m *protocol.ProxyStarted) {
	q, k := p.unanswered[m.RequestID], key{p.member.Namespace, m.SessionID}
	switch {
	case q == nil || q.session != nil:
		h.log.Debug("start without an open request", "request", m.RequestID)
	case m.Error == "" && m.SessionID == "":
		q.failWaiters(protocol.CodeUnavailable, "the host did not start the program, and gave no reason")
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

// dropHost removes a proxy's connection from the hosts and fails the starts it has not answered.
func (h *hosts) dropHost(p *Peer) {
	h.removeHost(p)
	for _, q := range p.unanswered {
		if q.session == nil {
			q.failWaiters(
				protocol.CodeUnavailable,
				"the host that starts programs for you disappeared; it is unknown whether it "+
					"started this one: look at the list",
			)
		}
	}
}
