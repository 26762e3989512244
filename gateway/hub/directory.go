package hub

import "terminalproxy/protocol"

// Directory knows which gateway has which session. The hub calls all methods except ClaimSession
// under its lock: they must not wait, and must not call the hub from the same goroutine.
type Directory interface {
	// ClaimSession asks whether a proxy of a namespace may open a session here, and tells the other
	// gateways. It waits briefly for their answer and is called without the hub's lock. The error
	// is for the proxy.
	ClaimSession(namespace string, m *protocol.SessionOpen) *protocol.Error
	// FindSessions returns the next places after one, in order, of a namespace's sessions at other
	// gateways: some of them, and an empty list only at the end. FindSession returns one session.
	FindSessions(namespace string, after Place) []Place
	FindSession(namespace, id string) (info protocol.SessionInfo, there bool)
	// IsComplete is false until all gateways have reported their sessions of a namespace.
	IsComplete(namespace string) bool
	// Incomplete reports that unreachable gateways may have sessions of a namespace; otherwise nil.
	Incomplete(namespace string) *protocol.Incomplete
	// AnnounceSession reports that a session is here from now on, or no longer.
	AnnounceSession(namespace, id string, here bool)
}

// localDirectory is the directory of a gateway without others.
type localDirectory struct{}

func (localDirectory) ClaimSession(string, *protocol.SessionOpen) *protocol.Error { return nil }

func (localDirectory) FindSessions(string, Place) []Place { return nil }

func (localDirectory) FindSession(_, _ string) (info protocol.SessionInfo, there bool) {
	return info, false
}
func (localDirectory) IsComplete(string) bool                 { return true }
func (localDirectory) Incomplete(string) *protocol.Incomplete { return nil }
func (localDirectory) AnnounceSession(_, _ string, _ bool)    {}

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

// RemoveMoved removes a session whose proxy is with another gateway now. The requests and streams
// of this gateway's participants follow it. Those of other gateways end with [ErrMoved], and their
// gateways find the session again.
func (h *Hub) RemoveMoved(namespace, id string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	s := h.sessions[key{namespace, id}]
	if s == nil {
		return
	}
	h.log.Info("session moved to another gateway", "session", id)
	if s.owner != nil {
		// If the proxy is there after all, it reconnects and takes the session with it.
		s.owner.out.end(ErrMoved)
		h.detachProxy(s)
	}
	interests := s.takeInterests()
	h.dropEnded(s, true)
	for _, interest := range interests {
		if interest.peer.member.Remote {
			interest.peer.out.end(ErrMoved)
			continue
		}
		interest.peer.out.clearSnapshotForm(id)
		if !h.relay.ForwardMoved(interest.peer, interest.message) {
			interest.peer.failRequest(
				interest.message,
				protocol.CodeUnavailable,
				"session "+id+" moved to another gateway, which your connection does not reach: "+
					"come back with a token",
			)
		}
	}
}

// openInterest is an open request or a stream of a participant, as it asked for it.
type openInterest struct {
	peer    *Peer
	message protocol.Message
}

// takeInterests returns all open interests in a session, requests first and oldest first. It
// removes the requests.
func (s *session) takeInterests() (all []openInterest) {
	if s.away != nil {
		for _, q := range s.away.unansweredByAge() {
			q.unregisterRequest()
			for _, w := range q.waiting {
				delete(w.peer.mine, q)
				all = append(all, openInterest{w.peer, protocol.WithRequestID(q.request, w.id)})
			}
		}
	}
	for p, m := range s.attached {
		all = append(all, openInterest{p, m})
	}
	for p, sub := range s.subs.followers {
		form := p.out.snapshotForm(s.key.id)
		form.RequestID, form.SessionID, form.EveryMs = sub.id, s.key.id, sub.rhythm.every.Milliseconds()
		all = append(all, openInterest{p, &form})
	}
	for p, v := range s.gallery.followers {
		all = append(all, openInterest{p, &protocol.View{
			RequestID: v.id, SessionID: s.key.id, EveryMs: v.rhythm.every.Milliseconds(),
		}})
	}
	for p := range s.watchers.followers {
		all = append(all, openInterest{p, &protocol.Watch{SessionID: s.key.id}})
	}
	for p, l := range s.conversation.followers {
		all = append(all, openInterest{p, &protocol.ChatSubscribe{
			RequestID: l.id, SessionID: s.key.id, After: l.after,
		}})
	}
	return all
}
