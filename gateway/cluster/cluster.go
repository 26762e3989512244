// Package cluster joins gateways over NATS: a proxy connects to any of them, an agent, a viewer or
// a page to any other.
//
// A session belongs to one gateway, its owner: the one to which its proxy is connected. Messages of
// another gateway's participant for the session go whole to the owner, where a stand-in with the
// same rights joins the switchboard; its messages come back. So the owner serves all participants
// by the same code, and every feature of one gateway works across gateways. Letters are numbered
// and answered in both directions: each is taken once and in order, and a loss is noticed.
//
//	hub.Directory   directory    which gateway has which session: the lists of all others
//	                claims       the sessions here, and their entries in the bucket
//	hub.Relay       relay        a route for each participant and session, to the session's owner
//	                remotes      the owner's end of those routes
//	                mesh         the other gateways: heartbeats and letters, over the bus
//
// Each of the five has a lock of its own. The locks of the directory and the relay are taken first,
// then those of the claims and the mesh, then that of a route, and that of the remotes.
//
// Nothing about consent changes: the proxy alone judges input by its epoch, and a grant ends with
// the proxy's connection. Both the gateway where a participant is and the owner check its token,
// role and namespace.
package cluster

import (
	"context"
	"crypto/rand"
	"log/slog"
	"strings"
	"sync"
	"time"

	"terminalproxy/gateway/hub"
	"terminalproxy/protocol"
)

// Intervals and time limits.
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
	checkEvery = 10 * time.Second // how often to check whether the directory was lost
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
	// Admit adds a participant of another gateway to the switchboard, if its token is valid here,
	// too, and grants the member's claims.
	Admit func(m hub.Member) (Seat, error)
}

// Cluster is this gateway's part of a cluster.
type Cluster struct {
	cfg       Config
	bus       bus
	mesh      *mesh
	directory *directory
	claims    *claims // the directory's
	relay     *relay
	remotes   *remotes

	ctx  context.Context // ends with Close
	stop context.CancelFunc
	wg   sync.WaitGroup
}

// Join connects a gateway to its cluster and extends its switchboard. It retries unreachable
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

// newCluster takes part over a bus. wake holds a token when the connection changed.
func newCluster(cfg Config, b bus, wake <-chan struct{}) (*Cluster, error) {
	c := &Cluster{cfg: cfg, bus: b}
	c.ctx, c.stop = context.WithCancel(context.Background())
	c.mesh = newMesh(c.ctx, cfg, b, c)
	c.directory = newDirectory(cfg.Hub, c.mesh, &c.wg)
	c.claims = c.directory.claims
	c.relay = newRelay(c.mesh, c.directory, &c.wg)
	c.remotes = newRemotes(cfg, c.mesh, c.claims, &c.wg)
	c.directory.moved = c.relay.seekAgain
	for subject, take := range map[string]func([]byte, func([]byte)){
		heartbeats:                   c.mesh.takeHeartbeat,
		prefix + cfg.Name + requests: c.mesh.handleLetters(protocol.MaxAgentMessage, c.serveLetter),
		prefix + cfg.Name + answers:  c.mesh.handleLetters(protocol.MaxMessage, c.mesh.deliverLetter),
	} {
		if err := b.listen(subject, take); err != nil {
			c.stop()
			return nil, err
		}
	}
	cfg.Hub.JoinCluster(c.directory, c.relay)
	c.wg.Go(func() { c.runHeartbeat(wake) }) // both end with ctx
	c.wg.Go(c.claims.runJobs)
	return c, nil
}

// Close leaves the cluster: it tells the other gateways and ends their routes and stand-ins here.
// Close the switchboard first.
func (c *Cluster) Close() {
	c.mesh.close()
	c.directory.close()
	c.relay.close()
	c.remotes.close()
	c.mesh.sendHeartbeat(true)
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
	look := time.NewTicker(checkEvery)
	defer look.Stop()
	for {
		c.mesh.sendHeartbeat(false)
		c.mesh.dropSilentPeers()
		c.directory.expire()
		select {
		case <-c.ctx.Done():
			return
		case <-tick.C:
		case <-renew.C:
			c.claims.enqueueJob(c.claims.renewClaims)
		case <-look.C:
			c.claims.enqueueJob(c.claims.refillBucket)
		case <-wake:
			if c.bus.isOnline() {
				c.claims.enqueueJob(c.claims.renewClaims)
			}
		}
	}
}

// serveLetter handles a letter with a request to this gateway.
func (c *Cluster) serveLetter(l *letter) reply {
	switch l.Op {
	case opHost:
		return reply{Yes: c.cfg.Hub.HasHost(l.Namespace, l.Host)}
	case opMoved:
		c.claims.enqueueJob(func() {
			c.claims.checkMoved(sessionKey{l.Namespace, l.Session})
		})
		return reply{}
	}
	return c.remotes.serveLetter(l)
}

// onHeartbeat implements meshEvents.
func (c *Cluster) onHeartbeat(b beat, fresh bool) {
	if fresh {
		c.directory.forgetSilence(b)
	}
	c.directory.wakeSeekers()
	c.directory.requestLists(b.From)
}

// peerGone implements meshEvents.
func (c *Cluster) peerGone(last peer) { c.directory.noteSilence(last) }

// peerClosed implements meshEvents: a gateway that closes is not missing.
func (c *Cluster) peerClosed(name string) { c.directory.forgetSilence(beat{From: name}) }

// peersChanged implements meshEvents.
func (c *Cluster) peersChanged() { c.directory.wakeSeekers() }

// remotesOf implements meshEvents.
func (c *Cluster) remotesOf(name string) []*remote { return c.remotes.ofGateway(name) }
