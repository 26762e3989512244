package hub

import (
	"fmt"
	"strings"
	"time"

	"terminalproxy/protocol"
)

// findOrFail returns the session that m names. If the participant's namespace has no such session,
// it answers m with an error and returns nil.
func (h *Hub) findOrFail(p *Peer, m protocol.Message) *session {
	id := protocol.SessionID(m)
	s := h.sessions[key{p.member.Namespace, id}]
	if s == nil {
		p.failUnknown(m)
	}
	return s
}

// RefuseUnknown answers a message about a session that no gateway has.
func (p *Peer) RefuseUnknown(m protocol.Message) {
	p.hub.mu.Lock()
	defer p.hub.mu.Unlock()
	if !p.gone {
		p.failUnknown(m)
	}
}

func (p *Peer) failUnknown(m protocol.Message) {
	if start, ok := m.(*protocol.ProxyStart); ok {
		p.rejectStart(start)
		return
	}
	message := p.unknownSessionText(protocol.SessionID(m))
	if protocol.RequestID(m) == "" { // without an id, the text names the message
		message = protocol.KindOf(m) + ": " + message
	}
	p.failRequest(m, protocol.CodeNoSession, message)
}

// unknownSessionText returns the error for an unknown session. It lists known sessions of the same
// namespace only.
func (p *Peer) unknownSessionText(id string) string {
	h := p.hub
	const most = 10
	var ids []string
	for place := range h.lists.placesAfter(listOf(p), beforeAll) {
		if p.member.Rights.CanSee(place.SessionID) {
			ids = append(ids, place.SessionID)
		}
	}
	if lacks := h.lists.incompleteOf(listOf(p)); lacks != nil {
		return fmt.Sprintf(
			"session %q is not known here, and may be at another gateway: %s",
			id, lacks.Words(time.Now()),
		)
	}
	switch {
	case h.predecessor != "":
		return fmt.Sprintf(
			"unknown session %q; it may be with a process that did not answer when this gateway took over: %s",
			id, h.predecessor,
		)
	case len(ids) == 0:
		return fmt.Sprintf(
			"unknown session %q, and there are no others; start one with: proxy --agent PROGRAM",
			id,
		)
	case len(ids) > most:
		return fmt.Sprintf(
			"unknown session %q; known: %s and %d more",
			id, strings.Join(ids[:most], ", "), len(ids)-most,
		)
	}
	return fmt.Sprintf("unknown session %q; known: %s", id, strings.Join(ids, ", "))
}

// rejectStart answers a start that has no host.
func (p *Peer) rejectStart(m *protocol.ProxyStart) {
	message := "no host of yours starts programs here, so nothing was started; `gateway mcp` " +
		"and `gateway run` are such hosts, and a user shares a terminal with: proxy --agent " +
		"PROGRAM"
	if lacks := p.hub.lists.incompleteOf(listOf(p)); lacks != nil {
		message = "no host of yours starts programs here, so nothing was started; it may be at " +
			"another gateway: " + lacks.Words(time.Now())
	}
	p.failRequest(m, protocol.CodeUnavailable, message)
}
