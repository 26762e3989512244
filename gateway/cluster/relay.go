package cluster

import (
	"maps"
	"slices"
	"sync"

	"terminalproxy/gateway/hub"
	"terminalproxy/protocol"
)

// relay implements hub.Relay: a route for each participant here and each session elsewhere that it
// uses.
type relay struct {
	mesh      *mesh
	directory finder
	wg        *sync.WaitGroup

	mu     sync.Mutex
	closed bool
	routes map[routeKey]*route
}

var _ hub.Relay = (*relay)(nil)

// finder is what the relay asks the directory.
type finder interface {
	// seekSession returns the gateway that has a session, or "", and whether this one has it. anew
	// asks the bucket before the lists. It may wait.
	seekSession(k sessionKey, anew bool) (at string, here bool)
	// wasSeen reports whether another gateway has, or had a moment ago, the session.
	wasSeen(k sessionKey) bool
	// changeSignal returns a channel that is closed when an answer may have changed.
	changeSignal() <-chan struct{}
	// waitForLists waits until the lists of a namespace are complete, or have had their time.
	waitForLists(namespace string)
	// addInterest changes the number of a namespace's participants here.
	addInterest(namespace string, more int)
	Incomplete(namespace string) *protocol.Incomplete
}

func newRelay(m *mesh, f finder, wg *sync.WaitGroup) *relay {
	return &relay{mesh: m, directory: f, wg: wg, routes: make(map[routeKey]*route)}
}

// close ends all routes. Later ones are refused.
func (r *relay) close() {
	r.mu.Lock()
	r.closed = true
	all := slices.Collect(maps.Values(r.routes))
	r.mu.Unlock()
	for _, l := range all {
		l.close()
	}
}

// Forward implements hub.Relay.
func (r *relay) Forward(p *hub.Peer, m protocol.Message) bool {
	member := p.Member()
	if member.Remote || member.Token == "" || member.Role == hub.RoleProxy {
		return false
	}
	k := routeKey{peer: p, session: protocol.SessionID(m)}
	reachable := r.directory.wasSeen(sessionKey{member.Namespace, k.session}) ||
		r.mesh.bus.isOnline() && r.mesh.countPeers() > 0
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		return false
	}
	switch m := m.(type) {
	case *protocol.SessionsList:
		r.wg.Go(func() { // ends when the lists are complete, or have had their time
			r.directory.waitForLists(member.Namespace)
			p.SendList(m)
		})
		return true
	case *protocol.ProxyStart:
		k.host = m.HostKey
	}
	if r.routes[k] == nil && !reachable {
		return false
	}
	r.routeToLocked(k, member.Namespace).
		enqueueLetter(letter{Op: opSay, messages: []protocol.Message{m}})
	return true
}

// ForwardMoved implements hub.Relay.
func (r *relay) ForwardMoved(p *hub.Peer, m protocol.Message) bool {
	member := p.Member()
	r.mu.Lock()
	defer r.mu.Unlock()
	if member.Token == "" || r.closed {
		return false
	}
	l := r.routeToLocked(routeKey{peer: p, session: protocol.SessionID(m)}, member.Namespace)
	l.trackRequest(m)
	l.markPassed(&letter{messages: []protocol.Message{m}})
	l.ownerLost()
	return true
}

// routeToLocked returns a participant's route to a session, and makes it if necessary.
func (r *relay) routeToLocked(k routeKey, namespace string) *route {
	l := r.routes[k]
	if l == nil {
		l = newRoute(r, k, namespace)
		r.routes[k] = l
		r.wg.Go(l.run) // ends with close
	}
	return l
}

// NoteActivity implements hub.Relay.
func (r *relay) NoteActivity(p *hub.Peer, now hub.Activity) {
	member := p.Member()
	if member.Remote || member.Token == "" || member.Role == hub.RoleProxy {
		return
	}
	switch now {
	case hub.Joined:
		r.directory.addInterest(member.Namespace, 1)
		return
	case hub.Left:
		r.directory.addInterest(member.Namespace, -1)
	default: // it stays
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for k, l := range r.routes {
		if k.peer == p {
			l.forwardActivity(now)
		}
	}
}

// removeRoute forgets a route that ends.
func (r *relay) removeRoute(l *route) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.routes[l.key] == l {
		delete(r.routes, l.key)
	}
}

// countRoutes returns the number of routes.
func (r *relay) countRoutes() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.routes)
}

// seekAgain makes the routes of a session seek it again, unless they lead to the gateway that has
// it now; "" is this one.
func (r *relay) seekAgain(k sessionKey, now string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for key, l := range r.routes {
		if key.session != k.id || l.space != k.namespace {
			continue
		}
		if at := l.ownerName(); now == "" || at != "" && at != now {
			l.ownerLost()
		}
	}
}

// findHost returns the gateway of a host that starts programs, or "".
func (r *relay) findHost(namespace, hostKey string) string {
	for name := range r.mesh.arrivals() {
		question := &letter{Op: opHost, Namespace: namespace, Host: hostKey}
		if r, err := r.mesh.callPeer(r.mesh.ctx, name, requests, question); err == nil && r.Yes {
			return name
		}
	}
	return ""
}
