package cluster

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"terminalproxy/gateway/hub"
	"terminalproxy/protocol"
)

// maxQueued bounds the messages of a participant that wait to be sent to one session's owner.
const maxQueued = 256

type linkKey struct {
	peer    *hub.Peer
	session string // "" for programs that are to be started
	host    string // who is to start them
}

// link is a participant's way to one session of another gateway. One goroutine sends, in order; what comes back goes straight into
// the participant's queue. When the owner is lost, the link seeks the new one, and asks again what may be asked twice.
type link struct {
	cluster *Cluster
	key     linkKey
	space   string
	wake    chan struct{} // holds a token when there is something to do
	done    chan struct{}
	ending  sync.Once

	mu       sync.Mutex
	queue    []letter // what is to be sent
	at       string   // the owner, "" while there is none
	id       string   // of the way to it
	sent     uint64   // letters
	got      uint64
	broken   bool                   // the owner is lost, or is it no longer
	pending  []protocol.Message     // requests without an answer, in their order
	passed   map[string]bool        // of these, by id, what an owner may have passed on to the proxy
	holds    []protocol.Message     // what was asked that goes on: one of each kind
	grant    *protocol.ControlGrant // that the participant holds, nil for none
	answered map[string]bool        // requests of holds that are answered
	abort    context.CancelFunc     // ends the wait for the answer to a letter
	began    time.Time              // when the way to the owner did
	failing  time.Time              // since when no owner answered; zero while one does
}

// Forward implements hub.Directory.
func (c *Cluster) Forward(p *hub.Peer, m protocol.Message) bool {
	who := p.Member()
	if who.Remote || who.Token == "" || who.Role == hub.RoleProxy {
		return false
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return false
	}
	k := linkKey{peer: p, session: protocol.SessionID(m)}
	switch m := m.(type) {
	case *protocol.SessionsList:
		c.wg.Go(func() { // ends when all is told, or has had its time
			c.gather(who.Namespace)
			p.Listed(m)
		})
		return true
	case *protocol.ProxyStart:
		k.host = m.HostKey
	}
	_, known := c.seen[sessionKey{who.Namespace, k.session}]
	if c.links[k] == nil && !known && (!c.bus.online() || len(c.peers) == 0) {
		return false
	}
	c.link(k, who.Namespace).put(letter{Op: opSay, messages: []protocol.Message{m}})
	return true
}

// Follow implements hub.Directory.
func (c *Cluster) Follow(p *hub.Peer, m protocol.Message) bool {
	who := p.Member()
	c.mu.Lock()
	defer c.mu.Unlock()
	if who.Token == "" || c.closed {
		return false
	}
	l := c.link(linkKey{peer: p, session: protocol.SessionID(m)}, who.Namespace)
	l.note(m)
	l.pass(&letter{messages: []protocol.Message{m}})
	l.lost()
	return true
}

// link is the way of a participant to a session, which it makes if there is none. The caller holds the lock.
func (c *Cluster) link(k linkKey, namespace string) *link {
	l := c.links[k]
	if l == nil {
		l = &link{cluster: c, key: k, space: namespace, wake: make(chan struct{}, 1), done: make(chan struct{}), answered: make(map[string]bool), passed: make(map[string]bool), abort: func() {}}
		c.links[k] = l
		c.wg.Go(l.run) // ends with close
	}
	return l
}

// Watch implements hub.Directory.
func (c *Cluster) Watch(p *hub.Peer, now hub.Doing) {
	who := p.Member()
	if who.Remote || who.Token == "" || who.Role == hub.RoleProxy {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	switch now {
	case hub.Came:
		c.attend(who.Namespace, 1)
		return
	case hub.Left:
		c.attend(who.Namespace, -1)
	default: // it stays
	}
	for k, l := range c.links {
		if k.peer == p {
			l.does(now)
		}
	}
}

// does tells the owner what the participant does. The caller holds the cluster's lock.
func (l *link) does(now hub.Doing) {
	switch now {
	case hub.Left:
		go l.close() // which takes that lock
	case hub.Works:
		l.put(letter{Op: opWork})
	case hub.Rests:
		l.put(letter{Op: opRest})
	case hub.Behind:
		l.repaint()
	case hub.Came: // before there was a way
	}
}

// put has a letter sent.
func (l *link) put(what letter) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.queue) >= maxQueued {
		l.key.peer.Cut(hub.ErrSlow) // a participant that does not wait for answers
		return
	}
	l.queue = append(l.queue, what)
	signal(l.wake)
}

// repaint asks for live output anew, if the participant follows any.
func (l *link) repaint() {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, m := range l.holds {
		if _, ok := m.(*protocol.Watch); ok {
			l.queue = append(l.queue, letter{Op: opSay, messages: []protocol.Message{m}})
			signal(l.wake)
		}
	}
}

// run sends what is to be sent until close, or until the session is nowhere else.
func (l *link) run() {
	defer l.close()
	for {
		select {
		case <-l.done:
			l.part()
			return
		case <-l.wake:
		}
		for what, again := l.take(); what != nil || again; what, again = l.take() {
			if again && !l.again() {
				return
			}
			if what != nil && !l.say(what) {
				return
			}
		}
	}
}

// take is the next letter; or the owner was lost, and another one is to be sought first.
func (l *link) take() (what *letter, again bool) {
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

// say sends a letter to the owner, which it finds first. It reports whether the link goes on.
func (l *link) say(what *letter) bool {
	l.mu.Lock()
	at := l.at
	l.mu.Unlock()
	if at == "" {
		if len(what.messages) == 0 {
			return true // nobody knows of the participant yet
		}
		switch l.first(what.messages[0]) {
		case answered:
			return l.idle()
		case expected:
			l.note(what.messages[0])
			l.lost()
			return true
		case found:
		}
	}
	for _, m := range what.messages {
		l.note(m)
	}
	l.deliver(what)
	return true
}

// What becomes of the first message on a way.
type start int

const (
	answered start = iota // there is no way
	found                 // there is one
	expected              // the session was elsewhere a moment ago
)

// first finds the owner for a first message, or answers it.
func (l *link) first(m protocol.Message) start {
	c, p := l.cluster, l.key.peer
	switch m := m.(type) {
	case *protocol.ProxyStart:
		if at := c.host(l.space, m.HostKey); at != "" {
			l.begin(at)
			return found
		}
	default:
		k := sessionKey{l.space, l.key.session}
		switch at, here := c.seek(k, false); {
		case here:
			p.Handle(m)
			return answered
		case at != "":
			l.begin(at)
			return found
		case c.misses(k):
			return expected
		}
	}
	p.Unknown(m)
	return answered
}

// idle ends a link that leads nowhere, unless there is more to send.
func (l *link) idle() bool {
	c := l.cluster
	c.mu.Lock()
	defer c.mu.Unlock()
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.queue) > 0 {
		return true
	}
	if c.links[l.key] == l {
		delete(c.links, l.key)
	}
	return false
}

// begin begins the way to an owner.
func (l *link) begin(at string) {
	c := l.cluster
	c.mu.Lock()
	c.count++
	id := fmt.Sprintf("%s.%d", c.name, c.count)
	l.mu.Lock()
	delete(c.byID, l.id)
	l.at, l.id, l.sent, l.got, l.broken, l.began = at, id, 0, 0, false, time.Now()
	c.byID[id] = l
	l.mu.Unlock()
	c.mu.Unlock()
}

// deliver sends a letter on the way that there is. Where that leads nowhere, the way is broken.
func (l *link) deliver(what *letter) {
	l.mu.Lock()
	l.sent++
	what.Link, what.N, what.Session, what.Namespace = l.id, l.sent, l.key.session, l.space
	what.Again = slices.ContainsFunc(what.messages, func(m protocol.Message) bool { return l.passed[protocol.RequestID(m)] })
	at := l.at
	ctx, cancel := context.WithCancel(l.cluster.ctx)
	defer cancel()
	l.abort = cancel
	l.mu.Unlock()
	if what.N == 1 {
		what.Member = describe(l.key.peer.Member())
	}
	what.frames = nil
	for _, m := range what.messages {
		frame, err := protocol.Encode(m)
		if err != nil {
			l.refused(what, reply{Code: protocol.CodeBadMessage, Wrong: err.Error()})
			return
		}
		what.frames = append(what.frames, frame)
	}
	r, err := l.cluster.call(ctx, at, requests, what)
	switch {
	case err != nil || r.Lost:
		if errors.Is(err, errNobody) || r.Lost {
			l.untold(what) // nothing of it happened
		} else {
			l.pass(what)
		}
		l.mu.Lock()
		l.broken = true
		l.mu.Unlock()
	case r.Wrong != "":
		l.refused(what, r)
	default:
		l.pass(what)
	}
}

// pass notes that the owner may have passed on what a letter asks, unless that is answered already.
func (l *link) pass(what *letter) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, m := range what.messages {
		if slices.Contains(l.pending, m) {
			l.passed[protocol.RequestID(m)] = true
		}
	}
}

// refused gives the participant the owner's refusal of a letter.
func (l *link) refused(what *letter, r reply) {
	for _, m := range what.messages {
		l.settle(protocol.RequestID(m))
		l.key.peer.Deliver(&protocol.Error{RequestID: protocol.RequestID(m), Code: r.Code, Message: "the gateway of session " + l.key.session + ": " + r.Wrong})
	}
	if what.N == 1 { // there is nobody there
		l.mu.Lock()
		l.at, l.holds = "", nil
		l.mu.Unlock()
	}
}

// part tells the owner that the participant is gone, if it can be told. It does not wait for that.
func (l *link) part() {
	c := l.cluster
	l.mu.Lock()
	l.sent++
	at, what := l.at, &letter{Op: opLeave, Link: l.id, N: l.sent, From: c.name}
	l.mu.Unlock()
	data, err := what.seal()
	if at == "" || what.N == 1 || err != nil || !c.bus.online() {
		return
	}
	// A gateway that misses this hears no more heartbeats either, or is told with the next letter that it sends. c.wg holds this, since
	// the caller is one of it.
	c.wg.Go(func() {
		ctx, cancel := context.WithTimeout(context.Background(), callTime)
		defer cancel()
		_, _ = c.bus.request(ctx, prefix+at+requests, append([]byte{whole}, data...))
	})
}

// close ends the link.
func (l *link) close() {
	l.ending.Do(func() {
		c := l.cluster
		c.mu.Lock()
		defer c.mu.Unlock()
		l.mu.Lock()
		delete(c.byID, l.id)
		l.hold(nil)
		l.abort()
		l.mu.Unlock()
		if c.links[l.key] == l {
			delete(c.links, l.key)
		}
		close(l.done)
	})
}
