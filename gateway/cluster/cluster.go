// Package cluster joins gateways over NATS: a proxy connects to any of them, an agent, a viewer or a page to any other. It is a
// directory of the switchboard, see hub.Directory.
//
// A session is with one gateway, its owner: the one to which its proxy is connected. What a participant of another gateway sends for
// the session goes whole to the owner, where a participant of the same rights stands for it in the switchboard; what that one gets comes
// back. So the owner serves all by the same code, and every feature of one gateway works across. Both ways are answered letter by
// letter and numbered: nothing is taken twice, nothing overtakes, and what is lost is noticed.
//
// Nothing about consent changes: the proxy alone judges input by its epoch, and a grant ends with the proxy's connection. Both the gateway
// where a participant is and the owner check its token, role and namespace.
package cluster

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"terminalproxy/gateway/hub"
	"terminalproxy/protocol"
)

// The rhythm.
const (
	callTime   = 2 * time.Second
	beatEvery  = time.Second
	silentFor  = 3 * time.Second // a gateway that is not heard for so long is gone
	meetTime   = 500 * time.Millisecond
	lostFor    = 5 * time.Second       // how long what waits for a session waits for its new owner, as the switchboard waits for a proxy
	seekFirst  = 20 * time.Millisecond // the first pause before a session is sought again; each next one is twice as long
	seekEvery  = 100 * time.Millisecond
	lingerFor  = time.Minute // how long the lists of a namespace are still followed in which nobody is any more
	renewEvery = claimTime / 3
	lookEvery  = 10 * time.Second // how often it is looked whether the directory was lost
)

// Config is what a gateway of a cluster needs.
type Config struct {
	Log *slog.Logger
	// Servers are the URLs of NATS servers of one cluster.
	Servers []string
	// Credentials is a file with a user's credentials, or the seed of an NKey; "" for none. CA is a file with the certificates that sign
	// the servers', "" for the system's.
	Credentials, CA string
	// Name names this gateway, "" for a random one. It must be another one each time.
	Name string
	// Address and Version are for operators.
	Address, Version string
	// Hub is the switchboard of this gateway.
	Hub *hub.Hub
	// Admit lets a participant of another gateway into the switchboard, if its token stands here, too, and is what the member says.
	Admit func(m hub.Member) (Seat, error)
}

// Seat is a place in the switchboard.
type Seat interface {
	Handle(m protocol.Message)
	Repeat(m protocol.Message)
	Next(done <-chan struct{}) (protocol.Message, error)
	Work()
	Rest()
	Leave()
}

// Cluster is this gateway's part of a cluster.
type Cluster struct {
	cfg   Config
	log   *slog.Logger
	bus   bus
	name  string
	parts parts
	stats counters

	ctx  context.Context // ends with Close
	stop context.CancelFunc
	wg   sync.WaitGroup

	begun    time.Time
	beating  sync.Mutex
	entering atomic.Bool // enterOpen is due, or at work

	mu      sync.Mutex
	closed  bool
	peers   map[string]*peer        // other gateways, by name
	odd     map[string]bool         // gateways of another version, which has been logged
	bonds   uint64                  // counts the gateways that came
	links   map[linkKey]*link       // of participants here to sessions elsewhere
	byID    map[string]taker        // the same and the mirrors, by their number
	count   uint64                  // numbers both
	remotes map[remoteKey]*remote   // of participants elsewhere to sessions here
	wants   map[string]*interest    // the namespaces of participants here
	claims  map[sessionKey]*claim   // of the sessions here
	silent  map[string]*silence     // other gateways that went silent, by name
	offline time.Time               // since when the bus is not reached; zero while it is
	seen    map[sessionKey]sighting // where sessions elsewhere are, and what is told of them
	news    chan struct{}           // closed and made anew when seen, peers or the sessions here change
	chores  chan func()             // done one after the other, beside what must not wait
}

type sessionKey struct{ namespace, id string }

// peer is another gateway.
type peer struct {
	beat   beat
	at     time.Time // of the last heartbeat
	came   time.Time // when what is between the two began
	bond   uint64    // names its coming, for itself
	theirs uint64    // how it names ours; 0 before it has heard of us
}

// beat is a heartbeat.
type beat struct {
	Wire    int    `json:"wire"`
	From    string `json:"from"`
	Address string `json:"address,omitempty"`
	Version string `json:"version,omitempty"`
	// Bonds are the gateways that the sender hears, and a number for the coming of each: with another number all that was between the
	// two is gone.
	Bonds map[string]uint64 `json:"bonds,omitempty"`
	// Bond is the highest number that was given.
	Bond uint64 `json:"bond,omitempty"`
	Bye  bool   `json:"bye,omitempty"`
}

// Join connects a gateway with its cluster and extends its switchboard. Servers that do not answer now are tried again until Close;
// wrong credentials and unreadable files are errors. It is called before anybody joins the switchboard.
func Join(cfg Config) (*Cluster, error) {
	if cfg.Name == "" {
		cfg.Name = "g-" + strings.ToLower(rand.Text()[:10])
	}
	wake := make(chan struct{}, 1)
	b, err := dialNATS(cfg, func() { signal(wake) })
	if err != nil {
		return nil, err
	}
	c, err := newCluster(cfg, b, wake)
	if err != nil {
		b.close()
		return nil, err
	}
	return c, nil
}

// newCluster takes part over a bus. wake holds a token when the bus came or went.
func newCluster(cfg Config, b bus, wake <-chan struct{}) (*Cluster, error) {
	c := &Cluster{
		cfg: cfg, log: cfg.Log, bus: b, name: cfg.Name, begun: time.Now(),
		peers: make(map[string]*peer), odd: make(map[string]bool), links: make(map[linkKey]*link), byID: make(map[string]taker),
		remotes: make(map[remoteKey]*remote), wants: make(map[string]*interest), claims: make(map[sessionKey]*claim),
		silent: make(map[string]*silence), seen: make(map[sessionKey]sighting), news: make(chan struct{}), chores: make(chan func(), 1024),
	}
	c.ctx, c.stop = context.WithCancel(context.Background())
	for subject, take := range map[string]func([]byte, func([]byte)){
		heartbeats: c.heard, prefix + c.name + requests: c.received(protocol.MaxAgentMessage, c.serve), prefix + c.name + answers: c.received(protocol.MaxMessage, c.told),
	} {
		if err := b.listen(subject, take); err != nil {
			c.stop()
			return nil, err
		}
	}
	cfg.Hub.Extend(c)
	c.wg.Go(func() { c.live(wake) }) // both end with ctx
	c.wg.Go(c.work)
	return c, nil
}

// Close leaves the cluster: the others are told, and what they have here ends. The switchboard is closed before.
func (c *Cluster) Close() {
	c.mu.Lock()
	c.closed = true
	var ends []func()
	for _, l := range c.links {
		ends = append(ends, l.close)
	}
	for _, r := range c.remotes {
		ends = append(ends, r.close)
	}
	c.mu.Unlock()
	for _, end := range ends {
		end()
	}
	c.beat(true)
	c.stop()
	c.wg.Wait()
	c.bus.close()
}

// live sends heartbeats, and notices who is silent, until Close.
func (c *Cluster) live(wake <-chan struct{}) {
	tick := time.NewTicker(beatEvery)
	defer tick.Stop()
	renew := time.NewTicker(renewEvery)
	defer renew.Stop()
	look := time.NewTicker(lookEvery)
	defer look.Stop()
	for {
		c.beat(false)
		c.tidy()
		c.noteLacks()
		select {
		case <-c.ctx.Done():
			return
		case <-tick.C:
		case <-renew.C:
			c.chore(c.reclaim)
		case <-look.C:
			c.chore(c.refill)
		case <-wake:
			if c.bus.online() {
				c.chore(c.reclaim)
			}
		}
	}
}

// work does what has to wait for the bus and must not hold anybody up, until Close.
func (c *Cluster) work() {
	for {
		select {
		case <-c.ctx.Done():
			return
		case do := <-c.chores:
			do()
		}
	}
}

// chore has work do something. With too much to do it is left out: claims are renewed from time to time anyway.
func (c *Cluster) chore(do func()) (queued bool) {
	select {
	case c.chores <- do:
		return true
	default:
		c.log.Warn("cluster: too much to do: something is left out until the claims are renewed")
		return false
	}
}

// beat says that this gateway is here, or that it closes.
func (c *Cluster) beat(bye bool) {
	c.beating.Lock() // one does not overtake another
	defer c.beating.Unlock()
	b := beat{Wire: wireVersion, From: c.name, Address: c.cfg.Address, Version: c.cfg.Version, Bonds: make(map[string]uint64), Bye: bye}
	c.mu.Lock()
	b.Bond = c.bonds
	for name, p := range c.peers {
		b.Bonds[name] = p.bond
	}
	c.mu.Unlock()
	data, err := json.Marshal(b)
	if err == nil {
		err = c.bus.publish(heartbeats, data)
	}
	if err != nil && !errors.Is(err, errOffline) {
		c.log.Debug("cluster: heartbeat", "error", err)
	}
}

// heard takes the heartbeat of another gateway.
func (c *Cluster) heard(data []byte, _ func([]byte)) {
	var b beat
	if err := json.Unmarshal(data, &b); err != nil || b.From == "" || b.From == c.name {
		return
	}
	c.mu.Lock()
	if c.closed || c.differs(b) {
		c.mu.Unlock()
		return
	}
	p, fresh := c.peers[b.From], false
	switch {
	case b.Bye:
		c.mu.Unlock()
		c.lose(b.From, "it closed")
		c.mu.Lock()
		delete(c.silent, b.From) // who ends it knows of its sessions
		c.mu.Unlock()
		return
	case p == nil:
		c.bonds++
		p, fresh = &peer{bond: c.bonds, came: time.Now()}, true
		c.peers[b.From] = p
		c.hearAgain(b)
		c.log.Info("cluster: a gateway came", "gateway", b.From, "address", b.Address, "version", b.Version)
	}
	p.beat, p.at = b, time.Now()
	part := func() {}
	if b.Bond >= p.theirs { // else a letter overtook it
		part = c.rebond(b.From, p, b.Bonds[c.name])
	}
	c.changed()
	c.mu.Unlock()
	part()
	if fresh {
		c.beat(false) // so that it knows of this one at once
	}
	c.follow(b.From)
}

// rebond takes the number that a gateway has for this one. With another one than before, that gateway lost this one meanwhile: part ends
// all that was between the two. This one stays known by the number that it has: with a new one the other would lose it in turn, and both would
// go on so for ever. The caller holds the lock.
func (c *Cluster) rebond(name string, p *peer, theirs uint64) (part func()) {
	part = func() {}
	if p.theirs != 0 && p.theirs != theirs {
		part, p.came = c.between(name), time.Now()
	}
	p.theirs = theirs
	return part
}

// bondOf names the coming of another gateway, 0 for one that is not heard.
func (c *Cluster) bondOf(name string) uint64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	if p := c.peers[name]; p != nil {
		return p.bond
	}
	return 0
}

// bonded reports whether a letter belongs to what is between the two gateways now. One that overtook its sender's heartbeat begins that anew.
func (c *Cluster) bonded(l *letter) bool {
	c.mu.Lock()
	p := c.peers[l.From]
	if p == nil || l.Bond == 0 || l.Bond == p.theirs {
		c.mu.Unlock()
		return true
	}
	if l.Bond < p.theirs {
		c.mu.Unlock()
		return false
	}
	part := c.rebond(l.From, p, l.Bond)
	c.mu.Unlock()
	part()
	return true
}

// differs reports whether a gateway speaks another version, and logs that once. The caller holds the lock.
func (c *Cluster) differs(b beat) bool {
	if b.Wire == wireVersion {
		return false
	}
	if !c.odd[b.From] {
		c.odd[b.From] = true
		c.log.Error("cluster: a gateway speaks another version of the wire: it is left alone", "gateway", b.From, "address", b.Address, "wire", b.Wire, "own", wireVersion)
	}
	return true
}

// tidy forgets the gateways that are silent, and what is no longer wanted.
func (c *Cluster) tidy() {
	var silent []string
	c.mu.Lock()
	for name, p := range c.peers {
		if time.Since(p.at) > silentFor {
			silent = append(silent, name)
		}
	}
	c.mu.Unlock()
	for _, name := range silent {
		c.lose(name, "it is silent")
	}
	c.forgetLost()
	c.forgetInterests()
	isOpen := func(_ sessionKey, own *claim) bool { return own.revision == 0 }
	if c.bus.online() && len(c.claimsThat(isOpen)) > 0 && c.entering.CompareAndSwap(false, true) {
		if !c.chore(c.enterOpen) {
			c.entering.Store(false)
		}
	}
}

// lose forgets another gateway, with all that is between the two. It comes back with its next heartbeat.
func (c *Cluster) lose(name, why string) {
	c.mu.Lock()
	p := c.peers[name]
	delete(c.peers, name)
	delete(c.odd, name)
	part := c.between(name)
	if p != nil {
		c.silent[name] = &silence{address: p.beat.Address, since: p.at, sessions: make(map[sessionKey]struct{})}
	}
	c.mu.Unlock()
	if p != nil {
		c.log.Warn("cluster: a gateway is gone", "gateway", name, "address", p.beat.Address, "cause", why)
	}
	part()
}

// between is all that is between this gateway and another one now, for an end without the lock: what begins meanwhile is of the new time. The
// caller holds the lock.
func (c *Cluster) between(name string) (part func()) {
	var gone []*remote
	for k, r := range c.remotes {
		if k.from == name {
			gone = append(gone, r)
		}
	}
	var lost []taker
	for _, t := range c.byID {
		if t.owner() == name {
			lost = append(lost, t)
		}
	}
	c.changed()
	return func() {
		for _, r := range gone {
			r.close()
		}
		for _, t := range lost {
			t.lost()
		}
	}
}

// changed wakes those who seek a session. The caller holds the lock.
func (c *Cluster) changed() {
	close(c.news)
	c.news = make(chan struct{})
}

// signal puts a token into a channel that holds one.
func signal(ch chan<- struct{}) {
	select {
	case ch <- struct{}{}:
	default:
	}
}

// counters count what crosses.
type counters struct {
	sent, got, sentBytes, gotBytes, refused, uncontested atomic.Uint64
}
