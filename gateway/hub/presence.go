package hub

import "terminalproxy/protocol"

// MarkIdle says that a participant has no open request, and MarkBusy that it has one again. They
// are for participants that send plain HTTP requests and have no connection in between. A
// participant starts at work.
func (p *Peer) MarkIdle() { p.setBusy(false) }

// MarkBusy is described with MarkIdle.
func (p *Peer) MarkBusy() { p.setBusy(true) }

func (p *Peer) setBusy(on bool) {
	h := p.hub
	h.mu.Lock()
	defer h.mu.Unlock()
	if p.gone || p.idle == !on || p.member.Role != RoleAgent {
		return
	}
	k := key{p.member.Namespace, p.member.ID}
	before := h.countConnections(k) > 0
	p.idle = !on
	h.directory.NoteDoing(p, map[bool]Doing{true: Works, false: Rests}[on])
	if now := h.countConnections(k) > 0; now != before {
		h.sendPresence(k, now)
	}
}

// countConnections counts the connections and open requests of an agent.
func (h *Hub) countConnections(agent key) (n int) {
	for p := range h.agents[agent] {
		if !p.idle {
			n++
		}
	}
	return n
}

// sendPresence tells the proxies which an agent has asked that it is connected or gone. They decide
// what follows.
func (h *Hub) sendPresence(agent key, connected bool) {
	for k, s := range h.sessions {
		if k.namespace == agent.namespace && s.askers[agent.id] && s.owner != nil &&
			s.wantsPresence {
			s.owner.out.put(&protocol.AgentPresence{
				SessionID: k.id, AgentID: agent.id, Connected: connected,
			})
		}
	}
}
