// Package rights defines what each participant of a gateway may do: a set of rights for each role,
// and the rights that each wire message needs. The hub and the page use the same sets. The package
// depends on neither tokens nor sockets: package auth identifies participants. It decides nothing
// about input: the proxy decides what an agent may type.
package rights

import (
	"fmt"
	"slices"
	"time"

	"terminalproxy/protocol"
)

// Role is a kind of participant. It comes from the token or from the socket, never from a message.
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

// Can is a set of rights.
type Can uint32

// The rights.
const (
	Publish  Can = 1 << iota // open sessions, and answer for them
	List                     // see the list of sessions
	Look                     // see screens and read history
	Follow                   // get every event of a session
	Wait                     // wait for conditions
	Ask                      // ask for the keyboard, and release it
	Type                     // type under a grant; the proxy checks the grant
	Start                    // start programs on a host
	Stop                     // end an agent's session; the proxy lets people and its starter do so
	Attach                   // attach to an agent's session: see live output, type as its user
	Write                    // send messages to the session's user, or as the user to the agent
	Restrict                 // send decisions that take rights away from agents
	Forward                  // forward what an owner signed: more rights for agents, keys, answers
	Unsigned                 // forward that unsigned: the proxy obeys if its user trusts the gateway
	Invite                   // open links to web pages, and admit their visitors
	Replay                   // play recordings; a page's server has them, a gateway does not
	Broker                   // put a program's question for a secret to the user; no role has it
)

// observerRights are the rights of every role but the proxy.
const observerRights = List | Look | Follow

// OfRole returns the rights of a role. local means that the participant is a process of the user on
// the user's own machine. A local viewer may also do what it could do by sending the proxy a
// signal, and may forward what an owner signed. Agents connect on a path of their own, where local
// has no effect.
func OfRole(role Role, local bool) Can {
	switch {
	case role == RoleProxy:
		return Publish
	case role == RoleAgent:
		return observerRights | Wait | Ask | Type | Start | Stop | Write
	case role == RoleOwner:
		return observerRights | Stop | Attach | Write | Restrict | Forward | Unsigned
	case role == RoleViewer && local:
		return observerRights | Stop | Attach | Write | Restrict | Forward
	case role == RoleViewer:
		return observerRights
	}
	return 0
}

// OfPage returns the rights of a web page that the user admitted as a viewer or as an owner. The
// page runs in a browser, which has a key and no token: it signs what gives agents more rights.
func OfPage(role Role) Can {
	switch role {
	case RoleOwner:
		return List | Look | Write | Restrict | Forward | Replay
	case RoleViewer:
		return List | Look
	default: // pages have no other role
		return 0
	}
}

// OfOpener returns the rights on the path where gateway open creates links to web pages.
func OfOpener(role Role) Can {
	if role == RoleOwner || role == RoleViewer {
		return Invite
	}
	return 0
}

// OfAsker returns the rights that the gateway itself has to put a program's question for a secret
// to a session.
func OfAsker() Can { return List | Wait | Broker }

// needs maps each message to the rights that allow it: one of them is enough, and 0 marks the
// messages that only a gateway sends. The rights for a decision depend on its effect, see
// rightsFor. A test compares the table with the wire.
var needs = map[string]Can{
	"terminal.session.open":    Publish,
	"terminal.snapshot":        Publish,
	"terminal.delta":           Publish,
	"terminal.control.grant":   Publish,
	"terminal.control.revoke":  Publish,
	"terminal.session.close":   Publish,
	"terminal.output":          Publish,
	"terminal.resize":          Publish,
	"terminal.blackout":        Publish,
	"terminal.rows":            Publish,
	"terminal.input.result":    Publish,
	"terminal.wait.result":     Publish,
	"terminal.read.result":     Publish,
	"terminal.proxy.started":   Publish,
	"terminal.proxy.host":      Publish,
	"done":                     Publish,
	"error":                    Publish,
	"terminal.message":         Publish | Write,
	"terminal.detach":          Publish | Attach,
	"terminal.input":           Type,
	"terminal.wait":            Wait,
	"terminal.cancel":          Wait,
	"terminal.read":            Look,
	"terminal.view":            Look,
	"terminal.unview":          Look,
	"terminal.ack":             Look,
	"terminal.proxy.start":     Start,
	"terminal.close":           Stop,
	"terminal.control.request": Ask,
	"terminal.control.release": Ask,
	"terminal.control.decide":  Restrict | Forward | Unsigned,
	"terminal.attach":          Attach,
	"terminal.typed":           Attach,
	"terminal.keys":            Forward,
	"terminal.watch":           Attach,
	"terminal.unwatch":         Attach,
	"sessions.list":            List,
	"sessions.watch":           List,
	"sessions.subscribe":       Follow,
	"chat.status":              Publish,
	"chat.records":             Publish,
	"chat.subscribe":           Look,
	"chat.unsubscribe":         Look,
	"chat.send":                Type | Forward,
	"chat.answer":              Forward,
	"chat.interrupt":           Type | Restrict,
	"chat.ask":                 Ask,
	"chat.ask.result":          Publish,
	"secret.ask":               Broker,
	"secret.answer":            Publish,
	"secret.watch":             Forward,
	"secret.reply":             Forward,
	"secret.ended":             0,
	"records.list":             Replay,
	"records.read":             Replay,
	"records.list.result":      0,
	"records.read.result":      0,
	"sessions.list.result":     0,
	"sessions.changed":         0,
	"terminal.agent.presence":  0,
	"terminal.subscribed":      0,
	"page.open":                Invite,
	"page.code":                Invite,
	"page.admit":               Invite,
	"page.close":               Invite,
	"page.opened":              0,
	"page.knock":               0,
	"page.gone":                0,
}

// rightsFor returns the rights that allow m; one of them is enough.
func rightsFor(m protocol.Message) Can {
	decide, ok := m.(*protocol.ControlDecide)
	switch {
	case !ok:
		return needs[protocol.KindOf(m)]
	case !decide.Widens():
		return Restrict
	case len(decide.SignatureB64) > 0:
		return Forward
	}
	return Unsigned
}

// Set holds the rights of one participant.
type Set struct {
	// Who names the participant in messages: "role viewer".
	Who string
	Can Can
	// Session is the only session that it may see, "" for all of its namespace.
	Session string
	// Until is when its rights end, zero for never.
	Until time.Time
}

// CanSee reports whether the participant may see a session.
func (s Set) CanSee(sessionID string) bool { return s.Session == "" || s.Session == sessionID }

// FilterSessions returns the sessions of a list that the participant may see.
func (s Set) FilterSessions(all []protocol.SessionInfo) []protocol.SessionInfo {
	if s.Session == "" {
		return all
	}
	isHidden := func(i protocol.SessionInfo) bool { return !s.CanSee(i.SessionID) }
	return slices.DeleteFunc(append([]protocol.SessionInfo{}, all...), isHidden)
}

// FilterChange returns the part of a list change that the participant may see, or nil if nothing is
// left.
func (s Set) FilterChange(m *protocol.SessionsChanged) *protocol.SessionsChanged {
	if s.Session == "" {
		return m
	}
	gone := slices.DeleteFunc(slices.Clone(m.Gone), func(id string) bool { return !s.CanSee(id) })
	part := &protocol.SessionsChanged{
		Full: m.Full, Sessions: s.FilterSessions(m.Sessions), Gone: gone, Incomplete: m.Incomplete,
	}
	if !m.Full && len(part.Sessions)+len(gone) == 0 {
		return nil
	}
	return part
}

// CheckMessage returns the error for a message that the participant may not send, or nil. For a
// session that the participant may not see, the error is the same whether the session exists or
// not.
func (s Set) CheckMessage(m protocol.Message, now time.Time) *protocol.Error {
	forbid := func(format string, args ...any) *protocol.Error {
		message := fmt.Sprintf(format, args...)
		return &protocol.Error{
			RequestID: protocol.RequestID(m), Code: protocol.CodeForbidden, Message: message,
		}
	}
	kind, id := protocol.KindOf(m), protocol.SessionID(m)
	switch needed := rightsFor(m); {
	case !s.Until.IsZero() && !now.Before(s.Until):
		return forbid("the time of %s is up", s.Who)
	case s.Can&needed == 0 && needed == Unsigned && s.Can&Forward != 0:
		return forbid("%s may not send a %s that gives agents more without its owner's signature",
			s.Who, kind)
	case s.Can&needed == 0:
		return forbid("%s may not send %s", s.Who, kind)
	case id != "" && !s.CanSee(id):
		return forbid("%s is limited to the session %s", s.Who, s.Session)
	}
	return nil
}
