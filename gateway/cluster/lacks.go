package cluster

import (
	"fmt"
	"time"

	"terminalproxy/protocol"
)

// silentKept bounds how long lists say that sessions of a silent gateway are missing.
const silentKept = 10 * time.Minute

// silence records another gateway that went silent. It may live on, cut off, with its sessions.
type silence struct {
	address  string
	since    time.Time
	sessions map[sessionKey]struct{} // its sessions that were listed, and are forgotten now
}

// forgetSilenceLocked forgets the silence of a gateway that came, perhaps under another name.
func (c *Cluster) forgetSilenceLocked(b beat) {
	delete(c.silent, b.From)
	for name, s := range c.silent {
		if s.address == b.Address && b.Address != "" {
			delete(c.silent, name)
		}
	}
}

// Incomplete implements hub.Directory.
func (c *Cluster) Incomplete(namespace string) *protocol.Incomplete {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.incompleteLocked(namespace)
}

// incompleteLocked is Incomplete. While the bus changes its server, the other gateways are still
// known.
func (c *Cluster) incompleteLocked(namespace string) *protocol.Incomplete {
	c.noteOfflineLocked()
	switch {
	case c.offline.IsZero():
		return c.silentLacksLocked(namespace)
	case len(c.peers) > 0 && time.Since(c.offline) <= silentFor:
		return nil
	}
	return &protocol.Incomplete{
		Since: c.offline.UnixMilli(),
		Why: "this gateway cannot reach the others because no NATS server answers: it knows " +
			"only its own sessions",
	}
}

// noteOfflineLocked records when the bus went out of reach.
func (c *Cluster) noteOfflineLocked() {
	if c.bus.isOnline() {
		c.offline = time.Time{}
	} else if c.offline.IsZero() {
		c.offline = time.Now()
	}
}

// silentLacksLocked says that silent gateways may have sessions that no other gateway has.
func (c *Cluster) silentLacksLocked(namespace string) *protocol.Incomplete {
	n, since := 0, time.Now()
	for _, s := range c.silent {
		missing := 0
		for k := range s.sessions {
			_, elsewhere := c.seen[k]
			if k.namespace == namespace && !elsewhere && c.claims[k] == nil {
				missing++
			}
		}
		if n += missing; missing > 0 && s.since.Before(since) {
			since = s.since
		}
	}
	if n == 0 {
		return nil
	}
	sessions := "1 session that was there is missing"
	if n > 1 {
		sessions = fmt.Sprintf("%d sessions that were there are missing", n)
	}
	return &protocol.Incomplete{
		Since: since.UnixMilli(),
		Why:   "a gateway of the cluster does not answer: " + sessions,
	}
}

// noteLacks notifies the watchers of lists in which sessions went missing, or are complete again.
func (c *Cluster) noteLacks() {
	c.mu.Lock()
	c.noteOfflineLocked()
	for name, s := range c.silent {
		if time.Since(s.since) > silentKept {
			delete(c.silent, name)
		}
	}
	var differ []string
	for namespace, w := range c.wants {
		now := c.incompleteLocked(namespace)
		if (now == nil) != (w.lacks == nil) || now != nil && *now != *w.lacks {
			differ = append(differ, namespace)
		}
		w.lacks = now
	}
	c.mu.Unlock()
	for _, namespace := range differ {
		c.cfg.Hub.NoteDirectoryChange(namespace)
	}
}
