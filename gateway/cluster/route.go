package cluster

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"terminalproxy/gateway/hub"
	"terminalproxy/protocol"
)

// maxQueued bounds the messages of a participant that wait for one session's owner.
const maxQueued = 256

type routeKey struct {
	peer    *hub.Peer
	session string // "" for programs to start
	host    string // the host that starts them
}

// route carries one participant's messages to one session of another gateway. One goroutine sends,
// in order; the answers go straight into the participant's queue. When the owner is lost, the route
// seeks the new one, and repeats the requests that may be asked twice.
//
//	           letter, owner found
//	unrouted ──────────────────────> routed <───────────┐
//	at == ""                         at != ""           │ reroute finds an owner
//	  │  ^                             │                │
//	  │  └──── owner refuses N == 1 ───┤ send fails,    │
//	  │ session seen a moment ago      v owner lost     │
//	  └────────────────────────────> broken ────────────┘
//
// When no gateway has the session, its requests fail or are handled here, and the route is unrouted
// again if more letters wait, else it ends. It also ends when its participant leaves.
type route struct {
	relay  *relay
	key    routeKey
	space  string
	wake   chan struct{} // holds a token when run has work
	done   chan struct{}
	ending sync.Once

	mu      sync.Mutex
	queue   []letter // letters to send
	at      string   // the owner, "" if unknown
	id      string   // of the route to that owner
	sent    uint64   // letters
	got     uint64
	broken  bool               // the owner is lost, or has changed
	pending []protocol.Message // requests without an answer, in their order
	// of these, by id, those that an owner may have passed on to the proxy
	passed   map[string]bool
	holds    []protocol.Message     // standing subscriptions: one of each kind
	grant    *protocol.ControlGrant // the participant's grant, or nil
	answered map[string]bool        // requests of holds that are answered
	abort    context.CancelFunc     // ends the wait for the answer to a letter
	began    time.Time              // when the route to the owner was made
	failing  time.Time              // since when no owner answers; zero while one does
}

func newRoute(r *relay, k routeKey, namespace string) *route {
	return &route{
		relay:    r,
		key:      k,
		space:    namespace,
		wake:     make(chan struct{}, 1),
		done:     make(chan struct{}),
		answered: make(map[string]bool),
		passed:   make(map[string]bool),
		abort:    func() {},
	}
}

// forwardActivity tells the owner what the participant does. The relay is locked.
func (l *route) forwardActivity(now hub.Activity) {
	switch now {
	case hub.Left:
		go l.close() // which takes that lock
	case hub.Busy:
		l.enqueueLetter(letter{Op: opWork})
	case hub.Idle:
		l.enqueueLetter(letter{Op: opRest})
	case hub.NeedsRepaint:
		l.requestRepaint()
	case hub.Joined: // the route does not exist yet
	}
}

// enqueueLetter queues a letter for the owner.
func (l *route) enqueueLetter(outgoing letter) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.queue) >= maxQueued {
		l.key.peer.EndAtOnce(hub.ErrSlow) // a participant that does not wait for answers
		return
	}
	l.queue = append(l.queue, outgoing)
	signal(l.wake)
}

// requestRepaint asks for live output again, if the participant follows any.
func (l *route) requestRepaint() {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, m := range l.holds {
		if _, ok := m.(*protocol.Watch); ok {
			l.queue = append(l.queue, letter{Op: opSay, messages: []protocol.Message{m}})
			signal(l.wake)
		}
	}
}

// run sends the queued letters until close, or until no other gateway has the session.
func (l *route) run() {
	defer l.forgetNumber() // a route that was closed meanwhile may have got another one
	defer l.close()
	for {
		select {
		case <-l.done:
			l.sendGoodbye()
			return
		case <-l.wake:
		}
		for outgoing, again := l.nextLetter(); outgoing != nil || again; outgoing, again = l.nextLetter() {
			if again && !l.reroute() {
				return
			}
			if outgoing != nil && !l.sendToOwner(outgoing) {
				return
			}
		}
	}
}

// nextLetter returns the next letter. again: the owner was lost, and another one must be found
// first.
func (l *route) nextLetter() (outgoing *letter, again bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.broken {
		return nil, true
	}
	if len(l.queue) == 0 {
		return nil, false
	}
	next := l.queue[0]
	l.queue = l.queue[1:]
	return &next, false
}

// sendToOwner sends a letter to the owner, which it finds first. It reports whether the route goes
// on.
func (l *route) sendToOwner(outgoing *letter) bool {
	l.mu.Lock()
	at := l.at
	l.mu.Unlock()
	if at == "" {
		if len(outgoing.messages) == 0 {
			return true // no gateway knows of the participant yet
		}
		switch l.findOwner(outgoing.messages[0]) {
		case answered:
			return l.closeIfUnused()
		case expected:
			l.trackRequest(outgoing.messages[0])
			l.ownerLost()
			return true
		case found:
		}
	}
	for _, m := range outgoing.messages {
		l.trackRequest(m)
	}
	l.sendOnRoute(outgoing)
	return true
}

// firstOutcome tells what findOwner did with the first message on a route.
type firstOutcome int

const (
	answered firstOutcome = iota // the route leads nowhere
	found                        // the route has an owner
	expected                     // the session was elsewhere a moment ago
)

// findOwner finds the owner for a first message, or answers it.
func (l *route) findOwner(m protocol.Message) firstOutcome {
	r, p := l.relay, l.key.peer
	switch m := m.(type) {
	case *protocol.ProxyStart:
		if at := r.findHost(l.space, m.HostKey); at != "" {
			l.connectTo(at)
			return found
		}
	default:
		k := sessionKey{l.space, l.key.session}
		switch at, here := r.directory.seekSession(k, false); {
		case here:
			p.Handle(m)
			return answered
		case at != "":
			l.connectTo(at)
			return found
		case r.directory.wasSeen(k):
			return expected
		}
	}
	p.RefuseUnknown(m)
	return answered
}

// closeIfUnused ends a route that leads nowhere, unless it has more to send. It reports whether the
// route goes on.
func (l *route) closeIfUnused() bool {
	r := l.relay
	r.mu.Lock()
	defer r.mu.Unlock()
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.queue) > 0 {
		return true
	}
	if r.routes[l.key] == l {
		delete(r.routes, l.key)
	}
	return false
}

// connectTo starts the route to an owner.
func (l *route) connectTo(at string) {
	m := l.relay.mesh
	number := m.newNumber()
	l.mu.Lock()
	former := l.id
	l.at, l.id, l.sent, l.got, l.broken, l.began = at, number, 0, 0, false, time.Now()
	l.mu.Unlock()
	m.removeReceiver(former)
	m.addReceiver(number, l) // before its first letter
}

// sendOnRoute sends a letter to the present owner. If that fails, the route is broken.
func (l *route) sendOnRoute(outgoing *letter) {
	l.mu.Lock()
	l.sent++
	outgoing.Link, outgoing.N, outgoing.Session, outgoing.Namespace = l.id, l.sent, l.key.session, l.space
	outgoing.Again = slices.ContainsFunc(
		outgoing.messages,
		func(m protocol.Message) bool { return l.passed[protocol.RequestID(m)] },
	)
	at := l.at
	ctx, cancel := context.WithCancel(l.relay.mesh.ctx)
	defer cancel()
	l.abort = cancel
	l.mu.Unlock()
	if outgoing.N == 1 {
		outgoing.Member = describeMember(l.key.peer.Member())
	}
	if err := outgoing.encodeMessages(); err != nil {
		l.reportRefusal(outgoing, reply{Code: protocol.CodeBadMessage, Wrong: err.Error()})
		return
	}
	r, err := l.relay.mesh.callPeer(ctx, at, requests, outgoing)
	switch {
	case err != nil || r.Lost:
		if errors.Is(err, errNoListener) || r.Lost {
			l.requeueUnsent(outgoing) // the letter had no effect
		} else {
			l.markPassed(outgoing)
		}
		l.mu.Lock()
		l.broken = true
		l.mu.Unlock()
	case r.Wrong != "":
		l.reportRefusal(outgoing, r)
	default:
		l.markPassed(outgoing)
	}
}

// markPassed notes that the owner may have passed on the requests in a letter, except those already
// answered.
func (l *route) markPassed(outgoing *letter) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, m := range outgoing.messages {
		if slices.Contains(l.pending, m) {
			l.passed[protocol.RequestID(m)] = true
		}
	}
}

// reportRefusal passes the owner's refusal of a letter to the participant.
func (l *route) reportRefusal(outgoing *letter, r reply) {
	for _, m := range outgoing.messages {
		l.finishRequest(protocol.RequestID(m))
		l.key.peer.Deliver(&protocol.Error{
			RequestID: protocol.RequestID(m),
			Code:      r.Code,
			Message:   "the gateway of session " + l.key.session + ": " + r.Wrong,
		})
	}
	if outgoing.N == 1 { // the owner did not admit the participant
		l.mu.Lock()
		l.at, l.holds = "", nil
		l.mu.Unlock()
	}
}

// sendGoodbye tells the owner, if it can be reached, that the participant is gone. It does not wait
// for that.
func (l *route) sendGoodbye() {
	m := l.relay.mesh
	l.mu.Lock()
	l.sent++
	at, outgoing := l.at, &letter{Op: opLeave, Link: l.id, N: l.sent, From: m.name()}
	l.mu.Unlock()
	data, err := outgoing.seal()
	if at == "" || outgoing.N == 1 || err != nil || !m.bus.isOnline() {
		return
	}
	// A gateway that misses this misses the heartbeats, too, or gets the answer to its next letter.
	// The group may grow here, since the caller is counted in it.
	l.relay.wg.Go(func() {
		ctx, cancel := context.WithTimeout(context.Background(), callTime)
		defer cancel()
		_, _ = m.bus.request(ctx, prefix+at+requests, append([]byte{whole}, data...))
	})
}

// close ends the route.
func (l *route) close() {
	l.ending.Do(func() {
		l.relay.removeRoute(l)
		l.mu.Lock()
		l.setGrantLocked(nil)
		l.abort()
		l.mu.Unlock()
		l.forgetNumber()
		close(l.done)
	})
}

// forgetNumber ends the delivery of the owner's letters.
func (l *route) forgetNumber() {
	l.mu.Lock()
	number := l.id
	l.mu.Unlock()
	l.relay.mesh.removeReceiver(number)
}
