package hub

import "terminalproxy/protocol"

// JoinCluster gives the hub the directory and the relay of a cluster. Call it before the first Join.
func (h *Hub) JoinCluster(d Directory, r Relay) {
	h.directory, h.lists.directory, h.relay = d, d, r
}

// NoteDirectoryChange notes that the directory's sessions of a namespace may have changed; without
// ids, its reachability.
func (h *Hub) NoteDirectoryChange(namespace string, ids ...string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, id := range ids {
		h.lists.markStale(key{namespace, id})
	}
	if len(ids) == 0 {
		h.lists.noteReachability(namespace)
	}
}

// IsRunning reports whether a session is here and its proxy is connected.
func (h *Hub) IsRunning(namespace, id string) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	s := h.sessions[key{namespace, id}]
	return s != nil && s.owner != nil
}

// HasSession reports whether a session is here.
func (h *Hub) HasSession(namespace, id string) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.sessions[key{namespace, id}] != nil
}

// Info returns the list entry of a session that is here.
func (h *Hub) Info(namespace, id string) (info protocol.SessionInfo, there bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	s := h.sessions[key{namespace, id}]
	if s == nil {
		return info, false
	}
	return s.listInfo(), true
}

// HasHost reports whether the host with a key is connected here.
func (h *Hub) HasHost(namespace, hostKey string) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.hosts.connected[hostOf(&Peer{member: Member{Namespace: namespace}}, hostKey)] != nil
}

// Member returns the participant's identity.
func (p *Peer) Member() Member { return p.member }

// Deliver sends the participant a message from another gateway. room reports whether it keeps up.
func (p *Peer) Deliver(m protocol.Message) (room bool) { return p.out.putAsIs(m) }

// HasRoom reports whether the participant keeps up with its messages.
func (p *Peer) HasRoom() bool { return p.out.hasRoom() }

// AddRemoteGrants adds to the number of grants that the participant has at other gateways.
func (p *Peer) AddRemoteGrants(more int32) { p.grants.Add(more) }

// SendList answers a list request with the sessions known now.
func (p *Peer) SendList(m *protocol.SessionsList) {
	p.hub.mu.Lock()
	defer p.hub.mu.Unlock()
	p.out.put(p.hub.lists.replyTo(p, m))
}
