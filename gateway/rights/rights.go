// Package rights says what a participant of a gateway may do: a set for each, and what of that set every message of the wire
// needs. Switchboard and page ask the same sets. It knows neither tokens nor sockets: who somebody is, package auth finds out; and
// it decides nothing about input: what an agent may type, the proxy decides.
package rights

import (
	"fmt"
	"slices"
	"time"

	"terminalproxy/protocol"
)

//go:generate go run ./generate ../../protocol/ROLES.md

// Role is what a participant may be; it comes from its token or from the socket it uses, never from what it says.
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

// Can is a set of what somebody can do.
type Can uint32

// What there is to do.
const (
	Publish  Can = 1 << iota // open sessions, and answer for them
	List                     // know which sessions there are
	Look                     // see screens and read history
	Follow                   // hear all that happens to a session
	Wait                     // wait for facts
	Ask                      // ask for the keyboard, and give it back
	Type                     // type under a grant, which the proxy looks at
	Start                    // have a host of one's own start programs
	Stop                     // end the session of an agent: the proxy lets people, and the agent that started it
	Attach                   // sit in front of the session of an agent: see live output, type as its user
	Write                    // write to the session's user, or for them to the agent
	TakeAway                 // decide what takes away from agents
	Give                     // pass on what an owner signed: a decision that gives agents more, keys
	Vouch                    // decide the same without a signature: the proxy obeys where its user trusts the gateway
	Invite                   // open links to web pages, and answer for those
	Replay                   // play recordings, which a page's door has and no gateway
)

// looks is what everybody may who is no proxy.
const looks = List | Look | Follow

// Of is what a role can do. local says that it is a process of the user's own on the user's own machine: as a viewer it may do what
// it could as well with a signal to the proxy, and pass on what an owner has signed. Agents have a path of their own, where this
// does not count.
func Of(role Role, local bool) Can {
	switch {
	case role == RoleProxy:
		return Publish
	case role == RoleAgent:
		return looks | Wait | Ask | Type | Start | Stop | Write
	case role == RoleOwner:
		return looks | Stop | Attach | Write | TakeAway | Give | Vouch
	case role == RoleViewer && local:
		return looks | Stop | Attach | Write | TakeAway | Give
	case role == RoleViewer:
		return looks
	}
	return 0
}

// OfPage is what a web page can do that the user let in as a viewer or as an owner. It is the page of a browser, which holds a key
// and no token: what gives agents more it signs.
func OfPage(role Role) Can {
	switch role {
	case RoleOwner:
		return List | Look | Write | TakeAway | Give | Replay
	case RoleViewer:
		return List | Look
	default: // no page is anything else
		return 0
	}
}

// OfOpener is what somebody can do on the path where gateway open makes links to web pages.
func OfOpener(role Role) Can {
	if role == RoleOwner || role == RoleViewer {
		return Invite
	}
	return 0
}

// needs says of every message what somebody must be able to do to send it: one of the set is enough, and 0 is for messages that
// only a gateway sends. A decision has rows by what it does, see need. A test compares the table with the wire.
var needs = map[string]Can{
	"terminal.session.open":    Publish,
	"terminal.snapshot":        Publish,
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
	"terminal.control.decide":  TakeAway | Give | Vouch,
	"terminal.attach":          Attach,
	"terminal.typed":           Attach,
	"terminal.keys":            Give,
	"terminal.watch":           Attach,
	"terminal.unwatch":         Attach,
	"sessions.list":            List,
	"sessions.watch":           List,
	"sessions.subscribe":       Follow,
	"chat.status":              Publish,
	"chat.records":             Publish,
	"chat.subscribe":           Look,
	"chat.unsubscribe":         Look,
	"chat.send":                Type | Give,
	"chat.image":               Give,
	"chat.answer":              Give,
	"chat.interrupt":           Type | TakeAway,
	"chat.ask":                 Ask,
	"chat.ask.result":          Publish,
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

// need is what m needs: of a decision, what it does.
func need(m protocol.Message) Can {
	decide, ok := m.(*protocol.ControlDecide)
	switch {
	case !ok:
		return needs[protocol.KindOf(m)]
	case !decide.Widens():
		return TakeAway
	case len(decide.SignatureB64) > 0:
		return Give
	}
	return Vouch
}

// Set is what one participant may do.
type Set struct {
	// Who is the participant in a sentence: "role viewer".
	Who string
	Can Can
	// Session is the only one that it may know of, "" for all of its namespace.
	Session string
	// Until is its end, zero for none.
	Until time.Time
}

// Sees reports whether the participant may know of a session.
func (s Set) Sees(sessionID string) bool { return s.Session == "" || s.Session == sessionID }

// Sessions are those of a list that the participant may know of.
func (s Set) Sessions(all []protocol.SessionInfo) []protocol.SessionInfo {
	if s.Session == "" {
		return all
	}
	return slices.DeleteFunc(append([]protocol.SessionInfo{}, all...), func(i protocol.SessionInfo) bool { return !s.Sees(i.SessionID) })
}

// Changed is what the participant may know of a change of the list, nil for nothing.
func (s Set) Changed(m *protocol.SessionsChanged) *protocol.SessionsChanged {
	if s.Session == "" {
		return m
	}
	gone := slices.DeleteFunc(slices.Clone(m.Gone), func(id string) bool { return !s.Sees(id) })
	part := &protocol.SessionsChanged{Full: m.Full, Sessions: s.Sessions(m.Sessions), Gone: gone, Incomplete: m.Incomplete}
	if !m.Full && len(part.Sessions)+len(gone) == 0 {
		return nil
	}
	return part
}

// Refuses is the answer to a message that the participant may not send, nil for one that it may. Of a session that the participant
// may not know of it says the same whether there is one or not.
func (s Set) Refuses(m protocol.Message, now time.Time) *protocol.Error {
	no := func(format string, args ...any) *protocol.Error {
		return &protocol.Error{RequestID: protocol.RequestID(m), Code: protocol.CodeForbidden, Message: fmt.Sprintf(format, args...)}
	}
	kind, id := protocol.KindOf(m), protocol.SessionID(m)
	switch wanted := need(m); {
	case !s.Until.IsZero() && !now.Before(s.Until):
		return no("the time of %s is over", s.Who)
	case s.Can&wanted == 0 && wanted == Vouch && s.Can&Give != 0:
		return no("%s may not send a %s that gives agents more without its owner's signature", s.Who, kind)
	case s.Can&wanted == 0:
		return no("%s may not send %s", s.Who, kind)
	case id != "" && !s.Sees(id):
		return no("%s is limited to the session %s", s.Who, s.Session)
	}
	return nil
}
