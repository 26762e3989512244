package hub

import (
	"errors"
)

// maxHeld bounds the bytes that the sessions of one proxy token use here for their newest screens
// and texts, and separately those of their conversations. So one token cannot use up the gateway's
// memory. 64 full screens of 120 by 40 take 1 MiB. The user's own proxies have no token and no
// bound.
const maxHeld = 32 << 20

// ErrHeavy reports that a token reached maxHeld.
var ErrHeavy = errors.New("the screens of this token's sessions take more than 32 MiB: " +
	"make their windows smaller, or end some")

// held counts bytes by token. Guarded by Hub.mu.
type held map[string]int

// charge is one session's share of held.
type charge struct {
	token string
	bytes int
}

// roomFor returns how many bytes a token may spend on c.
func (h held) roomFor(c charge, token string) int {
	if token == "" {
		return int(^uint(0) >> 1)
	}
	room := maxHeld - h[token]
	if c.token == token {
		room += c.bytes
	}
	return room
}

// setCharge replaces c. A session without a token costs nothing.
func (h held) setCharge(c *charge, token string, bytes int) {
	if c.bytes > 0 {
		if h[c.token] -= c.bytes; h[c.token] == 0 {
			delete(h, c.token)
		}
	}
	*c = charge{token: token}
	if token != "" && bytes > 0 {
		c.bytes = bytes
		h[token] += bytes
	}
}
