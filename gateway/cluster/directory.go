package cluster

import (
	"context"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"terminalproxy/gateway/hub"
)

// directory implements hub.Directory. It knows the sessions of this gateway by its claims, which it
// keeps in the bucket, and those of others by their lists, which they send to each gateway with
// participants of the namespace. The bucket decides who has a session; the lists are what people
// see.
type directory struct {
	hub  *hub.Hub
	log  *slog.Logger
	bus  bus
	mesh *mesh
	ctx  context.Context // ends with Close
	wg   *sync.WaitGroup
	// moved is told that a session is at another gateway than before, "" for this one
	moved func(k sessionKey, at string)

	begun       time.Time
	entering    atomic.Bool // enterOpen is due, or at work
	uncontested atomic.Uint64
	chores      chan func() // jobs for runJobs, which may wait for the bus

	mu      sync.Mutex
	closed  bool
	claims  map[sessionKey]*claim         // of the sessions here
	wants   map[string]*namespaceInterest // the namespaces of participants here
	seen    map[sessionKey]remoteSession  // sessions of other gateways
	silent  map[string]*silence           // other gateways that went silent, by name
	offline time.Time                     // start of the bus's outage; zero while it is reached
	// closed and made anew when seen, the gateways or the sessions here change
	news chan struct{}
}

var _ hub.Directory = (*directory)(nil)

type sessionKey struct{ namespace, id string }

func newDirectory(h *hub.Hub, m *mesh, wg *sync.WaitGroup) *directory {
	return &directory{
		hub:    h,
		log:    m.log,
		bus:    m.bus,
		mesh:   m,
		ctx:    m.ctx,
		wg:     wg,
		begun:  time.Now(),
		chores: make(chan func(), 1024),
		claims: make(map[sessionKey]*claim),
		wants:  make(map[string]*namespaceInterest),
		seen:   make(map[sessionKey]remoteSession),
		silent: make(map[string]*silence),
		news:   make(chan struct{}),
	}
}

// close starts no more calls.
func (d *directory) close() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.closed = true
}

// runJobs runs the jobs that have to wait for the bus and must not block anything else, until
// Close.
func (d *directory) runJobs() {
	for {
		select {
		case <-d.ctx.Done():
			return
		case do := <-d.chores:
			do()
		}
	}
}

// enqueueJob queues a job for runJobs. A full queue drops it: claims are renewed from time to time
// anyway.
func (d *directory) enqueueJob(do func()) (queued bool) {
	select {
	case d.chores <- do:
		return true
	default:
		d.log.Warn("cluster: overloaded: some work is left undone until the claims are renewed")
		return false
	}
}

// expire forgets what has had its time, and makes up for claims that the bucket lacks.
func (d *directory) expire() {
	d.forgetLost()
	d.forgetInterests()
	if d.bus.isOnline() && len(d.openClaims()) > 0 && d.entering.CompareAndSwap(false, true) {
		if !d.enqueueJob(d.enterOpen) {
			d.entering.Store(false)
		}
	}
	d.noteLacks()
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
