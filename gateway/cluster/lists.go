package cluster

import (
	"fmt"
	"time"

	"terminalproxy/gateway/hub"
	"terminalproxy/protocol"
)

// namespaceInterest records that a namespace has participants here, and the lists that they need.
type namespaceInterest struct {
	count int
	since time.Time // when the first participant came
	empty time.Time // when the last participant left; zero while one is here
	lists map[string]*list
	lacks *protocol.Incomplete // as last told to watchers
}

// remoteSession is a session of another gateway, as that gateway tells of it.
type remoteSession struct {
	at         string // the gateway
	generation uint64
	info       protocol.SessionInfo
	told       time.Time
	gone       time.Time // when the gateway was lost; zero while it is heard
	// under is the word of another gateway on the same session, or nil: one of the two has lost the
	// proxy, and will say so.
	under *remoteSession
}

// list mirrors the sessions of a namespace that one other gateway has. That gateway sends the
// changes.
type list struct {
	cluster   *Cluster
	namespace string
	from      string // the gateway
	link      string
	got       uint64    // letters; owned by the goroutine that takes them
	full      bool      // the whole list has come
	told      time.Time // when the newest part of an incomplete list came
}

// addInterestLocked changes the number of a namespace's participants here.
func (c *Cluster) addInterestLocked(namespace string, more int) {
	w := c.wants[namespace]
	if w == nil {
		w = &namespaceInterest{since: time.Now(), lists: make(map[string]*list)}
		c.wants[namespace] = w
		for name := range c.peers {
			c.requestListLocked(namespace, name)
		}
	}
	w.count += more
	w.empty = time.Time{}
	if w.count == 0 {
		w.empty = time.Now()
	}
}

// requestLists asks a gateway for the lists of all namespaces here.
func (c *Cluster) requestLists(name string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for namespace := range c.wants {
		c.requestListLocked(namespace, name)
	}
}

// requestListLocked asks a gateway for its sessions of a namespace.
func (c *Cluster) requestListLocked(namespace, from string) {
	w := c.wants[namespace]
	if c.closed || w.lists[from] != nil {
		return
	}
	c.count++
	l := &list{
		cluster:   c,
		namespace: namespace,
		from:      from,
		link:      fmt.Sprintf("%s.%d", c.name, c.count),
	}
	w.lists[from], c.byID[l.link] = l, l
	c.wg.Go(l.requestSessions) // ends with the call, thrice callTime at most
}

// requestSessions asks for the list. A gateway that just came may not have heard of this one yet:
// requestSessions asks again.
func (l *list) requestSessions() {
	c, end := l.cluster, time.Now().Add(callTime)
	for pause := seekFirst; ; pause *= 2 {
		question := &letter{Op: opList, Link: l.link, N: 1, Namespace: l.namespace}
		r, err := c.callPeer(c.ctx, l.from, requests, question)
		switch {
		case err == nil && !r.Lost && r.Wrong == "":
			return
		case err != nil || !r.Lost || !c.isHeard(l.from) || time.Now().Add(pause).After(end):
			l.ownerLost()
			return
		}
		select {
		case <-c.ctx.Done():
		case <-time.After(pause):
		}
	}
}

func (l *list) ownerName() string { return l.from }

// ownerLost implements receiver: the gateway is asked again when it is heard.
func (l *list) ownerLost() {
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
		l.dropShadowedLocked(k)
	}
	c.wakeSeekersLocked()
	c.mu.Unlock()
	c.cfg.Hub.NoteDirectoryChange(l.namespace, stirred...)
}

// takeLetter implements receiver.
func (l *list) takeLetter(from *letter) reply {
	switch {
	case from.From != l.from || from.N > l.got+1:
		l.ownerLost()
		return reply{Lost: true}
	case from.N <= l.got:
		return reply{}
	}
	l.got = from.N
	for _, m := range from.messages {
		if changed, ok := m.(*protocol.SessionsChanged); ok {
			l.cluster.cfg.Hub.NoteDirectoryChange(
				l.namespace,
				l.recordSessions(changed, from.Generations)...,
			)
		}
	}
	if from.End != "" {
		l.ownerLost()
	}
	return reply{}
}

// recordSessions records a gateway's word on its sessions, and returns their ids. If two gateways
// have one session, the higher generation counts.
func (l *list) recordSessions(
	m *protocol.SessionsChanged,
	generations map[string]uint64,
) (ids []string) {
	c := l.cluster
	c.mu.Lock()
	defer c.mu.Unlock()
	if m.Full {
		for k, s := range c.seen {
			if k.namespace == l.namespace && s.at == l.from {
				c.forgetSightingLocked(k)
				ids = append(ids, k.id)
			}
			l.dropShadowedLocked(k)
		}
	}
	l.full = l.full || !m.More // the first letters carry the whole list
	l.told = time.Now()
	for _, id := range m.Gone {
		ids = append(ids, id)
		k := sessionKey{l.namespace, id}
		l.dropShadowedLocked(k)
		if c.seen[k].at == l.from {
			c.forgetSightingLocked(k)
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
		old, known := c.seen[k]
		isOther := known && old.at != l.from && old.gone.IsZero()
		if isOther && old.generation > generation {
			continue
		}
		c.rerouteLinksLocked(k, l.from)
		seen := remoteSession{at: l.from, generation: generation, info: info, told: time.Now()}
		if old, known := c.seen[k]; known && old.at == l.from {
			seen.under = old.under
		} else if known && old.gone.IsZero() {
			old.under = nil
			seen.under = &old
		}
		c.seen[k] = seen
	}
	if len(moved) > 0 { // they moved while this gateway was stopped or cut off
		c.enqueueJob(func() {
			for _, k := range moved {
				c.checkMoved(k)
			}
		})
	}
	c.wakeSeekersLocked()
	return ids
}

// dropShadowedLocked drops this gateway's word on a session of which another one tells, too.
func (l *list) dropShadowedLocked(k sessionKey) {
	s := l.cluster.seen[k]
	if k.namespace == l.namespace && s.under != nil && s.under.at == l.from {
		s.under = nil
		l.cluster.seen[k] = s
	}
}

// forgetSightingLocked forgets the newest word on a session.
func (c *Cluster) forgetSightingLocked(k sessionKey) {
	if under := c.seen[k].under; under != nil {
		c.seen[k] = *under
		return
	}
	delete(c.seen, k)
}

// rerouteLinksLocked makes the routes of a session that was elsewhere seek it again.
func (c *Cluster) rerouteLinksLocked(k sessionKey, now string) {
	if old, known := c.seen[k]; !known || old.at == now {
		return
	}
	for key, l := range c.routes {
		if key.session == k.id && l.space == k.namespace {
			if at := l.ownerName(); at != "" && at != now {
				l.ownerLost()
			}
		}
	}
}

// FindSessions implements hub.Directory.
func (c *Cluster) FindSessions(namespace string) (all []hub.Place) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for k, s := range c.seen {
		if k.namespace == namespace {
			all = append(all, hub.Place{StartedAt: s.info.StartedAt, SessionID: k.id})
		}
	}
	return all
}

// FindSession implements hub.Directory.
func (c *Cluster) FindSession(namespace, id string) (info protocol.SessionInfo, there bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	s, there := c.seen[sessionKey{namespace, id}]
	if !there {
		return info, false
	}
	info = s.currentInfo()
	info.Moving = info.Moving && c.bus.isOnline() // offline, its place is unknown
	return info, true
}

// IsComplete implements hub.Directory: all gateways have told their sessions of a namespace, or
// have had the time.
func (c *Cluster) IsComplete(namespace string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.isCompleteLocked(namespace)
}

// currentInfo returns the session's info with its ages as of now.
func (s remoteSession) currentInfo() protocol.SessionInfo {
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

// isCompleteLocked is IsComplete.
func (c *Cluster) isCompleteLocked(namespace string) bool {
	w := c.wants[namespace]
	if w == nil || !c.bus.isOnline() {
		return true
	}
	if time.Since(c.begun) < meetTime {
		return false
	}
	for name, p := range c.peers {
		if w.isAwaiting(name, p) {
			return false
		}
	}
	return true
}

// isAwaiting reports whether a gateway has yet to tell its sessions, and still has time for that.
func (w *namespaceInterest) isAwaiting(name string, p *peer) bool {
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

// waitForLists waits until the lists of a namespace are complete, or have had their time.
func (c *Cluster) waitForLists(namespace string) {
	for {
		news := c.changeSignal()
		if c.IsComplete(namespace) {
			return
		}
		select {
		case <-c.ctx.Done():
			return
		case <-time.After(seekEvery): // the missing lists may have had their time
		case <-news:
		}
	}
}

// changeSignal returns a channel that is closed at the next change.
func (c *Cluster) changeSignal() <-chan struct{} {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.news
}

// forgetLost forgets the sessions of gateways that did not come back, and asks the others for their
// lists.
func (c *Cluster) forgetLost() {
	c.mu.Lock()
	var forgot []sessionKey
	for k, s := range c.seen {
		if !s.gone.IsZero() && time.Since(s.gone) > lostFor {
			if quiet := c.silent[s.at]; quiet != nil && s.info.State != protocol.StateExited {
				quiet.sessions[k] = struct{}{}
			}
			c.forgetSightingLocked(k)
			forgot = append(forgot, k)
		}
	}
	if len(forgot) > 0 {
		c.wakeSeekersLocked()
	}
	var here []string
	for name := range c.peers {
		here = append(here, name)
	}
	c.mu.Unlock()
	for _, name := range here {
		c.requestLists(name)
	}
	for _, k := range forgot {
		c.cfg.Hub.NoteDirectoryChange(k.namespace, k.id)
	}
}

// forgetInterests ends the lists of namespaces without participants.
func (c *Cluster) forgetInterests() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for namespace, w := range c.wants {
		if w.empty.IsZero() || time.Since(w.empty) < lingerFor {
			continue
		}
		delete(c.wants, namespace)
		for _, l := range w.lists {
			delete(c.byID, l.link) // the answer to the gateway's next letter ends its part
		}
		for k := range c.seen {
			if k.namespace == namespace {
				delete(c.seen, k)
			}
		}
	}
}

// seekSession returns the gateway that has a session, or "", and whether this one has it. anew
// reads the directory first, since the lists may name a gateway that has lost the session.
func (c *Cluster) seekSession(k sessionKey, anew bool) (at string, here bool) {
	if c.cfg.Hub.HasSession(k.namespace, k.id) {
		return "", true
	}
	told := c.sightedAt(k)
	if told != "" && !anew {
		return told, false
	}
	there, _, err := c.readEntry(k)
	if err == nil && there.Owner != c.name && c.isHeard(there.Owner) {
		return there.Owner, false
	}
	return told, false
}

// sightedAt returns the gateway that told of a session, "" if that one is gone.
func (c *Cluster) sightedAt(k sessionKey) string {
	c.mu.Lock()
	defer c.mu.Unlock()
	if s := c.seen[k]; s.gone.IsZero() && c.peers[s.at] != nil {
		return s.at
	}
	return ""
}

// wasSeen reports whether another gateway has, or had a moment ago, the session.
func (c *Cluster) wasSeen(k sessionKey) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	_, known := c.seen[k]
	return known
}

// isHeard reports whether a gateway is heard.
func (c *Cluster) isHeard(name string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.peers[name] != nil
}

// findHost returns the gateway of a host that starts programs, or "".
func (c *Cluster) findHost(namespace, hostKey string) string {
	c.mu.Lock()
	var names []string
	for name := range c.peers {
		names = append(names, name)
	}
	c.mu.Unlock()
	for _, name := range names {
		question := &letter{Op: opHost, Namespace: namespace, Host: hostKey}
		if r, err := c.callPeer(c.ctx, name, requests, question); err == nil && r.Yes {
			return name
		}
	}
	return ""
}
