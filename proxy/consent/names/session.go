package names

import (
	"crypto/rand"
	"strings"

	"terminalproxy/protocol"
)

// Session is a new id for a session of that name: of which it has what ids may hold, at most 32
// characters, and 4 random ones.
func Session(name string) string {
	clean := strings.Map(func(r rune) rune {
		if r < 0x80 && protocol.ValidID(string(r)) {
			return r
		}
		return '_'
	}, name)
	return clean[:min(len(clean), 32)] + "-" + strings.ToLower(rand.Text()[:4])
}
