package hub

import "terminalproxy/protocol"

// Rest says that a participant has no request under way, and Work that it has one again: for those that come with plain HTTP
// requests and have no connection between them. A participant begins at work.
func (p *Peer) Rest() { p.work(false) }

// Work is described with Rest.
func (p *Peer) Work() { p.work(true) }

func (p *Peer) work(on bool) {
	h := p.hub
	h.mu.Lock()
	defer h.mu.Unlock()
	if p.gone || p.idle == !on || p.member.Role != RoleAgent {
		return
	}
	k := key{p.member.Namespace, p.member.ID}
	before := h.attendance(k) > 0
	p.idle = !on
	h.directory.Watch(p, map[bool]Doing{true: Works, false: Rests}[on])
	if now := h.attendance(k) > 0; now != before {
		h.present(k, now)
	}
}

// attendance counts the connections and requests of an agent.
func (h *Hub) attendance(agent key) (n int) {
	for p := range h.agents[agent] {
		if !p.idle {
			n++
		}
	}
	return n
}

// present tells the proxies that an agent has to do with that it is there, or is not: they decide what comes of that.
func (h *Hub) present(agent key, yes bool) {
	for k, s := range h.sessions {
		if k.namespace == agent.namespace && s.askers[agent.id] && s.owner != nil && s.presence {
			s.owner.out.put(&protocol.AgentPresence{SessionID: k.id, AgentID: agent.id, Connected: yes})
		}
	}
}
