package cluster

import (
	"slices"
	"time"

	"terminalproxy/gateway/hub"
	"terminalproxy/protocol"
)

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

// FindSessions implements hub.Directory.
func (d *directory) FindSessions(namespace string, after hub.Place) []hub.Place {
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.Clone(d.orders[namespace].After(after))
}

// recordSightingLocked records the newest word on a session, and gives the session its place.
func (d *directory) recordSightingLocked(k sessionKey, s remoteSession) {
	old, known := d.seen[k]
	d.seen[k] = s
	if known && old.info.StartedAt == s.info.StartedAt {
		return
	}
	if known {
		d.removePlaceLocked(k, old)
	}
	if d.orders[k.namespace] == nil {
		d.orders[k.namespace] = &hub.Order{}
	}
	d.orders[k.namespace].Insert(placeOf(k, s))
}

// dropSightingLocked forgets all words on a session.
func (d *directory) dropSightingLocked(k sessionKey) {
	if s, known := d.seen[k]; known {
		d.removePlaceLocked(k, s)
		delete(d.seen, k)
	}
}

func (d *directory) removePlaceLocked(k sessionKey, s remoteSession) {
	order := d.orders[k.namespace]
	if order.Remove(placeOf(k, s)); order.Len() == 0 {
		delete(d.orders, k.namespace)
	}
}

// placeOf returns the place of a session in the lists.
func placeOf(k sessionKey, s remoteSession) hub.Place {
	return hub.Place{StartedAt: s.info.StartedAt, SessionID: k.id}
}

// FindSession implements hub.Directory.
func (d *directory) FindSession(namespace, id string) (info protocol.SessionInfo, there bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	s, there := d.seen[sessionKey{namespace, id}]
	if !there {
		return info, false
	}
	info = s.currentInfo()
	info.Moving = info.Moving && d.bus.isOnline() // offline, its place is unknown
	return info, true
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

// seekSession returns the gateway that has a session, or "", and whether this one has it. anew
// reads the directory first, since the lists may name a gateway that has lost the session.
func (d *directory) seekSession(k sessionKey, anew bool) (at string, here bool) {
	if d.hub.HasSession(k.namespace, k.id) {
		return "", true
	}
	told := d.sightedAt(k)
	if told != "" && !anew {
		return told, false
	}
	there, _, err := d.claims.readEntry(k)
	if err == nil && there.Owner != d.mesh.name() && d.mesh.isKnown(there.Owner) {
		return there.Owner, false
	}
	return told, false
}

// countElsewhere returns the number of sessions that other gateways have.
func (d *directory) countElsewhere() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return len(d.seen)
}

// sightedAt returns the gateway that told of a session, "" if that one is gone.
func (d *directory) sightedAt(k sessionKey) string {
	d.mu.Lock()
	defer d.mu.Unlock()
	if s := d.seen[k]; s.gone.IsZero() && d.mesh.isKnown(s.at) {
		return s.at
	}
	return ""
}

// wasSeen reports whether another gateway has, or had a moment ago, the session.
func (d *directory) wasSeen(k sessionKey) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	_, known := d.seen[k]
	return known
}

// forgetSightingLocked forgets the newest word on a session.
func (d *directory) forgetSightingLocked(k sessionKey) {
	if under := d.seen[k].under; under != nil {
		d.recordSightingLocked(k, *under)
		return
	}
	d.dropSightingLocked(k)
}

// forgetLost forgets the sessions of gateways that did not come back, and asks the others for their
// lists.
func (d *directory) forgetLost() {
	d.mu.Lock()
	var forgot []sessionKey
	for k, s := range d.seen {
		if !s.gone.IsZero() && time.Since(s.gone) > lostFor {
			if quiet := d.silent[s.at]; quiet != nil && s.info.State != protocol.StateExited {
				quiet.sessions[k] = struct{}{}
			}
			d.forgetSightingLocked(k)
			forgot = append(forgot, k)
		}
	}
	if len(forgot) > 0 {
		d.wakeSeekersLocked()
	}
	d.mu.Unlock()
	for name := range d.mesh.arrivals() {
		d.requestLists(name)
	}
	for _, k := range forgot {
		d.hub.NoteDirectoryChange(k.namespace, k.id)
	}
}
