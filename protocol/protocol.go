// Package protocol defines the messages between a proxy, a gateway and the agents and viewers
// behind it: a closed set of Go types, their limits, and Encode and Decode. It does no I/O and
// imports only the standard library.
//
// A message is one JSON text frame. Its "type" names it; the other fields are those of the Go type.
// Times are Unix milliseconds. Ids are opaque (see [ValidID]). PROTOCOL.md beside this file
// describes the conversation.
//
// Each file holds a family of messages with their limits and checks. The first five messages of the
// project (Snapshot, Input, ControlGrant, ControlRevoke, ProxyStart) keep their names and fields
// forever; fields are only added.
package protocol

import (
	"crypto/rand"
	"strings"
	"time"
)

// Limits of every message. Sizes are bytes of the encoded frame or string unless they say otherwise.
const (
	MaxMessage      = 1 << 20  // a frame between proxy and gateway
	MaxAgentMessage = 64 << 10 // a frame from an agent
	MaxID           = 128      // an id
	MaxName         = 64       // names that people read: session, agent
	MaxDepth        = 16       // nesting of JSON values
)

// Version is the WebSocket subprotocol both sides must offer. A change that an older peer cannot
// ignore needs a new one.
const Version = "terminal-proxy.v1"

// Paths of the WebSockets. A peer's path determines which messages it may send.
const (
	PathProxy = "/v1/proxy" // a proxy publishes its sessions
	PathAgent = "/v1/agent" // an agent observes, asks for control and types under a grant
	PathView  = "/v1/view"  // a viewer or the owner watches
)

// PathProof is where a client and a gateway prove to each other over HTTP that they have a token,
// on the connection that then becomes a WebSocket. PROTOCOL.md describes the exchange.
const PathProof = "/v1/proof"

// MaxProof bounds one [Proof], in bytes.
const MaxProof = 4 << 10

// Proof is the body of each request and response of that exchange.
type Proof struct {
	// Token identifies the token without revealing it, see PROTOCOL.md.
	Token string `json:"token,omitempty"`
	// Nonce is the sender's random number: 64 hex digits.
	Nonce string `json:"nonce,omitempty"`
	// Answer is the sender's proof.
	Answer []byte `json:"answer,omitempty"`
	// Role and Name are those of the token.
	Role string `json:"role,omitempty"`
	Name string `json:"name,omitempty"`
}

// HeaderCluster is a header of a gateway's answer to the handshake: the name of its cluster. A
// gateway that belongs to no cluster does not send it.
const HeaderCluster = "Terminal-Gateway-Cluster"

// Message is any message of this protocol. Only this package can define one.
type Message interface {
	// check reports the first field that a peer may not send, as a *FieldError.
	check() error
}

// NewID returns a new id for a message.
func NewID() string { return strings.ToLower(rand.Text()[:10]) }

// Milli returns a time in Unix milliseconds, 0 for the zero time.
func Milli(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixMilli()
}

// ValidID reports whether s may be an id: 1 to 128 letters and digits of ASCII, or the signs in
// "._:-".
func ValidID(s string) bool {
	if len(s) == 0 || len(s) > MaxID {
		return false
	}
	for i := range len(s) {
		switch c := s[i]; {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9', c == '.', c == '_',
			c == ':', c == '-':
		default:
			return false
		}
	}
	return true
}
