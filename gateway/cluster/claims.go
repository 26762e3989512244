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

// maxRaces bounds how often a claim is tried again that others make at the same time, and raceWait is half the first pause.
const (
	maxRaces = 5
	raceWait = 5 * time.Millisecond
)

// entry is what the directory holds of a session.
type entry struct {
	Owner      string `json:"owner"`
	Generation uint64 `json:"generation"`
	// Resume is the hash of the resume key, "" for a session that nobody can take over.
	Resume string `json:"resume,omitempty"`
}

// claim is an entry of this gateway's.
type claim struct {
	entry
	revision uint64 // 0 while it is not in the directory
}

// resumeHash says of a resume key what others may know.
func resumeHash(key string) string {
	if key == "" {
		return ""
	}
	sum := sha256.Sum256([]byte(key))
	return base64.RawStdEncoding.EncodeToString(sum[:])
}

func (k sessionKey) name() string { return token(k.namespace) + "." + token(k.id) }

// Own implements hub.Directory. The first to open a session has it; whoever brings its resume key takes it over, under the next
// generation. Where the directory does not answer, opening goes on without it.
func (c *Cluster) Own(namespace string, m *protocol.SessionOpen) *protocol.Error {
	k := sessionKey{namespace, m.SessionID}
	got, before, err := c.claim(k, resumeHash(m.ResumeKey))
	switch {
	case errors.Is(err, errOwned):
		return &protocol.Error{
			RequestID: m.ID, Code: protocol.CodeForbidden, Message: fmt.Sprintf("session %q already exists, with another resume key", m.SessionID),
		}
	case err != nil:
		c.stats.uncontested.Add(1)
		c.log.Warn("cluster: a session opens without the directory", "session", m.SessionID, "cause", err)
	}
	c.mu.Lock()
	c.claims[k] = got
	c.mu.Unlock()
	c.tellMoved(before, k)
	return nil
}

// tellMoved tells the gateway that had a session to look into the directory. One that does not hear it looks there by itself when it
// reaches the cluster again.
func (c *Cluster) tellMoved(before string, k sessionKey) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if before == "" || before == c.name || c.peers[before] == nil || c.closed {
		return
	}
	c.wg.Go(func() { // ends with the call, twice callTime at most
		_, _ = c.call(c.ctx, before, requests, &letter{Op: opMoved, Namespace: k.namespace, Session: k.id})
	})
}

// errOwned says that somebody else has the session.
var errOwned = errors.New("the session is another's")

// claim writes a session into the directory as this gateway's, and tells who had it before. With an error that is not errOwned the
// claim stands, and is to be written later.
func (c *Cluster) claim(k sessionKey, resume string) (got *claim, before string, err error) {
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
		there, revision, err := c.read(k)
		switch {
		case err != nil:
			return got, "", err
		case there.Owner != "" && there.Resume != resume, there.Owner != "" && resume == "" && there.Owner != c.name:
			return nil, "", errOwned
		}
		got.Generation = max(got.Generation, there.Generation) + 1
		value, err := json.Marshal(got.entry)
		if err != nil {
			return got, "", err
		}
		got.revision, err = c.bus.write(k.name(), value, revision)
		if !errors.Is(err, errTaken) {
			return got, there.Owner, err
		}
	}
	return got, "", errTaken
}

// read is an entry of the directory; it has no owner if there is none.
func (c *Cluster) read(k sessionKey) (there entry, revision uint64, err error) {
	if !c.bus.online() {
		return there, 0, errOffline
	}
	value, revision, err := c.bus.read(k.name())
	switch {
	case errors.Is(err, errNoKey):
		return there, revision, nil
	case err != nil:
		return there, 0, err
	}
	return there, revision, json.Unmarshal(value, &there)
}

// Announce implements hub.Directory.
func (c *Cluster) Announce(namespace, id string, here bool) {
	k := sessionKey{namespace, id}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.changed()
	mine := c.claims[k]
	switch {
	case mine == nil, here:
	default:
		delete(c.claims, k)
		if mine.revision > 0 {
			c.chore(func() { c.release(k, mine) })
		}
	}
	if !here {
		return
	}
	for l, link := range c.links {
		if l.session == id && link.space == namespace {
			link.lost() // it finds the session here
		}
	}
}

// release takes an entry out of the directory that is still this gateway's.
func (c *Cluster) release(k sessionKey, mine *claim) {
	if err := c.bus.remove(k.name(), mine.revision); err != nil && !errors.Is(err, errTaken) {
		c.log.Info("cluster: an entry of the directory stays until its time is over", "session", k.id, "cause", err)
	}
}

// reclaim writes the claims that are not in the directory, renews the others, and gives up what others took over meanwhile.
func (c *Cluster) reclaim() {
	for k, own := range c.claimsThat(func(sessionKey, *claim) bool { return true }) {
		if c.ctx.Err() != nil || !c.bus.online() {
			return
		}
		_ = c.renew(k, own) // it is renewed again later
	}
}

// refill writes the claims into a directory that was lost and made anew.
func (c *Cluster) refill() {
	if c.bus.renewed() {
		c.log.Warn("cluster: the directory was lost: this gateway enters its sessions anew")
		c.reclaim()
	}
}

// renew writes one claim again. Another gateway may renew one of the same name at the same time: the entry is read again then, since
// nobody may come back to it for long.
func (c *Cluster) renew(k sessionKey, own *claim) (err error) {
	for try := range maxRaces {
		if try > 0 {
			time.Sleep(raceWait << try)
		}
		if err = c.renewOnce(k, own); !errors.Is(err, errTaken) {
			return err
		}
	}
	return err
}

// renewOnce is renew, but for errTaken: the entry has changed meanwhile.
func (c *Cluster) renewOnce(k sessionKey, own *claim) error {
	there, revision, err := c.read(k)
	switch {
	case err != nil:
		return err
	case there.Owner != "" && there.Owner != c.name && !own.follows(there, c.cfg.Hub.Running(k.namespace, k.id)):
		c.giveUp(k, own, there)
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
	if next.revision, err = c.bus.write(k.name(), value, revision); err != nil {
		return err
	}
	c.tellMoved(there.Owner, k)
	c.mu.Lock()
	defer c.mu.Unlock()
	switch c.claims[k] {
	case own:
		c.claims[k] = &next
	case nil: // the session ended meanwhile
		c.chore(func() { c.release(k, &next) })
	}
	return nil
}

// follows reports whether a claim is the right one, though another gateway's stands in the directory: its proxy is here, and either it could
// not be written, and brought the other's resume key; or it was written, and somebody took the name while the directory was lost.
func (own *claim) follows(there entry, running bool) bool {
	if !running || own.Resume == "" {
		return false
	}
	if own.Resume == there.Resume {
		return own.revision == 0
	}
	return own.revision != 0 && there.Generation <= own.Generation
}

// moved looks whether another gateway has a session of this one's, as it says.
func (c *Cluster) moved(k sessionKey) {
	c.mu.Lock()
	own := c.claims[k]
	c.mu.Unlock()
	if own != nil {
		_ = c.renew(k, own) // the next that tells of it has it tried again
	}
}

// giveUp gives up a session that is another gateway's. Lists keep it until that gateway tells of it.
func (c *Cluster) giveUp(k sessionKey, own *claim, there entry) {
	info, known := c.cfg.Hub.Info(k.namespace, k.id)
	c.mu.Lock()
	still := c.claims[k] == own
	if still {
		delete(c.claims, k)
		if old, seen := c.seen[k]; known && (!seen || !old.gone.IsZero()) {
			c.seen[k] = sighting{at: there.Owner, generation: there.Generation, info: info, told: time.Now(), gone: time.Now()}
		}
	}
	c.mu.Unlock()
	if still {
		c.cfg.Hub.Move(k.namespace, k.id)
	}
}

// enterOpen writes the claims that could not be written when their sessions opened. It ends with the first that the directory does not take.
func (c *Cluster) enterOpen() {
	defer c.entering.Store(false)
	for k, own := range c.claimsThat(func(_ sessionKey, own *claim) bool { return own.revision == 0 }) {
		if c.ctx.Err() != nil || c.renew(k, own) != nil {
			return
		}
	}
}

// claimsThat are the claims of which a question is answered with yes.
func (c *Cluster) claimsThat(isMeant func(sessionKey, *claim) bool) map[sessionKey]*claim {
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

// generations adds to a letter those of the sessions in a list.
func (c *Cluster) generations(namespace string, list *protocol.SessionsChanged, l *letter) {
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
