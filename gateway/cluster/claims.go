package cluster

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"terminalproxy/protocol"
)

// maxRaces bounds how often a claim is tried again that others make at the same time, and raceWait
// is half the first pause.
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

// resumeHash returns the part of a resume key that other gateways may know.
func resumeHash(key string) string {
	if key == "" {
		return ""
	}
	sum := sha256.Sum256([]byte(key))
	return base64.RawStdEncoding.EncodeToString(sum[:])
}

func (k sessionKey) entryName() string { return token(k.namespace) + "." + token(k.id) }

// ClaimSession implements hub.Directory. The first gateway that opens a session has it; a gateway
// that brings its resume key takes it over, under the next generation. If the directory does not
// answer, opening goes on without it.
func (c *Cluster) ClaimSession(namespace string, m *protocol.SessionOpen) *protocol.Error {
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
		c.stats.uncontested.Add(1)
		c.log.Warn("cluster: a session opens without the directory",
			"session", m.SessionID, "cause", err)
	}
	c.mu.Lock()
	c.claims[k] = got
	c.mu.Unlock()
	c.tellMoved(before, k)
	return nil
}

// tellMoved tells the gateway that had a session to read the directory. A gateway that misses this
// reads the directory when it reaches the cluster again.
func (c *Cluster) tellMoved(before string, k sessionKey) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if before == "" || before == c.name || c.peers[before] == nil || c.closed {
		return
	}
	c.wg.Go(func() { // ends with the call, twice callTime at most
		moved := &letter{Op: opMoved, Namespace: k.namespace, Session: k.id}
		_, _ = c.callPeer(c.ctx, before, requests, moved)
	})
}

// errOwned means that another gateway has the session.
var errOwned = errors.New("the session is another's")

// writeClaim enters a session into the directory for this gateway, and returns the owner before.
// With any error but errOwned the claim stands, and must be written later.
func (c *Cluster) writeClaim(k sessionKey, resume string) (got *claim, before string, err error) {
	c.mu.Lock()
	old := c.claims[k]
	c.mu.Unlock()
	got = &claim{entry: entry{Owner: c.name, Generation: 1, Resume: resume}}
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
			there.Owner != "" && resume == "" && there.Owner != c.name:
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
func (c *Cluster) readEntry(k sessionKey) (there entry, revision uint64, err error) {
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

// AnnounceSession implements hub.Directory.
func (c *Cluster) AnnounceSession(namespace, id string, here bool) {
	k := sessionKey{namespace, id}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.wakeSeekersLocked()
	mine := c.claims[k]
	switch {
	case mine == nil, here:
	default:
		delete(c.claims, k)
		if mine.revision > 0 {
			c.enqueueJob(func() { c.removeEntry(k, mine) })
		}
	}
	if !here {
		return
	}
	for l, link := range c.routes {
		if l.session == id && link.space == namespace {
			link.ownerLost() // the route finds the session here
		}
	}
}

// removeEntry removes an entry from the directory if it is still this gateway's.
func (c *Cluster) removeEntry(k sessionKey, mine *claim) {
	err := c.bus.removeKey(k.entryName(), mine.revision)
	if err != nil && !errors.Is(err, errTaken) {
		c.log.Info("cluster: an entry of the directory stays until it expires",
			"session", k.id, "cause", err)
	}
}

// renewClaims writes the claims that are missing from the directory, renews the others, and gives
// up those that other gateways took over meanwhile.
func (c *Cluster) renewClaims() {
	for k, own := range c.selectClaims(func(sessionKey, *claim) bool { return true }) {
		if c.ctx.Err() != nil || !c.bus.isOnline() {
			return
		}
		_ = c.renewClaim(k, own) // the next renewal tries again
	}
}

// refillDirectory writes the claims into a directory that was lost and made anew.
func (c *Cluster) refillDirectory() {
	if c.bus.directoryRecreated() {
		c.log.Warn("cluster: the directory was lost: this gateway enters its sessions again")
		c.renewClaims()
	}
}

// renewClaim writes one claim again. Another gateway may renew one of the same name at the same
// time: renewClaim then reads the entry again, since the next renewal may be far off.
func (c *Cluster) renewClaim(k sessionKey, own *claim) (err error) {
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
func (c *Cluster) renewClaimOnce(k sessionKey, own *claim) error {
	there, revision, err := c.readEntry(k)
	switch {
	case err != nil:
		return err
	case there.Owner != "" && there.Owner != c.name &&
		!own.outranks(there, c.cfg.Hub.IsRunning(k.namespace, k.id)):
		c.releaseSession(k, own, there)
		return nil
	}
	next := *own
	if there.Owner != c.name {
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
	switch c.claims[k] {
	case own:
		c.claims[k] = &next
	case nil: // the session ended meanwhile
		c.enqueueJob(func() { c.removeEntry(k, &next) })
	}
	return nil
}

// outranks reports whether this claim is right although the directory has another gateway's. The
// session's proxy must be here, and either the claim could not be written, and brought the other's
// resume key; or it was written, and another gateway took the name while the directory was lost.
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
func (c *Cluster) checkMoved(k sessionKey) {
	c.mu.Lock()
	own := c.claims[k]
	c.mu.Unlock()
	if own != nil {
		_ = c.renewClaim(k, own) // the next such message tries again
	}
}

// releaseSession gives up a session that another gateway has. Lists keep it until that gateway
// tells of it.
func (c *Cluster) releaseSession(k sessionKey, own *claim, there entry) {
	info, known := c.cfg.Hub.Info(k.namespace, k.id)
	c.mu.Lock()
	still := c.claims[k] == own
	if still {
		delete(c.claims, k)
		if old, seen := c.seen[k]; known && (!seen || !old.gone.IsZero()) {
			c.seen[k] = remoteSession{
				at:         there.Owner,
				generation: there.Generation,
				info:       info,
				told:       time.Now(),
				gone:       time.Now(),
			}
		}
	}
	c.mu.Unlock()
	if still {
		c.cfg.Hub.RemoveMoved(k.namespace, k.id)
	}
}

// enterOpen writes the claims that could not be written when their sessions opened, until the
// directory rejects one.
func (c *Cluster) enterOpen() {
	defer c.entering.Store(false)
	isOpen := func(_ sessionKey, own *claim) bool { return own.revision == 0 }
	for k, own := range c.selectClaims(isOpen) {
		if c.ctx.Err() != nil || c.renewClaim(k, own) != nil {
			return
		}
	}
}

// selectClaims returns the claims for which isMeant is true.
func (c *Cluster) selectClaims(isMeant func(sessionKey, *claim) bool) map[sessionKey]*claim {
	c.mu.Lock()
	defer c.mu.Unlock()
	out := make(map[sessionKey]*claim)
	for k, own := range c.claims {
		if isMeant(k, own) {
			out[k] = own
		}
	}
	return out
}

// addGenerations adds the generations of the sessions in a list to a letter.
func (c *Cluster) addGenerations(namespace string, list *protocol.SessionsChanged, l *letter) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if l.Generations == nil {
		l.Generations = make(map[string]uint64, len(list.Sessions))
	}
	for _, info := range list.Sessions {
		if own := c.claims[sessionKey{namespace, info.SessionID}]; own != nil {
			l.Generations[info.SessionID] = own.Generation
		}
	}
}
