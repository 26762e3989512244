package names

import (
	"crypto/rand"
	"strings"

	"terminalproxy/protocol"
)

// NewSessionID returns an id for a session of that name: up to 32 of the name's characters that ids
// may contain, and 4 random ones.
func NewSessionID(name string) string {
	clean := strings.Map(func(r rune) rune {
		if r < 0x80 && protocol.ValidID(string(r)) {
			return r
		}
		return '_'
	}, name)
	return clean[:min(len(clean), 32)] + "-" + strings.ToLower(rand.Text()[:4])
}
