package hub

import (
	"crypto/rand"
	"strings"

	"terminalproxy/gateway/access/rights"
)

// Role is the role of a participant.
type Role = rights.Role

// The roles.
const (
	RoleProxy  = rights.RoleProxy
	RoleAgent  = rights.RoleAgent
	RoleViewer = rights.RoleViewer
	RoleOwner  = rights.RoleOwner
)

// Member is the identity of a participant, as the gateway knows it. No field comes from its
// messages.
type Member struct {
	Role Role
	// ID is the agent's id. If it is "", Join makes a random one.
	ID string
	// Name is for people. If Named, it replaces the name in every message of the participant.
	Name  string
	Named bool
	// Lasting is set if the identity outlives the connection, so that control does not end with it.
	Lasting bool
	// TokenID is an opaque id of the token that the participant presented, or "".
	TokenID string
	// Local is set for the user's own process on this machine.
	Local bool
	// Rights limit what it may do. If Can is 0, it has all rights of its role, see [rights.OfRole].
	Rights rights.Set
	// Namespace separates participants: each sees only the sessions of its own namespace.
	Namespace string
	// Process is the participant's process, or nil if unknown.
	Process Process
	// Token is the name of the token in the token store, or "". With it the participant reaches the
	// sessions of other gateways, which look it up themselves.
	Token string
	// Remote is set if it stands for a participant of another gateway. It reaches only local
	// sessions.
	Remote bool
}

// Process is a process on this machine.
type Process interface {
	// StopReason returns a sentence, without a full stop, if the process is known to be stopped,
	// else "".
	StopReason() string
	// ProcessID returns its number, or 0.
	ProcessID() int
}

// newID returns a random id that begins with the role's first letter.
func newID(r Role) string { return string(r[:1]) + "-" + strings.ToLower(rand.Text()[:8]) }
