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
	before := h.agents.countConnections(k) > 0
	p.idle = !on
	h.relay.NoteDoing(p, map[bool]Doing{true: Works, false: Rests}[on])
	if now := h.agents.countConnections(k) > 0; now != before {
		h.agents.sendPresence(k, now)
	}
}

// agents knows which agents are connected, and tells the proxies that wait for one. It reads the
// sessions and never changes one. Guarded by Hub.mu.
type agents struct {
	connected map[key]map[*Peer]struct{} // by namespace and agent id
	sessions  map[key]*session
}

// addConnection adds an agent's connection, and tells proxies of the agent if it is the first.
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

// removeConnection removes an agent's connection. last reports that the agent was present by it
// alone.
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

// sendPresence tells the proxies which an agent has asked that it is connected or gone. They decide
// what follows.
func (a *agents) sendPresence(agent key, connected bool) {
	for k, s := range a.sessions {
		if k.namespace == agent.namespace && s.askers[agent.id] && s.owner != nil {
			s.owner.out.put(&protocol.AgentPresence{
				SessionID: k.id, AgentID: agent.id, Connected: connected,
			})
		}
	}
}

// reportAgentGone tells a proxy that an agent which asked for control, or holds it, is gone.
func (s *session) reportAgentGone(agentID string) {
	delete(s.askers, agentID)
	if s.owner != nil {
		s.owner.out.put(&protocol.ControlRelease{
			RequestID: s.owner.hub.nextID(), SessionID: s.key.id, AgentID: agentID, Gone: true,
		})
	}
}

// LocalAgents returns the connected agents of this machine by process, with the names that they
// have given, which may be "".
func (h *Hub) LocalAgents() map[int]string {
	h.mu.Lock()
	defer h.mu.Unlock()
	all := make(map[int]string)
	for p := range h.peers {
		if p.member.Role != RoleAgent || !p.member.Local || p.member.Process == nil {
			continue
		}
		if pid := p.member.Process.ProcessID(); pid != 0 {
			all[pid] = p.member.Name
		}
	}
	return all
}
