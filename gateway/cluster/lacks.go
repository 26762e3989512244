package cluster

import (
	"fmt"
	"time"

	"terminalproxy/protocol"
)

// silentKept is how long it is said that the sessions of a silent gateway are missing.
const silentKept = 10 * time.Minute

// silence is that of another gateway, which may live on, cut off, with its sessions.
type silence struct {
	address  string
	since    time.Time
	sessions map[sessionKey]struct{} // its own that lists had, and that were forgotten
}

// hearAgain forgets the silence of a gateway that came, perhaps under another name. The caller holds the lock.
func (c *Cluster) hearAgain(b beat) {
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
	return c.lacks(namespace)
}

// lacks is Incomplete. While the bus changes its server the others are still known. The caller holds the lock.
func (c *Cluster) lacks(namespace string) *protocol.Incomplete {
	c.noteOffline()
	switch {
	case c.offline.IsZero():
		return c.silentLacks(namespace)
	case len(c.peers) > 0 && time.Since(c.offline) <= silentFor:
		return nil
	}
	return &protocol.Incomplete{
		Since: c.offline.UnixMilli(),
		Why:   "this gateway does not reach the others, as no NATS server answers it: only its own sessions are known",
	}
}

// noteOffline notes since when the bus is not reached. The caller holds the lock.
func (c *Cluster) noteOffline() {
	if c.bus.online() {
		c.offline = time.Time{}
	} else if c.offline.IsZero() {
		c.offline = time.Now()
	}
}

// silentLacks says that silent gateways may have sessions that are nowhere else. The caller holds the lock.
func (c *Cluster) silentLacks(namespace string) *protocol.Incomplete {
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
	sessions := "1 session is missing, which was there"
	if n > 1 {
		sessions = fmt.Sprintf("%d sessions are missing, which were there", n)
	}
	return &protocol.Incomplete{Since: since.UnixMilli(), Why: "a gateway of the cluster does not answer: " + sessions}
}

// noteLacks has those told who watch lists in which something began to be missing, or is no longer.
func (c *Cluster) noteLacks() {
	c.mu.Lock()
	c.noteOffline()
	for name, s := range c.silent {
		if time.Since(s.since) > silentKept {
			delete(c.silent, name)
		}
	}
	var differ []string
	for namespace, w := range c.wants {
		now := c.lacks(namespace)
		if (now == nil) != (w.lacks == nil) || now != nil && *now != *w.lacks {
			differ = append(differ, namespace)
		}
		w.lacks = now
	}
	c.mu.Unlock()
	for _, namespace := range differ {
		c.cfg.Hub.Stir(namespace)
	}
}
