package hub

import "terminalproxy/protocol"

// IsUrgent reports whether an agent types over this connection now, an agent's or a proxy's. A dead
// connection must then be noticed at once.
func (p *Peer) IsUrgent() bool {
	if p.grants.Load() > 0 {
		return true
	}
	p.hub.mu.Lock()
	defer p.hub.mu.Unlock()
	// Every proxy asks this, so it must not go through all sessions.
	for s := range p.ownSessions {
		if s.keyboard.Holder == protocol.HolderAgent {
			return true
		}
	}
	if p.member.Role != RoleAgent {
		return false
	}
	for k, s := range p.hub.sessions {
		if k.namespace == p.member.Namespace && s.keyboard.Holder == protocol.HolderAgent &&
			s.keyboard.AgentID == p.member.ID {
			return true
		}
	}
	return false
}
