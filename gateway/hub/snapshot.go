package hub

import (
	"time"

	"terminalproxy/protocol"
)

// storeSnapshot stores a snapshot and offers it to the subscribers.
func (h *Hub) storeSnapshot(s *session, m protocol.SnapshotPart) {
	var last *protocol.Snapshot
	if s.synced {
		last = s.newest
	}
	full, ok := m.Complete(last)
	if !ok {
		// The proxy sends all rows after every open, so the fault is the proxy's. It is reported
		// once, and reads still reach it.
		if s.synced {
			s.owner.out.put(&protocol.Error{
				Code: protocol.CodeBadMessage, Field: "since",
				Message: "the snapshot of " + s.key.id + " continues another one than the newest here: " +
					"send all rows",
			})
		}
		s.synced = false
		return
	}
	// With a screen, full is a copy. Without one it is the proxy's own message, which may be sent
	// again and must not be shared.
	if full.Screen != nil {
		full.Share(s.newest.WithRows(full))
	}
	if !h.heldScreens.chargeSnapshot(s, full) {
		h.log.Warn("a proxy is cut off", s.owner.logAttr(), "session", s.key.id, "cause", ErrHeavy)
		s.owner.out.end(ErrHeavy)
		return
	}
	s.setNewest(full)
	for _, sub := range s.subs.followers {
		sub.offerNewest()
	}
}

// setNewest records a snapshot and the facts of the session that it brings.
func (s *session) setNewest(full *protocol.Snapshot) {
	s.newest, s.newestAt, s.synced = full, time.Now(), true
	s.info.Seq = full.Seq
	if full.Screen != nil {
		s.info.Title, s.info.Progress, s.info.Alt = full.Screen.Title, full.Screen.Progress, full.Screen.Alt
		s.info.Cols, s.info.Rows = full.Screen.Cols, full.Screen.Rows
	}
	s.info.Foreground, s.info.Directory = full.Foreground, full.Directory
	s.info.UsedAt = max(s.info.UsedAt, full.UsedAt)
	s.info.Muted, s.info.Kept, s.info.DetachedAt = full.Muted, full.Kept, full.DetachedAt
	s.setHidden(full.Blackout)
	if full.Keyboard != nil {
		s.keyboard = *full.Keyboard
	}
}

// chargeSnapshot accounts for the snapshot that becomes the newest one of a session. It reports
// false, and changes nothing, if the snapshot grows and the token would have more than maxHeld.
func (h held) chargeSnapshot(s *session, m *protocol.Snapshot) bool {
	token, size := s.owner.member.TokenID, snapshotSize(m)
	before := 0
	if s.screenCharge.token == token {
		before = s.screenCharge.bytes
	}
	if size > before && size > h.roomFor(s.screenCharge, token) {
		return false
	}
	h.setCharge(&s.screenCharge, token, size)
	return true
}

// snapshotSize returns the number of bytes of a snapshot that grow with the screen.
func snapshotSize(m *protocol.Snapshot) int {
	size := len(m.Content)
	if m.Screen != nil {
		for _, line := range m.Screen.Lines {
			size += len(line)
		}
	}
	return size
}
