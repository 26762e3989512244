package hub

import "terminalproxy/protocol"

// MarkIdle records that a participant has no open request, and MarkBusy that it has one again. They
// are for participants that send plain HTTP requests and have no connection between requests. A
// participant starts out busy.
func (p *Peer) MarkIdle() { p.setBusy(false) }

// MarkBusy undoes MarkIdle.
func (p *Peer) MarkBusy() { p.setBusy(true) }

func (p *Peer) setBusy(on bool) {
	h := p.hub
	h.mu.Lock()
	defer h.mu.Unlock()
	if p.gone || p.idle == !on || p.member.Role != RoleAgent {
		return
	}
	k := key{p.member.Namespace, p.member.ID}
	before := h.agents.countConnections(k) > 0
	p.idle = !on
	h.relay.NoteActivity(p, map[bool]Activity{true: Busy, false: Idle}[on])
	if now := h.agents.countConnections(k) > 0; now != before {
		h.agents.sendPresence(k, now)
	}
}

// agents tracks which agents are connected, and informs the proxies that wait for one. It reads
// sessions but never changes them. Guarded by Hub.mu.
type agents struct {
	connected map[key]map[*Peer]struct{} // by namespace and agent id
	sessions  map[key]*session
}

// addConnection adds an agent's connection. If it is the first, it informs the proxies.
func (a *agents) addConnection(p *Peer) {
	k := key{p.member.Namespace, p.member.ID}
	if a.connected[k] == nil {
		a.connected[k] = make(map[*Peer]struct{})
	}
	a.connected[k][p] = struct{}{}
	if a.countConnections(k) == 1 {
		a.sendPresence(k, true)
	}
}

// removeConnection removes an agent's connection. last reports whether it was the only one.
func (a *agents) removeConnection(p *Peer) (last bool) {
	k := key{p.member.Namespace, p.member.ID}
	last = !p.idle && a.countConnections(k) == 1
	delete(a.connected[k], p)
	if len(a.connected[k]) == 0 {
		delete(a.connected, k)
	}
	return last
}

// countConnections counts the connections and open requests of an agent.
func (a *agents) countConnections(agent key) (n int) {
	for p := range a.connected[agent] {
		if !p.idle {
			n++
		}
	}
	return n
}

// sendPresence informs the proxies that an agent has asked or written to that the agent connected
// or left. The proxies decide what follows.
func (a *agents) sendPresence(agent key, connected bool) {
	for k, s := range a.sessions {
		if k.namespace == agent.namespace && s.askers[agent.id] && s.owner != nil {
			s.owner.out.put(&protocol.AgentPresence{
				SessionID: k.id, AgentID: agent.id, Connected: connected,
			})
		}
	}
}

// reportAgentGone informs a proxy that an agent that asked for control, or holds it, is gone.
func (s *session) reportAgentGone(agentID string) {
	delete(s.askers, agentID)
	if s.owner != nil {
		s.owner.out.put(&protocol.ControlRelease{
			RequestID: s.owner.hub.nextID(), SessionID: s.key.id, AgentID: agentID, Gone: true,
		})
	}
}

// LocalAgents returns the connected agents of this machine by process.
func (h *Hub) LocalAgents() map[int]Member {
	h.mu.Lock()
	defer h.mu.Unlock()
	all := make(map[int]Member)
	for p := range h.peers {
		if p.member.Role != RoleAgent || !p.member.Local || p.member.Process == nil {
			continue
		}
		if pid := p.member.Process.ProcessID(); pid != 0 {
			all[pid] = p.member
		}
	}
	return all
}
