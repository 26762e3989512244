package cluster

import (
	"context"
	"sync"
	"time"

	"terminalproxy/gateway/hub"
	"terminalproxy/protocol"
)

// directory implements hub.Directory. It takes the sessions of this gateway from its claims, which
// it keeps in the bucket, and those of others from their lists, which they send to each gateway
// with participants of the namespace. The bucket decides who has a session; the lists are what
// people see.
type directory struct {
	claims *claims
	hub    *hub.Hub
	bus    bus
	mesh   *mesh
	ctx    context.Context // ends with Close
	wg     *sync.WaitGroup
	// moved is called when a session is at another gateway than before, "" for this one
	moved func(k sessionKey, at string)
	begun time.Time

	mu        sync.Mutex
	closed    bool
	interests map[string]*namespaceInterest // the namespaces of participants here
	seen      map[sessionKey]remoteSession  // sessions of other gateways
	orders    map[string]*hub.Order         // of seen, by namespace
	silent    map[string]*silence           // other gateways that went silent, by name
	offline   time.Time                     // start of the bus's outage; zero while it is reached
	// closed and made anew when seen, the gateways or the sessions here change
	news chan struct{}
}

var _ hub.Directory = (*directory)(nil)

type sessionKey struct{ namespace, id string }

func newDirectory(h *hub.Hub, m *mesh, wg *sync.WaitGroup) *directory {
	d := &directory{
		claims:    newClaims(h, m, wg),
		hub:       h,
		bus:       m.bus,
		mesh:      m,
		ctx:       m.ctx,
		wg:        wg,
		begun:     time.Now(),
		interests: make(map[string]*namespaceInterest),
		seen:      make(map[sessionKey]remoteSession),
		orders:    make(map[string]*hub.Order),
		silent:    make(map[string]*silence),
		news:      make(chan struct{}),
	}
	d.claims.release = d.releaseSession
	return d
}

// ClaimSession implements hub.Directory.
func (d *directory) ClaimSession(namespace string, m *protocol.SessionOpen) *protocol.Error {
	return d.claims.claimSession(namespace, m)
}

// AnnounceSession implements hub.Directory.
func (d *directory) AnnounceSession(namespace, id string, here bool) {
	k := sessionKey{namespace, id}
	if here {
		d.moved(k, "")
	} else {
		d.claims.endClaim(k)
	}
	d.wakeSeekers()
}

// releaseSession gives up a session that another gateway has. Lists keep it until that gateway
// reports it.
func (d *directory) releaseSession(k sessionKey, own *claim, there entry) {
	info, known := d.hub.Info(k.namespace, k.id)
	d.mu.Lock()
	dropped := d.claims.dropClaim(k, own)
	if old, seen := d.seen[k]; dropped && known && (!seen || !old.gone.IsZero()) {
		d.recordSightingLocked(k, remoteSession{
			at:         there.Owner,
			generation: there.Generation,
			info:       info,
			told:       time.Now(),
			gone:       time.Now(),
		})
	}
	d.mu.Unlock()
	if dropped {
		d.hub.RemoveMoved(k.namespace, k.id)
	}
}

// close stops asking for lists and writing claims.
func (d *directory) close() {
	d.claims.close()
	d.mu.Lock()
	defer d.mu.Unlock()
	d.closed = true
}

// expire drops expired entries, and writes claims that the bucket lacks.
func (d *directory) expire() {
	d.forgetLost()
	d.forgetInterests()
	d.claims.enterMissing()
	d.notifyIncomplete()
}

// changeSignal returns a channel that is closed at the next change.
func (d *directory) changeSignal() <-chan struct{} {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.news
}

// wakeSeekers wakes the goroutines that seek a session.
func (d *directory) wakeSeekers() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.wakeSeekersLocked()
}

// wakeSeekersLocked is wakeSeekers.
func (d *directory) wakeSeekersLocked() {
	close(d.news)
	d.news = make(chan struct{})
}
