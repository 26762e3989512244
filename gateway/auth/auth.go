// Package auth decides who a peer is and whether it may connect: roles, tokens, the peer credentials of Unix sockets, and
// the Host and Origin of a request. It knows neither sessions nor what messages say.
package auth

import (
	"time"

	"terminalproxy/gateway/rights"
)

// Role is what a peer may be.
type Role = rights.Role

// The roles.
const (
	RoleProxy  = rights.RoleProxy
	RoleAgent  = rights.RoleAgent
	RoleViewer = rights.RoleViewer
	RoleOwner  = rights.RoleOwner
)

// Roles lists every role.
var Roles = rights.Roles

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
