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
	for k, s := range p.hub.sessions {
		if s.keyboard.Holder != protocol.HolderAgent || k.namespace != p.member.Namespace {
			continue
		}
		if s.owner == p || p.member.Role == RoleAgent && s.keyboard.AgentID == p.member.ID {
			return true
		}
	}
	return false
}
