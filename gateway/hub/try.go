package hub

import "terminalproxy/protocol"

// fewSubscribers is how many a snapshot may have to be taken at once: what the proxy's observer does for more would keep it from the
// screen.
const fewSubscribers = 16

// Try is Handle for a snapshot where that neither waits for the hub's lock nor does much under it. Else nothing happens, and it reports
// false: then Handle is to be called, by a goroutine that may wait.
func (p *Peer) Try(m *protocol.Snapshot) bool {
	h := p.hub
	if !h.mu.TryLock() {
		return false
	}
	s := h.sessions[key{p.member.Namespace, m.SessionID}]
	if p.gone || p.member.Role != RoleProxy || s == nil || s.owner != p || len(s.subs) > fewSubscribers {
		h.mu.Unlock()
		return false
	}
	h.turns.pledge()
	defer h.turns.keep() // without the lock
	defer h.mu.Unlock()
	if p.may(m) {
		h.snapshot(s, m)
		h.stirred(s.key)
	}
	return true
}
