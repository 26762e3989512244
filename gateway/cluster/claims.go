package cluster

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"time"

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
func (d *directory) ClaimSession(namespace string, m *protocol.SessionOpen) *protocol.Error {
	k := sessionKey{namespace, m.SessionID}
	got, before, err := d.writeClaim(k, resumeHash(m.ResumeKey))
	switch {
	case errors.Is(err, errOwned):
		return &protocol.Error{
			RequestID: m.ID,
			Code:      protocol.CodeForbidden,
			Message:   fmt.Sprintf("session %q already exists, with another resume key", m.SessionID),
		}
	case err != nil:
		d.uncontested.Add(1)
		d.log.Warn("cluster: a session opens without the directory",
			"session", m.SessionID, "cause", err)
	}
	d.mu.Lock()
	d.claims[k] = got
	d.mu.Unlock()
	d.tellMoved(before, k)
	return nil
}

// tellMoved tells the gateway that had a session to read the directory. A gateway that misses this
// reads the directory when it reaches the cluster again.
func (d *directory) tellMoved(before string, k sessionKey) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if before == "" || before == d.mesh.name() || !d.mesh.isHeard(before) || d.closed {
		return
	}
	d.wg.Go(func() { // ends with the call, twice callTime at most
		moved := &letter{Op: opMoved, Namespace: k.namespace, Session: k.id}
		_, _ = d.mesh.callPeer(d.ctx, before, requests, moved)
	})
}

// errOwned means that another gateway has the session.
var errOwned = errors.New("the session is another's")

// writeClaim enters a session into the directory for this gateway, and returns the owner before.
// With any error but errOwned the claim stands, and must be written later.
func (d *directory) writeClaim(k sessionKey, resume string) (got *claim, before string, err error) {
	d.mu.Lock()
	old := d.claims[k]
	d.mu.Unlock()
	got = &claim{entry: entry{Owner: d.mesh.name(), Generation: 1, Resume: resume}}
	if old != nil {
		got.Generation = old.Generation
	}
	for try := range maxRaces {
		if try > 0 { // a server that keeps the directory may lag behind
			time.Sleep(raceWait << try)
		}
		there, revision, err := d.readEntry(k)
		switch {
		case err != nil:
			return got, "", err
		case there.Owner != "" && there.Resume != resume,
			there.Owner != "" && resume == "" && there.Owner != d.mesh.name():
			return nil, "", errOwned
		}
		got.Generation = max(got.Generation, there.Generation) + 1
		value, err := json.Marshal(got.entry)
		if err != nil {
			return got, "", err
		}
		got.revision, err = d.bus.write(k.entryName(), value, revision)
		if !errors.Is(err, errTaken) {
			return got, there.Owner, err
		}
	}
	return got, "", errTaken
}

// readEntry reads an entry of the directory; a missing one has no owner.
func (d *directory) readEntry(k sessionKey) (there entry, revision uint64, err error) {
	if !d.bus.isOnline() {
		return there, 0, errOffline
	}
	value, revision, err := d.bus.read(k.entryName())
	switch {
	case errors.Is(err, errNoKey):
		return there, revision, nil
	case err != nil:
		return there, 0, err
	}
	return there, revision, json.Unmarshal(value, &there)
}

// AnnounceSession implements hub.Directory.
func (d *directory) AnnounceSession(namespace, id string, here bool) {
	k := sessionKey{namespace, id}
	d.mu.Lock()
	d.wakeSeekersLocked()
	mine := d.claims[k]
	if mine != nil && !here {
		delete(d.claims, k)
		if mine.revision > 0 {
			d.enqueueJob(func() { d.removeEntry(k, mine) })
		}
	}
	d.mu.Unlock()
	if here {
		d.moved(k, "")
	}
}

// removeEntry removes an entry from the directory if it is still this gateway's.
func (d *directory) removeEntry(k sessionKey, mine *claim) {
	err := d.bus.removeKey(k.entryName(), mine.revision)
	if err != nil && !errors.Is(err, errTaken) {
		d.log.Info("cluster: an entry of the directory stays until it expires",
			"session", k.id, "cause", err)
	}
}

// renewClaims writes the claims that are missing from the directory, renews the others, and gives
// up those that other gateways took over meanwhile.
func (d *directory) renewClaims() {
	for k, own := range d.allClaims() {
		if d.ctx.Err() != nil || !d.bus.isOnline() {
			return
		}
		_ = d.renewClaim(k, own) // the next renewal tries again
	}
}

// refillBucket writes the claims into a bucket that was lost and made anew.
func (d *directory) refillBucket() {
	if d.bus.directoryRecreated() {
		d.log.Warn("cluster: the directory was lost: this gateway enters its sessions again")
		d.renewClaims()
	}
}

// renewClaim writes one claim again. Another gateway may renew one of the same name at the same
// time: renewClaim then reads the entry again, since the next renewal may be far off.
func (d *directory) renewClaim(k sessionKey, own *claim) (err error) {
	for try := range maxRaces {
		if try > 0 {
			time.Sleep(raceWait << try)
		}
		if err = d.renewClaimOnce(k, own); !errors.Is(err, errTaken) {
			return err
		}
	}
	return err
}

// renewClaimOnce is one try of renewClaim. errTaken: the entry has changed meanwhile.
func (d *directory) renewClaimOnce(k sessionKey, own *claim) error {
	there, revision, err := d.readEntry(k)
	switch {
	case err != nil:
		return err
	case there.Owner != "" && there.Owner != d.mesh.name() &&
		!own.outranks(there, d.hub.IsRunning(k.namespace, k.id)):
		d.releaseSession(k, own, there)
		return nil
	}
	next := *own
	if there.Owner != d.mesh.name() {
		next.Generation = max(own.Generation, there.Generation) + 1
	}
	value, err := json.Marshal(next.entry)
	if err != nil {
		return err
	}
	if next.revision, err = d.bus.write(k.entryName(), value, revision); err != nil {
		return err
	}
	d.tellMoved(there.Owner, k)
	d.mu.Lock()
	defer d.mu.Unlock()
	switch d.claims[k] {
	case own:
		d.claims[k] = &next
	case nil: // the session ended meanwhile
		d.enqueueJob(func() { d.removeEntry(k, &next) })
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
func (d *directory) checkMoved(k sessionKey) {
	d.mu.Lock()
	own := d.claims[k]
	d.mu.Unlock()
	if own != nil {
		_ = d.renewClaim(k, own) // the next such message tries again
	}
}

// releaseSession gives up a session that another gateway has. Lists keep it until that gateway
// tells of it.
func (d *directory) releaseSession(k sessionKey, own *claim, there entry) {
	info, known := d.hub.Info(k.namespace, k.id)
	d.mu.Lock()
	still := d.claims[k] == own
	if still {
		delete(d.claims, k)
		if old, seen := d.seen[k]; known && (!seen || !old.gone.IsZero()) {
			d.seen[k] = remoteSession{
				at:         there.Owner,
				generation: there.Generation,
				info:       info,
				told:       time.Now(),
				gone:       time.Now(),
			}
		}
	}
	d.mu.Unlock()
	if still {
		d.hub.RemoveMoved(k.namespace, k.id)
	}
}

// enterOpen writes the claims that could not be written when their sessions opened, until the
// directory rejects one.
func (d *directory) enterOpen() {
	defer d.entering.Store(false)
	for k, own := range d.openClaims() {
		if d.ctx.Err() != nil || d.renewClaim(k, own) != nil {
			return
		}
	}
}

// allClaims returns the claims of this gateway.
func (d *directory) allClaims() map[sessionKey]*claim {
	d.mu.Lock()
	defer d.mu.Unlock()
	return maps.Clone(d.claims)
}

// openClaims returns the claims that are not in the bucket.
func (d *directory) openClaims() map[sessionKey]*claim {
	all := d.allClaims()
	maps.DeleteFunc(all, func(_ sessionKey, own *claim) bool { return own.revision != 0 })
	return all
}

// addGenerations adds the generations of the sessions in a list to a letter.
func (d *directory) addGenerations(namespace string, list *protocol.SessionsChanged, l *letter) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if l.Generations == nil {
		l.Generations = make(map[string]uint64, len(list.Sessions))
	}
	for _, info := range list.Sessions {
		if own := d.claims[sessionKey{namespace, info.SessionID}]; own != nil {
			l.Generations[info.SessionID] = own.Generation
		}
	}
}
