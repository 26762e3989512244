package cluster

import (
	"fmt"
	"time"

	"terminalproxy/gateway/hub"
	"terminalproxy/protocol"
)

// interest is that in the sessions of a namespace: somebody of it is here.
type interest struct {
	count int
	since time.Time // of that
	empty time.Time // since when nobody is; zero while somebody is
	lists map[string]*list
	lacks *protocol.Incomplete // as those who watch were told last
}

// sighting is a session of another gateway, as that one tells of it.
type sighting struct {
	at         string // the gateway
	generation uint64
	info       protocol.SessionInfo
	told       time.Time
	gone       time.Time // when the gateway was lost; zero while it is there
	// under is what another gateway tells of the same session, nil for none: one of the two has lost the proxy, and will say so.
	under *sighting
}

// list is the sessions of a namespace that one other gateway has. That one tells what changes.
type list struct {
	cluster   *Cluster
	namespace string
	from      string // the gateway
	link      string
	got       uint64    // letters; of the goroutine that takes them
	full      bool      // all has been told
	told      time.Time // of the newest part while not all has
}

// attend notes who is here. The caller holds the lock.
func (c *Cluster) attend(namespace string, more int) {
	w := c.wants[namespace]
	if w == nil {
		w = &interest{since: time.Now(), lists: make(map[string]*list)}
		c.wants[namespace] = w
		for name := range c.peers {
			c.enlist(namespace, name)
		}
	}
	w.count += more
	w.empty = time.Time{}
	if w.count == 0 {
		w.empty = time.Now()
	}
}

// follow asks a gateway that came for the lists that are wanted.
func (c *Cluster) follow(name string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for namespace := range c.wants {
		c.enlist(namespace, name)
	}
}

// enlist asks a gateway for its sessions of a namespace. The caller holds the lock.
func (c *Cluster) enlist(namespace, from string) {
	w := c.wants[namespace]
	if c.closed || w.lists[from] != nil {
		return
	}
	c.count++
	l := &list{cluster: c, namespace: namespace, from: from, link: fmt.Sprintf("%s.%d", c.name, c.count)}
	w.lists[from], c.byID[l.link] = l, l
	c.wg.Go(l.ask) // ends with the call, thrice callTime at most
}

// ask asks for the list. A gateway that came may not have heard of this one yet: it is asked again.
func (l *list) ask() {
	c, end := l.cluster, time.Now().Add(callTime)
	for pause := seekFirst; ; pause *= 2 {
		r, err := c.call(c.ctx, l.from, requests, &letter{Op: opList, Link: l.link, N: 1, Namespace: l.namespace})
		switch {
		case err == nil && !r.Lost && r.Wrong == "":
			return
		case err != nil || !r.Lost || !c.alive(l.from) || time.Now().Add(pause).After(end):
			l.lost()
			return
		}
		select {
		case <-c.ctx.Done():
		case <-time.After(pause):
		}
	}
}

func (l *list) owner() string { return l.from }

// lost implements taker: the gateway is asked again when it is heard.
func (l *list) lost() {
	c := l.cluster
	c.mu.Lock()
	delete(c.byID, l.link)
	if w := c.wants[l.namespace]; w != nil && w.lists[l.from] == l {
		delete(w.lists, l.from)
	}
	var stirred []string
	for k, s := range c.seen {
		if k.namespace == l.namespace && s.at == l.from && s.gone.IsZero() {
			if s.gone = time.Now(); s.under != nil {
				s = *s.under
			}
			c.seen[k] = s
			stirred = append(stirred, k.id)
		}
		l.uncovered(k)
	}
	c.changed()
	c.mu.Unlock()
	c.cfg.Hub.Stir(l.namespace, stirred...)
}

// hear implements taker.
func (l *list) hear(from *letter) reply {
	switch {
	case from.From != l.from || from.N > l.got+1:
		l.lost()
		return reply{Lost: true}
	case from.N <= l.got:
		return reply{}
	}
	l.got = from.N
	for _, m := range from.messages {
		if changed, ok := m.(*protocol.SessionsChanged); ok {
			l.cluster.cfg.Hub.Stir(l.namespace, l.changed(changed, from.Generations)...)
		}
	}
	if from.End != "" {
		l.lost()
	}
	return reply{}
}

// changed keeps what a gateway tells of its sessions, and gives the ids of those that it was about. Where two have one, the higher generation
// counts.
func (l *list) changed(m *protocol.SessionsChanged, generations map[string]uint64) (ids []string) {
	c := l.cluster
	c.mu.Lock()
	defer c.mu.Unlock()
	if m.Full {
		for k, s := range c.seen {
			if k.namespace == l.namespace && s.at == l.from {
				c.unsee(k)
				ids = append(ids, k.id)
			}
			l.uncovered(k)
		}
	}
	l.full = l.full || !m.More // the first that it tells are all
	l.told = time.Now()
	for _, id := range m.Gone {
		ids = append(ids, id)
		k := sessionKey{l.namespace, id}
		l.uncovered(k)
		if c.seen[k].at == l.from {
			c.unsee(k)
		}
	}
	var moved []sessionKey
	for _, info := range m.Sessions {
		k := sessionKey{l.namespace, info.SessionID}
		generation := generations[info.SessionID]
		ids = append(ids, info.SessionID)
		if own := c.claims[k]; own != nil && own.Generation < generation {
			moved = append(moved, k)
		}
		if old, known := c.seen[k]; known && old.at != l.from && old.gone.IsZero() && old.generation > generation {
			continue
		}
		c.displace(k, l.from)
		seen := sighting{at: l.from, generation: generation, info: info, told: time.Now()}
		if old, known := c.seen[k]; known && old.at == l.from {
			seen.under = old.under
		} else if known && old.gone.IsZero() {
			old.under = nil
			seen.under = &old
		}
		c.seen[k] = seen
	}
	if len(moved) > 0 { // while this gateway stood still, or was not heard
		c.chore(func() {
			for _, k := range moved {
				c.moved(k)
			}
		})
	}
	c.changed()
	return ids
}

// uncovered drops what the gateway told of a session that another one tells of, too. The caller holds the lock.
func (l *list) uncovered(k sessionKey) {
	if s := l.cluster.seen[k]; k.namespace == l.namespace && s.under != nil && s.under.at == l.from {
		s.under = nil
		l.cluster.seen[k] = s
	}
}

// unsee forgets what was told of a session last. The caller holds the lock.
func (c *Cluster) unsee(k sessionKey) {
	if under := c.seen[k].under; under != nil {
		c.seen[k] = *under
		return
	}
	delete(c.seen, k)
}

// displace has the ways to a session that was elsewhere seek it again. The caller holds the lock.
func (c *Cluster) displace(k sessionKey, now string) {
	if old, known := c.seen[k]; !known || old.at == now {
		return
	}
	for key, l := range c.links {
		if key.session == k.id && l.space == k.namespace {
			if at := l.owner(); at != "" && at != now {
				l.lost()
			}
		}
	}
}

// Find implements hub.Directory.
func (c *Cluster) Find(namespace string) (all []hub.Place) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for k, s := range c.seen {
		if k.namespace == namespace {
			all = append(all, hub.Place{StartedAt: s.info.StartedAt, SessionID: k.id})
		}
	}
	return all
}

// Look implements hub.Directory.
func (c *Cluster) Look(namespace, id string) (info protocol.SessionInfo, there bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	s, there := c.seen[sessionKey{namespace, id}]
	if !there {
		return info, false
	}
	info = s.now()
	info.Moving = info.Moving && c.bus.online() // else nothing is known of where it is
	return info, true
}

// Complete implements hub.Directory: all gateways have told their sessions of a namespace, or have had the time.
func (c *Cluster) Complete(namespace string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.complete(namespace)
}

// now is what was told, as of now.
func (s sighting) now() protocol.SessionInfo {
	info, since := s.info, time.Since(s.told).Milliseconds()
	info.IdleMs += since
	if info.Blackout != nil {
		hidden := *info.Blackout
		hidden.SinceMs += since
		info.Blackout = &hidden
	}
	if !s.gone.IsZero() {
		info.State, info.Moving = protocol.StateLost, info.State != protocol.StateExited
		info.Keyboard = protocol.Keyboard{Holder: protocol.HolderUser, Epoch: info.Keyboard.Epoch}
	}
	return info
}

// complete is Complete. The caller holds the lock.
func (c *Cluster) complete(namespace string) bool {
	w := c.wants[namespace]
	if w == nil || !c.bus.online() {
		return true
	}
	if time.Since(c.begun) < meetTime {
		return false
	}
	for name, p := range c.peers {
		if w.awaits(name, p) {
			return false
		}
	}
	return true
}

// awaits reports whether a gateway is still to tell its sessions, and has not had the time.
func (w *interest) awaits(name string, p *peer) bool {
	since, l := w.since, w.lists[name]
	if l != nil && l.full {
		return false
	}
	if since.Before(p.came) {
		since = p.came
	}
	if l != nil && since.Before(l.told) {
		since = l.told
	}
	return time.Since(since) <= callTime
}

// gather waits until the list of a namespace is complete, or done.
func (c *Cluster) gather(namespace string) {
	for {
		news := c.hear()
		if c.Complete(namespace) {
			return
		}
		select {
		case <-c.ctx.Done():
			return
		case <-time.After(seekEvery): // or what is missing has had its time
		case <-news:
		}
	}
}

// hear is a channel that is closed when something changes.
func (c *Cluster) hear() <-chan struct{} {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.news
}

// forgetLost forgets the sessions of gateways that did not come back, and asks those that did for their lists.
func (c *Cluster) forgetLost() {
	c.mu.Lock()
	var forgot []sessionKey
	for k, s := range c.seen {
		if !s.gone.IsZero() && time.Since(s.gone) > lostFor {
			if quiet := c.silent[s.at]; quiet != nil && s.info.State != protocol.StateExited {
				quiet.sessions[k] = struct{}{}
			}
			c.unsee(k)
			forgot = append(forgot, k)
		}
	}
	if len(forgot) > 0 {
		c.changed()
	}
	var here []string
	for name := range c.peers {
		here = append(here, name)
	}
	c.mu.Unlock()
	for _, name := range here {
		c.follow(name)
	}
	for _, k := range forgot {
		c.cfg.Hub.Stir(k.namespace, k.id)
	}
}

// forgetInterests ends the lists of namespaces in which nobody is any more.
func (c *Cluster) forgetInterests() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for namespace, w := range c.wants {
		if w.empty.IsZero() || time.Since(w.empty) < lingerFor {
			continue
		}
		delete(c.wants, namespace)
		for _, l := range w.lists {
			delete(c.byID, l.link) // the gateway hears with its next letter that nobody wants it
		}
		for k := range c.seen {
			if k.namespace == namespace {
				delete(c.seen, k)
			}
		}
	}
}

// seek finds a session: the gateway that has it, "" for none, or that it is here. anew asks the directory first, since what was told
// may be about a gateway that has it no longer.
func (c *Cluster) seek(k sessionKey, anew bool) (at string, here bool) {
	if c.cfg.Hub.Has(k.namespace, k.id) {
		return "", true
	}
	told := c.sighted(k)
	if told != "" && !anew {
		return told, false
	}
	there, _, err := c.read(k)
	if err == nil && there.Owner != c.name && c.alive(there.Owner) {
		return there.Owner, false
	}
	return told, false
}

// sighted is the gateway that told of a session, "" if that one is gone.
func (c *Cluster) sighted(k sessionKey) string {
	c.mu.Lock()
	defer c.mu.Unlock()
	if s := c.seen[k]; s.gone.IsZero() && c.peers[s.at] != nil {
		return s.at
	}
	return ""
}

// misses reports whether the gateway of a session was lost a moment ago.
func (c *Cluster) misses(k sessionKey) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	_, known := c.seen[k]
	return known
}

// alive reports whether a gateway is heard.
func (c *Cluster) alive(name string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.peers[name] != nil
}

// host finds the gateway where a host is that starts programs, "" for none.
func (c *Cluster) host(namespace, hostKey string) string {
	c.mu.Lock()
	var names []string
	for name := range c.peers {
		names = append(names, name)
	}
	c.mu.Unlock()
	for _, name := range names {
		if r, err := c.call(c.ctx, name, requests, &letter{Op: opHost, Namespace: namespace, Host: hostKey}); err == nil && r.Yes {
			return name
		}
	}
	return ""
}
