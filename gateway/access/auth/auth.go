// Package auth identifies peers and decides whether they may connect. It handles roles, tokens, the
// peer credentials of Unix sockets, and the Host and Origin of a request. It depends on neither
// sessions nor messages.
package auth

import (
	"time"

	"terminalproxy/gateway/access/rights"
)

// Role is the role of a peer.
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

// Identity is the authenticated identity of a peer.
type Identity struct {
	Role Role
	// Name is the token's name. A peer of the local socket has "" and may choose its own.
	Name string
	// Namespace separates the sessions of one group of tokens from those of another. "" is a
	// namespace too.
	Namespace string
	// TokenID names the token for [Store.IsValid]. It is "" for a peer of the local socket.
	TokenID string
	// Expires is the end of the token, or zero.
	Expires time.Time
}
