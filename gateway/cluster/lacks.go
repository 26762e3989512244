package cluster

import (
	"fmt"
	"maps"
	"time"

	"terminalproxy/protocol"
)

// silentKept bounds how long lists say that sessions of a silent gateway are missing.
const silentKept = 10 * time.Minute

// silence records another gateway that went silent. It may still run with its sessions,
// disconnected.
type silence struct {
	address  string
	since    time.Time
	sessions map[sessionKey]struct{} // its sessions that were listed, and are forgotten now
}

// noteSilence records that a gateway went silent.
func (d *directory) noteSilence(last peer) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.silent[last.beat.From] = &silence{
		address:  last.beat.Address,
		since:    last.at,
		sessions: make(map[sessionKey]struct{}),
	}
}

// forgetSilence forgets the silence of a gateway that came, perhaps under another name.
func (d *directory) forgetSilence(b beat) {
	d.mu.Lock()
	defer d.mu.Unlock()
	maps.DeleteFunc(d.silent, func(name string, s *silence) bool {
		return name == b.From || s.address == b.Address && b.Address != ""
	})
}

// Incomplete implements hub.Directory.
func (d *directory) Incomplete(namespace string) *protocol.Incomplete {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.incompleteLocked(namespace)
}

// incompleteLocked is Incomplete. While the bus changes its server, the other gateways are still
// known.
func (d *directory) incompleteLocked(namespace string) *protocol.Incomplete {
	d.noteOfflineLocked()
	switch {
	case d.offline.IsZero():
		return d.silentPeersLocked(namespace)
	case d.mesh.countPeers() > 0 && time.Since(d.offline) <= silentFor:
		return nil
	}
	return &protocol.Incomplete{
		Since: d.offline.UnixMilli(),
		Why: "this gateway cannot reach the others because no NATS server answers: it knows " +
			"only its own sessions",
	}
}

// noteOfflineLocked records when the bus went out of reach.
func (d *directory) noteOfflineLocked() {
	if d.bus.isOnline() {
		d.offline = time.Time{}
	} else if d.offline.IsZero() {
		d.offline = time.Now()
	}
}

// silentPeersLocked reports that silent gateways may have sessions that no other gateway has.
func (d *directory) silentPeersLocked(namespace string) *protocol.Incomplete {
	n, since := 0, time.Now()
	for _, s := range d.silent {
		missing := 0
		for k := range s.sessions {
			_, elsewhere := d.seen[k]
			_, here := d.claims.generationOf(k)
			if k.namespace == namespace && !elsewhere && !here {
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
	sessions := "1 of its sessions is missing"
	if n > 1 {
		sessions = fmt.Sprintf("%d of its sessions are missing", n)
	}
	return &protocol.Incomplete{
		Since: since.UnixMilli(),
		Why:   "a gateway of the cluster does not answer: " + sessions,
	}
}

// notifyIncomplete notifies the watchers of lists in which sessions went missing, or that are
// complete again.
func (d *directory) notifyIncomplete() {
	d.mu.Lock()
	d.noteOfflineLocked()
	for name, s := range d.silent {
		if time.Since(s.since) > silentKept {
			delete(d.silent, name)
		}
	}
	var differ []string
	for namespace, w := range d.interests {
		now := d.incompleteLocked(namespace)
		if (now == nil) != (w.incomplete == nil) || now != nil && *now != *w.incomplete {
			differ = append(differ, namespace)
		}
		w.incomplete = now
	}
	d.mu.Unlock()
	for _, namespace := range differ {
		d.hub.NoteDirectoryChange(namespace)
	}
}
