package hub

import (
	"fmt"
	"slices"

	"terminalproxy/protocol"
)

// senders says, for every message of the wire, who may send it to a gateway. A message without senders is one that only
// the gateway sends. A test compares the table with the closed set of package protocol.
var senders = map[string][]Role{
	"terminal.snapshot":        {RoleProxy},
	"terminal.control.grant":   {RoleProxy},
	"terminal.control.revoke":  {RoleProxy},
	"terminal.session.open":    {RoleProxy},
	"terminal.session.close":   {RoleProxy},
	"terminal.output":          {RoleProxy},
	"terminal.resize":          {RoleProxy},
	"terminal.blackout":        {RoleProxy},
	"terminal.input.result":    {RoleProxy},
	"terminal.wait.result":     {RoleProxy},
	"terminal.read.result":     {RoleProxy},
	"terminal.proxy.started":   {RoleProxy},
	"done":                     {RoleProxy},
	"error":                    {RoleProxy},
	"terminal.message":         {RoleProxy, RoleAgent, RoleOwner},
	"terminal.input":           {RoleAgent},
	"terminal.proxy.start":     {RoleAgent},
	"terminal.control.request": {RoleAgent},
	"terminal.control.release": {RoleAgent},
	"terminal.agent.presence":  {},
	"terminal.wait":            {RoleAgent},
	"terminal.cancel":          {RoleAgent},
	"terminal.read":            {RoleAgent, RoleViewer, RoleOwner},
	"terminal.close":           {RoleAgent, RoleOwner},
	"terminal.control.decide":  {RoleOwner},
	"sessions.list":            {RoleAgent, RoleViewer, RoleOwner},
	"sessions.subscribe":       {RoleAgent, RoleViewer, RoleOwner},
	"sessions.watch":           {RoleAgent, RoleViewer, RoleOwner},
	"sessions.changed":         {},
	"sessions.list.result":     {},
	"terminal.proxy.host":      {RoleProxy},
	"terminal.view":            {RoleAgent, RoleViewer, RoleOwner},
	"terminal.unview":          {RoleAgent, RoleViewer, RoleOwner},
	"terminal.ack":             {RoleAgent, RoleViewer, RoleOwner},
	"terminal.rows":            {RoleProxy},
	"terminal.watch":           {RoleOwner},
	"terminal.unwatch":         {RoleOwner},
	"terminal.attach":          {RoleOwner},
	"terminal.typed":           {RoleOwner},
	"terminal.detach":          {RoleProxy, RoleOwner},
}

// may reports whether a participant may send m. Who only watches has no business trying, and is cut off.
func (p *Peer) may(m protocol.Message) bool {
	kind := protocol.KindOf(m)
	if slices.Contains(senders[kind], p.member.Role) || p.mayAsLocal(m) || p.mayAttend(m) || p.mayWrite(m) {
		return true
	}
	p.hub.log.Warn("message that the role may not send", "role", p.member.Role, "peer", p.member.ID, "type", kind)
	p.fail(m, protocol.CodeForbidden, fmt.Sprintf("role %s may not send %s", p.member.Role, kind))
	if p.member.Role == RoleViewer {
		p.out.end(ErrForbidden)
	}
	return false
}

// mayAsLocal reports whether m is one of the acts that need no owner's token here: those that take away from agents, and
// those whose signature the proxy checks. Agents are not meant: they have a path of their own.
func (p *Peer) mayAsLocal(m protocol.Message) bool {
	decide, ok := m.(*protocol.ControlDecide)
	return ok && p.member.Local && p.member.Role == RoleViewer && (!decide.Widens() || len(decide.SignatureB64) > 0)
}

// fail answers a request with an error.
func (p *Peer) fail(m protocol.Message, code protocol.Code, say string) {
	p.out.put(&protocol.Error{RequestID: protocol.RequestID(m), Code: code, Message: say})
}
