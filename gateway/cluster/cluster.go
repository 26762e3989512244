// Package cluster joins gateways over NATS: a proxy connects to any of them, an agent, a viewer or
// a page to any other. It is a directory of the switchboard, see hub.Directory.
//
// A session belongs to one gateway, its owner: the one to which its proxy is connected. Messages of
// another gateway's participant for the session go whole to the owner, where a stand-in with the
// same rights joins the switchboard; its messages come back. So the owner serves all participants
// by the same code, and every feature of one gateway works across gateways. Letters are numbered
// and answered in both directions: each is taken once and in order, and a loss is noticed.
//
// Nothing about consent changes: the proxy alone judges input by its epoch, and a grant ends with
// the proxy's connection. Both the gateway where a participant is and the owner check its token,
// role and namespace.
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
	callTime  = 2 * time.Second
	beatEvery = time.Second
	silentFor = 3 * time.Second // a gateway that was silent this long is gone
	meetTime  = 500 * time.Millisecond
	// how long requests wait for a new owner, as the switchboard waits for a proxy.
	lostFor = 5 * time.Second
	// the first pause of a search; each next one is twice as long.
	seekFirst  = 20 * time.Millisecond
	seekEvery  = 100 * time.Millisecond
	lingerFor  = time.Minute // how long lists of an empty namespace are still followed
	renewEvery = claimTime / 3
	lookEvery  = 10 * time.Second // how often to check whether the directory was lost
)

// Config configures a gateway of a cluster.
type Config struct {
	Log *slog.Logger
	// Servers are the URLs of NATS servers of one cluster.
	Servers []string
	// Credentials is a file with a user's credentials, or the seed of an NKey; "" for neither. CA
	// is a file with the certificates that sign the servers' certificates, "" for the system's.
	Credentials, CA string
	// Name names this gateway, "" for a random name. It must differ at each start.
	Name string
	// Address and Version are for operators.
	Address, Version string
	// Hub is the switchboard of this gateway.
	Hub *hub.Hub
	// Admit lets a participant of another gateway into the switchboard, if its token is valid here,
	// too, and grants what the member says.
	Admit func(m hub.Member) (Seat, error)
}

// Seat is a place in the switchboard.
type Seat interface {
	Handle(m protocol.Message)
	HandleRepeat(m protocol.Message)
	Next(done <-chan struct{}) (protocol.Message, error)
	MarkBusy()
	MarkIdle()
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
	peers   map[string]*peer              // other gateways, by name
	odd     map[string]bool               // gateways of another version, already logged
	bonds   uint64                        // the last number of a bond
	routes  map[routeKey]*route           // of participants here to sessions elsewhere
	byID    map[string]receiver           // the same and the lists, by their number
	count   uint64                        // numbers both
	remotes map[remoteKey]*remote         // of participants elsewhere to sessions here
	wants   map[string]*namespaceInterest // the namespaces of participants here
	claims  map[sessionKey]*claim         // of the sessions here
	silent  map[string]*silence           // other gateways that went silent, by name
	offline time.Time                     // start of the bus's outage; zero while it is reached
	seen    map[sessionKey]remoteSession  // sessions of other gateways
	// closed and made anew when seen, peers or the sessions here change
	news   chan struct{}
	chores chan func() // jobs for runJobs, which may wait for the bus
}

type sessionKey struct{ namespace, id string }

// peer is another gateway.
type peer struct {
	beat   beat
	at     time.Time // of the last heartbeat
	came   time.Time // when the present bond began
	bond   uint64    // this gateway's number for the peer's arrival
	theirs uint64    // the peer's number for this gateway's arrival; 0 until it is known
}

// beat is a heartbeat.
type beat struct {
	Wire    int    `json:"wire"`
	From    string `json:"from"`
	Address string `json:"address,omitempty"`
	Version string `json:"version,omitempty"`
	// Bonds are the gateways that the sender hears, with a number for the arrival of each: another
	// number ends everything that was between the two.
	Bonds map[string]uint64 `json:"bonds,omitempty"`
	// Bond is the highest number given so far.
	Bond uint64 `json:"bond,omitempty"`
	Bye  bool   `json:"bye,omitempty"`
}

// Join connects a gateway with its cluster and extends its switchboard. It retries unreachable
// servers until Close; wrong credentials and unreadable files are errors. Call it before anyone
// joins the switchboard.
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
		cfg:     cfg,
		log:     cfg.Log,
		bus:     b,
		name:    cfg.Name,
		begun:   time.Now(),
		peers:   make(map[string]*peer),
		odd:     make(map[string]bool),
		routes:  make(map[routeKey]*route),
		byID:    make(map[string]receiver),
		remotes: make(map[remoteKey]*remote),
		wants:   make(map[string]*namespaceInterest),
		claims:  make(map[sessionKey]*claim),
		silent:  make(map[string]*silence),
		seen:    make(map[sessionKey]remoteSession),
		news:    make(chan struct{}),
		chores:  make(chan func(), 1024),
	}
	c.ctx, c.stop = context.WithCancel(context.Background())
	for subject, take := range map[string]func([]byte, func([]byte)){
		heartbeats:                 c.takeHeartbeat,
		prefix + c.name + requests: c.handleLetters(protocol.MaxAgentMessage, c.serveLetter),
		prefix + c.name + answers:  c.handleLetters(protocol.MaxMessage, c.deliverLetter),
	} {
		if err := b.listen(subject, take); err != nil {
			c.stop()
			return nil, err
		}
	}
	cfg.Hub.SetDirectory(c)
	c.wg.Go(func() { c.runHeartbeat(wake) }) // both end with ctx
	c.wg.Go(c.runJobs)
	return c, nil
}

// Close leaves the cluster: it tells the other gateways and ends their routes and stand-ins here.
// Close the switchboard first.
func (c *Cluster) Close() {
	c.mu.Lock()
	c.closed = true
	var ends []func()
	for _, l := range c.routes {
		ends = append(ends, l.close)
	}
	for _, r := range c.remotes {
		ends = append(ends, r.close)
	}
	c.mu.Unlock()
	for _, end := range ends {
		end()
	}
	c.sendHeartbeat(true)
	c.stop()
	c.wg.Wait()
	c.bus.close()
}

// runHeartbeat sends heartbeats and drops silent gateways, until Close.
func (c *Cluster) runHeartbeat(wake <-chan struct{}) {
	tick := time.NewTicker(beatEvery)
	defer tick.Stop()
	renew := time.NewTicker(renewEvery)
	defer renew.Stop()
	look := time.NewTicker(lookEvery)
	defer look.Stop()
	for {
		c.sendHeartbeat(false)
		c.expirePeers()
		c.noteLacks()
		select {
		case <-c.ctx.Done():
			return
		case <-tick.C:
		case <-renew.C:
			c.enqueueJob(c.renewClaims)
		case <-look.C:
			c.enqueueJob(c.refillDirectory)
		case <-wake:
			if c.bus.isOnline() {
				c.enqueueJob(c.renewClaims)
			}
		}
	}
}

// runJobs runs the jobs that have to wait for the bus and must not block anything else, until
// Close.
func (c *Cluster) runJobs() {
	for {
		select {
		case <-c.ctx.Done():
			return
		case do := <-c.chores:
			do()
		}
	}
}

// enqueueJob queues a job for runJobs. A full queue drops it: claims are renewed from time to time
// anyway.
func (c *Cluster) enqueueJob(do func()) (queued bool) {
	select {
	case c.chores <- do:
		return true
	default:
		c.log.Warn("cluster: overloaded: some work is left undone until the claims are renewed")
		return false
	}
}

// sendHeartbeat says that this gateway is here, or that it closes.
func (c *Cluster) sendHeartbeat(bye bool) {
	c.beating.Lock() // keeps heartbeats in order
	defer c.beating.Unlock()
	b := beat{
		Wire:    wireVersion,
		From:    c.name,
		Address: c.cfg.Address,
		Version: c.cfg.Version,
		Bonds:   make(map[string]uint64),
		Bye:     bye,
	}
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

// takeHeartbeat handles the heartbeat of another gateway.
func (c *Cluster) takeHeartbeat(data []byte, _ func([]byte)) {
	var b beat
	if err := json.Unmarshal(data, &b); err != nil || b.From == "" || b.From == c.name {
		return
	}
	c.mu.Lock()
	if c.closed || c.hasOtherVersionLocked(b) {
		c.mu.Unlock()
		return
	}
	p, fresh := c.peers[b.From], false
	switch {
	case b.Bye:
		c.mu.Unlock()
		c.dropPeer(b.From, "it closed")
		c.mu.Lock()
		delete(c.silent, b.From) // a gateway that closes is not missing
		c.mu.Unlock()
		return
	case p == nil:
		c.bonds++
		p, fresh = &peer{bond: c.bonds, came: time.Now()}, true
		c.peers[b.From] = p
		c.forgetSilenceLocked(b)
		c.log.Info("cluster: a gateway came",
			"gateway", b.From, "address", b.Address, "version", b.Version)
	}
	p.beat, p.at = b, time.Now()
	part := func() {}
	if b.Bond >= p.theirs { // else a letter overtook the heartbeat
		part = c.startBondLocked(b.From, p, b.Bonds[c.name])
	}
	c.wakeSeekersLocked()
	c.mu.Unlock()
	part()
	if fresh {
		c.sendHeartbeat(false) // tells it of this gateway at once
	}
	c.requestLists(b.From)
}

// startBondLocked takes the number that a gateway has for this one. If the number has changed, that
// gateway lost this one meanwhile: part ends everything that was between the two. This gateway
// keeps its own number for the other: with a new one the other would lose it in turn, and both
// would go on for ever.
func (c *Cluster) startBondLocked(name string, p *peer, theirs uint64) (part func()) {
	part = func() {}
	if p.theirs != 0 && p.theirs != theirs {
		part, p.came = c.detachPeerLocked(name), time.Now()
	}
	p.theirs = theirs
	return part
}

// bondOf returns the number of another gateway's arrival, 0 for one that is not heard.
func (c *Cluster) bondOf(name string) uint64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	if p := c.peers[name]; p != nil {
		return p.bond
	}
	return 0
}

// inCurrentBond reports whether a letter belongs to the present bond of the two gateways. A letter
// that overtook its sender's heartbeat starts the new bond.
func (c *Cluster) inCurrentBond(l *letter) bool {
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
	part := c.startBondLocked(l.From, p, l.Bond)
	c.mu.Unlock()
	part()
	return true
}

// hasOtherVersionLocked reports whether a gateway speaks another version, and logs that once.
func (c *Cluster) hasOtherVersionLocked(b beat) bool {
	if b.Wire == wireVersion {
		return false
	}
	if !c.odd[b.From] {
		c.odd[b.From] = true
		c.log.Error("cluster: ignoring a gateway that speaks another version of the wire",
			"gateway", b.From, "address", b.Address, "wire", b.Wire, "own", wireVersion)
	}
	return true
}

// expirePeers drops silent gateways, and forgets sessions and lists that have had their time.
func (c *Cluster) expirePeers() {
	var silent []string
	c.mu.Lock()
	for name, p := range c.peers {
		if time.Since(p.at) > silentFor {
			silent = append(silent, name)
		}
	}
	c.mu.Unlock()
	for _, name := range silent {
		c.dropPeer(name, "it is silent")
	}
	c.forgetLost()
	c.forgetInterests()
	isOpen := func(_ sessionKey, own *claim) bool { return own.revision == 0 }
	isDue := c.bus.isOnline() && len(c.selectClaims(isOpen)) > 0
	if isDue && c.entering.CompareAndSwap(false, true) {
		if !c.enqueueJob(c.enterOpen) {
			c.entering.Store(false)
		}
	}
}

// dropPeer forgets another gateway and everything shared with it. It comes back with its next
// heartbeat.
func (c *Cluster) dropPeer(name, why string) {
	c.mu.Lock()
	p := c.peers[name]
	delete(c.peers, name)
	delete(c.odd, name)
	part := c.detachPeerLocked(name)
	if p != nil {
		c.silent[name] = &silence{
			address:  p.beat.Address,
			since:    p.at,
			sessions: make(map[sessionKey]struct{}),
		}
	}
	c.mu.Unlock()
	if p != nil {
		c.log.Warn("cluster: a gateway is gone",
			"gateway", name, "address", p.beat.Address, "cause", why)
	}
	part()
}

// detachPeerLocked collects everything this gateway shares with another one. Call the result after
// unlocking c.mu: it closes exactly what existed at this moment, and not what the two set up
// afterwards.
func (c *Cluster) detachPeerLocked(name string) (part func()) {
	var gone []*remote
	for k, r := range c.remotes {
		if k.from == name {
			gone = append(gone, r)
		}
	}
	var lost []receiver
	for _, t := range c.byID {
		if t.ownerName() == name {
			lost = append(lost, t)
		}
	}
	c.wakeSeekersLocked()
	return func() {
		for _, r := range gone {
			r.close()
		}
		for _, t := range lost {
			t.ownerLost()
		}
	}
}

// wakeSeekersLocked wakes the goroutines that seek a session.
func (c *Cluster) wakeSeekersLocked() {
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

// counters count the messages and bytes that cross.
type counters struct {
	sent, got, sentBytes, gotBytes, refused, uncontested atomic.Uint64
}
