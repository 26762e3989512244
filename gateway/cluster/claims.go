package cluster

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"sync"
	"sync/atomic"
	"time"

	"terminalproxy/gateway/hub"
	"terminalproxy/protocol"
)

const (
	// maxRaces bounds the tries of a claim that other gateways write at the same time, and raceWait
	// is half the first pause.
	maxRaces = 5
	raceWait = 5 * time.Millisecond
)

// entry is the directory's record of a session.
type entry struct {
	Owner      string `json:"owner"`
	Generation uint64 `json:"generation"`
	// Resume is the hash of the resume key, "" for a session that cannot be taken over.
	Resume string `json:"resume,omitempty"`
}

// claim is an entry of this gateway.
type claim struct {
	entry
	revision uint64 // 0 until it is in the directory
}

// claims are the sessions of this gateway, with their state in the bucket. The bucket decides which
// gateway has a session; writes that wait for it run one after another.
type claims struct {
	hub  *hub.Hub
	log  *slog.Logger
	bus  bus
	mesh *mesh
	ctx  context.Context // ends with Close
	wg   *sync.WaitGroup
	// release gives up a session that another gateway has
	release func(k sessionKey, own *claim, there entry)

	entering    atomic.Bool // enterOpen is queued or running
	uncontested atomic.Uint64
	jobs        chan func() // for runJobs; they may wait for the bus

	mu     sync.Mutex
	closed bool
	all    map[sessionKey]*claim
}

func newClaims(h *hub.Hub, m *mesh, wg *sync.WaitGroup) *claims {
	return &claims{
		hub:  h,
		log:  m.log,
		bus:  m.bus,
		mesh: m,
		ctx:  m.ctx,
		wg:   wg,
		jobs: make(chan func(), 1024),
		all:  make(map[sessionKey]*claim),
	}
}

// resumeHash returns the part of a resume key that other gateways may know.
func resumeHash(key string) string {
	if key == "" {
		return ""
	}
	sum := sha256.Sum256([]byte(key))
	return base64.RawStdEncoding.EncodeToString(sum[:])
}

func (k sessionKey) entryName() string { return token(k.namespace) + "." + token(k.id) }

// claimSession enters a session that opens here. The first gateway that opens it has it; a gateway
// that presents its resume key takes it over, under the next generation. If the bucket does not
// answer, the session opens without it.
func (c *claims) claimSession(namespace string, m *protocol.SessionOpen) *protocol.Error {
	k := sessionKey{namespace, m.SessionID}
	got, before, err := c.writeClaim(k, resumeHash(m.ResumeKey))
	switch {
	case errors.Is(err, errOwned):
		return &protocol.Error{
			RequestID: m.ID,
			Code:      protocol.CodeForbidden,
			Message:   fmt.Sprintf("session %q already exists, with another resume key", m.SessionID),
		}
	case err != nil:
		c.uncontested.Add(1)
		c.log.Warn("cluster: opening a session without the directory",
			"session", m.SessionID, "cause", err)
	}
	c.mu.Lock()
	c.all[k] = got
	c.mu.Unlock()
	c.tellMoved(before, k)
	return nil
}

// tellMoved tells the gateway that had a session to read the directory. A gateway that misses this
// reads the directory when it reaches the cluster again.
func (c *claims) tellMoved(before string, k sessionKey) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if before == "" || before == c.mesh.name() || !c.mesh.isKnown(before) || c.closed {
		return
	}
	c.wg.Go(func() { // ends with the call, twice callTime at most
		moved := &letter{Op: opMoved, Namespace: k.namespace, Session: k.id}
		_, _ = c.mesh.callPeer(c.ctx, before, requests, moved)
	})
}

// errOwned means that another gateway has the session.
var errOwned = errors.New("another gateway has the session")

// writeClaim enters a session into the directory for this gateway, and returns the owner before.
// After any error but errOwned the claim stays, and must be written later.
func (c *claims) writeClaim(k sessionKey, resume string) (got *claim, before string, err error) {
	c.mu.Lock()
	old := c.all[k]
	c.mu.Unlock()
	got = &claim{entry: entry{Owner: c.mesh.name(), Generation: 1, Resume: resume}}
	if old != nil {
		got.Generation = old.Generation
	}
	for try := range maxRaces {
		if try > 0 { // a server that keeps the directory may lag behind
			time.Sleep(raceWait << try)
		}
		there, revision, err := c.readEntry(k)
		switch {
		case err != nil:
			return got, "", err
		case there.Owner != "" && there.Resume != resume,
			there.Owner != "" && resume == "" && there.Owner != c.mesh.name():
			return nil, "", errOwned
		}
		got.Generation = max(got.Generation, there.Generation) + 1
		value, err := json.Marshal(got.entry)
		if err != nil {
			return got, "", err
		}
		got.revision, err = c.bus.write(k.entryName(), value, revision)
		if !errors.Is(err, errTaken) {
			return got, there.Owner, err
		}
	}
	return got, "", errTaken
}

// readEntry reads an entry of the directory; a missing one has no owner.
func (c *claims) readEntry(k sessionKey) (there entry, revision uint64, err error) {
	if !c.bus.isOnline() {
		return there, 0, errOffline
	}
	value, revision, err := c.bus.read(k.entryName())
	switch {
	case errors.Is(err, errNoKey):
		return there, revision, nil
	case err != nil:
		return there, 0, err
	}
	return there, revision, json.Unmarshal(value, &there)
}

// endClaim forgets the claim of a session that has ended, and removes its entry.
func (c *claims) endClaim(k sessionKey) {
	c.mu.Lock()
	defer c.mu.Unlock()
	mine := c.all[k]
	if mine == nil {
		return
	}
	delete(c.all, k)
	if mine.revision > 0 {
		c.enqueueJob(func() { c.removeEntry(k, mine) })
	}
}

// dropClaim forgets a claim, if it is still the newest one of its session.
func (c *claims) dropClaim(k sessionKey, own *claim) (dropped bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.all[k] != own {
		return false
	}
	delete(c.all, k)
	return true
}

// generationOf returns the generation of a session that is here.
func (c *claims) generationOf(k sessionKey) (generation uint64, here bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if own := c.all[k]; own != nil {
		return own.Generation, true
	}
	return 0, false
}

// removeEntry removes an entry from the directory if it is still this gateway's.
func (c *claims) removeEntry(k sessionKey, mine *claim) {
	err := c.bus.removeKey(k.entryName(), mine.revision)
	if err != nil && !errors.Is(err, errTaken) {
		c.log.Info("cluster: an entry of the directory stays until it expires",
			"session", k.id, "cause", err)
	}
}

// renewClaims writes the claims that are missing from the directory, renews the others, and gives
// up those that other gateways took over meanwhile.
func (c *claims) renewClaims() {
	for k, own := range c.allClaims() {
		if c.ctx.Err() != nil || !c.bus.isOnline() {
			return
		}
		_ = c.renewClaim(k, own) // the next renewal tries again
	}
}

// refillBucket writes the claims into a bucket that was lost and recreated.
func (c *claims) refillBucket() {
	if c.bus.directoryRecreated() {
		c.log.Warn("cluster: the directory was lost: this gateway enters its sessions again")
		c.renewClaims()
	}
}

// renewClaim writes one claim again. Another gateway may renew one of the same name at the same
// time: renewClaim then reads the entry again, since the next renewal may be far off.
func (c *claims) renewClaim(k sessionKey, own *claim) (err error) {
	for try := range maxRaces {
		if try > 0 {
			time.Sleep(raceWait << try)
		}
		if err = c.renewClaimOnce(k, own); !errors.Is(err, errTaken) {
			return err
		}
	}
	return err
}

// renewClaimOnce is one try of renewClaim. errTaken: the entry has changed meanwhile.
func (c *claims) renewClaimOnce(k sessionKey, own *claim) error {
	there, revision, err := c.readEntry(k)
	switch {
	case err != nil:
		return err
	case there.Owner != "" && there.Owner != c.mesh.name() &&
		!own.outranks(there, c.hub.IsRunning(k.namespace, k.id)):
		c.release(k, own, there)
		return nil
	}
	next := *own
	if there.Owner != c.mesh.name() {
		next.Generation = max(own.Generation, there.Generation) + 1
	}
	value, err := json.Marshal(next.entry)
	if err != nil {
		return err
	}
	if next.revision, err = c.bus.write(k.entryName(), value, revision); err != nil {
		return err
	}
	c.tellMoved(there.Owner, k)
	c.mu.Lock()
	defer c.mu.Unlock()
	switch c.all[k] {
	case own:
		c.all[k] = &next
	case nil: // the session ended meanwhile
		c.enqueueJob(func() { c.removeEntry(k, &next) })
	}
	return nil
}

// outranks reports whether this claim wins although the directory has another gateway's. The
// session's proxy must be here, and either the claim could not be written, and presented the
// other's resume key; or it was written, and another gateway took the name while the directory was
// lost.
func (own *claim) outranks(there entry, running bool) bool {
	if !running || own.Resume == "" {
		return false
	}
	if own.Resume == there.Resume {
		return own.revision == 0
	}
	return own.revision != 0 && there.Generation <= own.Generation
}

// checkMoved reads the directory after another gateway said that it has a session of this one.
func (c *claims) checkMoved(k sessionKey) {
	c.mu.Lock()
	own := c.all[k]
	c.mu.Unlock()
	if own != nil {
		_ = c.renewClaim(k, own) // the next such message tries again
	}
}

// enterMissing enters the sessions that could not be entered as they opened, once the bus is back.
func (c *claims) enterMissing() {
	if c.bus.isOnline() && len(c.openClaims()) > 0 && c.entering.CompareAndSwap(false, true) {
		if !c.enqueueJob(c.enterOpen) {
			c.entering.Store(false)
		}
	}
}

// enterOpen writes the claims that could not be written when their sessions opened, until the
// directory rejects one.
func (c *claims) enterOpen() {
	defer c.entering.Store(false)
	for k, own := range c.openClaims() {
		if c.ctx.Err() != nil || c.renewClaim(k, own) != nil {
			return
		}
	}
}

// allClaims returns the claims of this gateway.
func (c *claims) allClaims() map[sessionKey]*claim {
	c.mu.Lock()
	defer c.mu.Unlock()
	return maps.Clone(c.all)
}

// openClaims returns the claims that are not in the bucket.
func (c *claims) openClaims() map[sessionKey]*claim {
	all := c.allClaims()
	maps.DeleteFunc(all, func(_ sessionKey, own *claim) bool { return own.revision != 0 })
	return all
}

// addGenerations adds the generations of the sessions in a list to a letter.
func (c *claims) addGenerations(namespace string, list *protocol.SessionsChanged, l *letter) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if l.Generations == nil {
		l.Generations = make(map[string]uint64, len(list.Sessions))
	}
	for _, info := range list.Sessions {
		if own := c.all[sessionKey{namespace, info.SessionID}]; own != nil {
			l.Generations[info.SessionID] = own.Generation
		}
	}
}

// close stops starting calls.
func (c *claims) close() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.closed = true
}

// runJobs runs the jobs that have to wait for the bus and must not block anything else, until
// Close.
func (c *claims) runJobs() {
	for {
		select {
		case <-c.ctx.Done():
			return
		case do := <-c.jobs:
			do()
		}
	}
}

// enqueueJob queues a job for runJobs. A full queue drops it: claims are renewed from time to time
// anyway.
func (c *claims) enqueueJob(do func()) (queued bool) {
	select {
	case c.jobs <- do:
		return true
	default:
		c.log.Warn("cluster: overloaded: some work waits until the claims are renewed")
		return false
	}
}
