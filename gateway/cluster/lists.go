package cluster

import (
	"time"

	"terminalproxy/protocol"
)

// namespaceInterest records that a namespace has participants here, and the lists that they need.
type namespaceInterest struct {
	count      int
	since      time.Time // when the first participant came
	empty      time.Time // when the last participant left; zero while one is here
	lists      map[string]*list
	incomplete *protocol.Incomplete // as last reported to watchers
}

// list mirrors the sessions of a namespace that one other gateway has. That gateway sends the
// changes.
type list struct {
	directory *directory
	namespace string
	from      string // the gateway
	link      string
	got       uint64    // letters; owned by the goroutine that takes them
	full      bool      // the whole list has arrived
	told      time.Time // when the newest part of an incomplete list came
}

// addInterest changes the number of a namespace's participants here.
func (d *directory) addInterest(namespace string, more int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	w := d.interests[namespace]
	if w == nil {
		w = &namespaceInterest{since: time.Now(), lists: make(map[string]*list)}
		d.interests[namespace] = w
		for name := range d.mesh.arrivals() {
			d.requestListLocked(namespace, name)
		}
	}
	w.count += more
	w.empty = time.Time{}
	if w.count == 0 {
		w.empty = time.Now()
	}
}

// requestLists asks a gateway for the lists of all namespaces here.
func (d *directory) requestLists(name string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for namespace := range d.interests {
		d.requestListLocked(namespace, name)
	}
}

// requestListLocked asks a gateway for its sessions of a namespace.
func (d *directory) requestListLocked(namespace, from string) {
	w := d.interests[namespace]
	if d.closed || w.lists[from] != nil {
		return
	}
	l := &list{
		directory: d,
		namespace: namespace,
		from:      from,
		link:      d.mesh.newNumber(),
	}
	w.lists[from] = l
	d.mesh.addReceiver(l.link, l)
	d.wg.Go(l.requestSessions) // ends with the call, thrice callTime at most
}

// requestSessions asks for the list, and asks again of a gateway that does not know this one yet.
func (l *list) requestSessions() {
	d, end := l.directory, time.Now().Add(callTime)
	for pause := seekFirst; ; pause *= 2 {
		question := &letter{Op: opList, Link: l.link, N: 1, Namespace: l.namespace}
		r, err := d.mesh.callPeer(d.ctx, l.from, requests, question)
		switch {
		case err == nil && !r.Lost && r.Wrong == "":
			return
		case err != nil || !r.Lost || !d.mesh.isKnown(l.from) || time.Now().Add(pause).After(end):
			l.ownerLost()
			return
		}
		select {
		case <-d.ctx.Done():
		case <-time.After(pause):
		}
	}
}

func (l *list) ownerName() string { return l.from }

// ownerLost implements receiver: the gateway is asked again after its next heartbeat.
func (l *list) ownerLost() {
	d := l.directory
	d.mu.Lock()
	d.mesh.removeReceiver(l.link)
	if w := d.interests[l.namespace]; w != nil && w.lists[l.from] == l {
		delete(w.lists, l.from)
	}
	var stirred []string
	for k, s := range d.seen {
		if k.namespace == l.namespace && s.at == l.from && s.gone.IsZero() {
			if s.gone = time.Now(); s.under != nil {
				s = *s.under
			}
			d.recordSightingLocked(k, s)
			stirred = append(stirred, k.id)
		}
		l.dropShadowedLocked(k)
	}
	d.wakeSeekersLocked()
	d.mu.Unlock()
	d.hub.NoteDirectoryChange(l.namespace, stirred...)
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
			l.directory.hub.NoteDirectoryChange(
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

// recordSessions records a gateway's report of its sessions, and returns their ids.
func (l *list) recordSessions(
	m *protocol.SessionsChanged, generations map[string]uint64,
) (ids []string) {
	d := l.directory
	d.mu.Lock()
	ids = l.removeGoneLocked(m)
	l.full = l.full || !m.More // the first letters carry the whole list
	l.told = time.Now()
	var moved, lost []sessionKey
	for _, info := range m.Sessions {
		k := sessionKey{l.namespace, info.SessionID}
		ids = append(ids, k.id)
		if own, here := d.claims.generationOf(k); here && own < generations[k.id] {
			lost = append(lost, k)
		}
		if l.recordSessionLocked(k, info, generations[k.id]) {
			moved = append(moved, k)
		}
	}
	d.wakeSeekersLocked()
	d.mu.Unlock()
	for _, k := range moved {
		d.moved(k, l.from)
	}
	if len(lost) > 0 { // while this gateway was stopped or cut off
		d.claims.enqueueJob(func() {
			for _, k := range lost {
				d.claims.checkMoved(k)
			}
		})
	}
	return ids
}

// removeGoneLocked forgets the sessions that a gateway no longer has, and returns their ids.
func (l *list) removeGoneLocked(m *protocol.SessionsChanged) (ids []string) {
	d := l.directory
	if m.Full {
		for k, s := range d.seen {
			if k.namespace == l.namespace && s.at == l.from {
				d.forgetSightingLocked(k)
				ids = append(ids, k.id)
			}
			l.dropShadowedLocked(k)
		}
	}
	for _, id := range m.Gone {
		ids = append(ids, id)
		k := sessionKey{l.namespace, id}
		l.dropShadowedLocked(k)
		if d.seen[k].at == l.from {
			d.forgetSightingLocked(k)
		}
	}
	return ids
}

// recordSessionLocked records a gateway's report of one session, and reports whether another
// gateway had it before. If two gateways report it, the higher generation counts.
func (l *list) recordSessionLocked(
	k sessionKey, info protocol.SessionInfo, generation uint64,
) (moved bool) {
	d := l.directory
	old, known := d.seen[k]
	isOther := known && old.at != l.from
	if isOther && old.gone.IsZero() && old.generation > generation {
		return false
	}
	seen := remoteSession{at: l.from, generation: generation, info: info, told: time.Now()}
	if known && !isOther {
		seen.under = old.under
	} else if known && old.gone.IsZero() {
		old.under = nil
		seen.under = &old
	}
	d.recordSightingLocked(k, seen)
	return isOther
}

// dropShadowedLocked drops this gateway's report of a session that another one reports, too.
func (l *list) dropShadowedLocked(k sessionKey) {
	s := l.directory.seen[k]
	if k.namespace == l.namespace && s.under != nil && s.under.at == l.from {
		s.under = nil
		l.directory.seen[k] = s // in the same place
	}
}

// IsComplete implements hub.Directory: all gateways have reported their sessions of a namespace, or
// their time is over.
func (d *directory) IsComplete(namespace string) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.isCompleteLocked(namespace)
}

// isCompleteLocked is IsComplete.
func (d *directory) isCompleteLocked(namespace string) bool {
	w := d.interests[namespace]
	if w == nil || !d.bus.isOnline() {
		return true
	}
	if time.Since(d.begun) < meetTime {
		return false
	}
	for name, came := range d.mesh.arrivals() {
		if w.isAwaiting(name, came) {
			return false
		}
	}
	return true
}

// isAwaiting reports whether a gateway has yet to report its sessions, and still has time for that.
func (w *namespaceInterest) isAwaiting(name string, came time.Time) bool {
	since, l := w.since, w.lists[name]
	if l != nil && l.full {
		return false
	}
	if since.Before(came) {
		since = came
	}
	if l != nil && since.Before(l.told) {
		since = l.told
	}
	return time.Since(since) <= callTime
}

// waitForLists waits until the lists of a namespace are complete, or their time is over.
func (d *directory) waitForLists(namespace string) {
	for {
		news := d.changeSignal()
		if d.IsComplete(namespace) {
			return
		}
		select {
		case <-d.ctx.Done():
			return
		case <-time.After(seekEvery): // the time of the missing lists may be over
		case <-news:
		}
	}
}

// forgetInterests ends the lists of namespaces without participants.
func (d *directory) forgetInterests() {
	d.mu.Lock()
	defer d.mu.Unlock()
	for namespace, w := range d.interests {
		if w.empty.IsZero() || time.Since(w.empty) < lingerFor {
			continue
		}
		delete(d.interests, namespace)
		for _, l := range w.lists {
			d.mesh.removeReceiver(l.link) // the answer to the gateway's next letter ends its part
		}
		for k := range d.seen {
			if k.namespace == namespace {
				d.dropSightingLocked(k)
			}
		}
	}
}
