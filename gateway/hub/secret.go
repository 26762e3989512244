package hub

import "terminalproxy/protocol"

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

// isElsewhere reports whether m asks for a secret in a session whose proxy is no process of the
// user on this machine: there, another person could answer.
func (s *session) isElsewhere(m protocol.Message) bool {
	if _, asks := m.(*protocol.SecretAsk); !asks {
		return false
	}
	return s.owner == nil || !s.owner.member.Local
}
