// Package auth decides who a peer is and whether it may connect: roles, tokens, the peer credentials of Unix sockets, and
// the Host and Origin of a request. It knows neither sessions nor what messages say.
package auth

import (
	"slices"
	"time"
)

// Role is what a peer may be; it comes from its token or from the socket it uses, never from what it says.
type Role string

// The roles.
const (
	RoleProxy  Role = "proxy"  // publishes sessions
	RoleAgent  Role = "agent"  // observes, asks for control, types under a grant
	RoleViewer Role = "viewer" // observes
	RoleOwner  Role = "owner"  // observes and decides
)

// Roles lists every role.
var Roles = []Role{RoleProxy, RoleAgent, RoleViewer, RoleOwner}

// Valid reports whether r is one of the roles.
func (r Role) Valid() bool { return slices.Contains(Roles, r) }

// Identity is who a peer is.
type Identity struct {
	Role Role
	// Name is the token's name, "" for a peer of the local socket: that one may say its own.
	Name string
	// Namespace separates the sessions of one group of tokens from those of another; "" is a namespace too.
	Namespace string
	// TokenID names the token for [Store.Valid], "" for a peer of the local socket.
	TokenID string
	// Expires is the end of the token, zero for none.
	Expires time.Time
}
