package hub

import (
	"fmt"
	"maps"
	"slices"
	"sort"

	"terminalproxy/protocol"
)

// newStandIn returns a stand-in for a proxy that lost its connection and may reconnect. It holds
// the proxy's open requests.
func newStandIn(h *Hub) *Peer {
	return &Peer{hub: h, out: newOutbox(&h.counters), unanswered: make(map[string]*pending)}
}

// holdForReconnect keeps the open requests of the session's proxy until it reconnects. They keep
// their ids, so that the proxy recognises input that it has already typed. Requests that must not
// run twice fail.
func (s *session) holdForReconnect() {
	s.standIn = newStandIn(s.owner.hub)
	for _, q := range s.owner.unanswered {
		switch {
		case q.session != s:
		case IsRepeatable(q.request):
			q.moveTo(s.standIn)
		default:
			q.failWaiters(
				protocol.CodeUnavailable,
				"the session's proxy disappeared before it answered; it is unknown whether this "+
					"took effect: look before you repeat it",
			)
		}
	}
}

// resendHeld sends the held requests to the session's reconnected proxy, oldest first.
func (s *session) resendHeld() {
	away := s.standIn
	s.standIn = nil
	if away == nil {
		return
	}
	for _, q := range away.unansweredByAge() {
		q.moveTo(s.owner)
		q.resent = !q.sent.IsZero()
		q.send()
	}
}

// unansweredByAge returns the proxy's open requests, oldest first.
func (p *Peer) unansweredByAge() []*pending {
	all := slices.Collect(maps.Values(p.unanswered))
	sort.Slice(all, func(i, k int) bool { return all[i].number < all[k].number })
	return all
}

// failHeld ends the held requests of a proxy that did not reconnect.
func (s *session) failHeld() {
	message := fmt.Sprintf("the proxy of session %s disappeared and did not reconnect", s.key.id)
	for _, q := range s.standIn.unanswered {
		switch fate := UncertaintyText(q.request); {
		case fate != "" && q.sent.IsZero():
			q.answerWaiters(&protocol.InputResult{
				ID: s.standIn.hub.nextID(), SessionID: s.key.id, Status: protocol.StatusRefused,
				Reason: protocol.CodeUnavailable, Message: message + ": nothing was typed",
			})
		default:
			q.failWaiters(protocol.CodeUnavailable, message+fate)
		}
	}
}
