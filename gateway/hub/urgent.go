package hub

import "terminalproxy/protocol"

// Urgent reports whether an agent types over this participant's connection now, its own or a proxy's: then it matters at once whether
// the far end is there.
func (p *Peer) Urgent() bool {
	if p.grants.Load() > 0 {
		return true
	}
	p.hub.mu.Lock()
	defer p.hub.mu.Unlock()
	for s := range p.owns { // there are as many proxies as sessions, and each is asked
		if s.keyboard.Holder == protocol.HolderAgent {
			return true
		}
	}
	if p.member.Role != RoleAgent {
		return false
	}
	for k, s := range p.hub.sessions {
		if k.namespace == p.member.Namespace && s.keyboard.Holder == protocol.HolderAgent && s.keyboard.AgentID == p.member.ID {
			return true
		}
	}
	return false
}
