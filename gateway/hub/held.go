package hub

import (
	"errors"

	"terminalproxy/protocol"
)

// maxHeld bounds the bytes of the newest screens and texts that the sessions of one proxy token
// have here, so that one token cannot use up the gateway's memory. 64 full screens of 120 by 40
// take 1 MiB. The user's own proxies have no token and no bound.
const maxHeld = 32 << 20

// ErrHeavy says that a token reached maxHeld.
var ErrHeavy = errors.New("the screens of this token's sessions take more than 32 MiB: " +
	"make their windows smaller, or end some")

// held counts the bytes of the newest snapshots by token. Guarded by Hub.mu.
type held map[string]int

// chargeSnapshot accounts for the snapshot that becomes the newest one of a session. It reports
// false, and changes nothing, if the token would have more than maxHeld then.
func (h held) chargeSnapshot(s *session, m *protocol.Snapshot) bool {
	token, size := s.owner.member.TokenID, 0
	if token != "" {
		size = snapshotSize(m)
	}
	before := 0
	if s.payer == token {
		before = s.held
	}
	if size > before && h[token]+size-before > maxHeld {
		return false
	}
	h.releaseSession(s)
	if s.payer, s.held = token, size; size > 0 {
		h[token] += size
	}
	return true
}

// releaseSession accounts for a session whose snapshot is no longer kept.
func (h held) releaseSession(s *session) {
	if s.held == 0 {
		return
	}
	if h[s.payer] -= s.held; h[s.payer] == 0 {
		delete(h, s.payer)
	}
	s.held = 0
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
