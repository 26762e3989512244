package hub

import "terminalproxy/protocol"

// fewSubscribers is the largest number of subscribers for which TryHandle stores a snapshot at
// once. More would keep the proxy's observer from the screen.
const fewSubscribers = 16

// TryHandle is Handle for a snapshot, if it can be stored without waiting for the hub's lock and
// with little work. Otherwise TryHandle changes nothing and returns false; then a goroutine that
// may wait calls Handle.
func (p *Peer) TryHandle(m *protocol.Snapshot) bool {
	h := p.hub
	if !h.mu.TryLock() {
		return false
	}
	s := h.sessions[key{p.member.Namespace, m.SessionID}]
	if p.gone || p.member.Role != RoleProxy || s == nil || s.owner != p ||
		len(s.subs.followers) > fewSubscribers {
		h.mu.Unlock()
		return false
	}
	h.carrier.deferDelivery()
	defer h.carrier.runDeferred() // after the lock is released
	defer h.mu.Unlock()
	if p.allowOrRefuse(m) {
		h.storeSnapshot(s, m)
		h.lists.markStale(s.key)
	}
	return true
}
