package hub

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"time"

	"terminalproxy/protocol"
)

// typingUnknown follows the failure of an input that reached a proxy and got no receipt.
const typingUnknown = "; it is unknown whether this was typed: read the screen before you type " +
	"it again"

// newStandIn returns a stand-in for a proxy that lost its connection and may reconnect. It holds
// the proxy's open requests.
func newStandIn(h *Hub) *Peer {
	return &Peer{hub: h, out: newOutbox(&h.counters), asked: make(map[string]*pending)}
}

// holdForReconnect keeps the open requests of the session's proxy until it reconnects. They keep
// their ids, by which the proxy recognises an input that it has typed already. Requests that must
// not run twice fail.
func (s *session) holdForReconnect() {
	s.away = newStandIn(s.owner.hub)
	for _, q := range s.owner.asked {
		switch {
		case q.session != s:
		case isRepeatable(q.request):
			q.moveTo(s.away)
		default:
			q.failWaiters(
				protocol.CodeUnavailable,
				"the session's proxy went away before it answered; it is unknown whether this "+
					"took effect: look before you repeat it",
			)
		}
	}
}

// resendHeld sends the held requests to the session's proxy, which is back, oldest first.
func (s *session) resendHeld() {
	away := s.away
	s.away = nil
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
	return slices.SortedFunc(
		maps.Values(p.asked), func(a, b *pending) int { return cmp.Compare(a.number, b.number) },
	)
}

// failHeld ends the held requests of a proxy that did not reconnect.
func (s *session) failHeld() {
	message := fmt.Sprintf("the proxy of session %s went away and did not come back", s.key.id)
	for _, q := range s.away.asked {
		switch fate := q.uncertaintyText(); {
		case fate != "" && q.sent.IsZero():
			q.answerWaiters(&protocol.InputResult{
				ID: s.away.hub.nextID(), SessionID: s.key.id, Status: protocol.StatusRefused,
				Reason: protocol.CodeUnavailable, Message: message + ": nothing was typed",
			})
		default:
			q.failWaiters(protocol.CodeUnavailable, message+fate)
		}
	}
}

// isRepeatable reports whether a proxy may get m a second time.
func isRepeatable(m protocol.Message) bool {
	switch m := m.(type) {
	case *protocol.ChatSend, *protocol.ChatAnswer, *protocol.ChatInterrupt, *protocol.ChatAsk:
		return false
	case *protocol.Note, *protocol.Keys, *protocol.Attach: // sendAttached repeats an attach by itself
		return false
	case *protocol.ControlDecide:
		return !m.Widens()
	}
	return true
}

// moveTo makes another participant answer the request. No timer runs until it is sent.
func (q *pending) moveTo(to *Peer) {
	q.stopTimer()
	delete(q.owner.asked, q.wireID)
	q.owner = to
	to.asked[q.wireID] = q
}

// send forwards a request to its owner. A wait that is sent again keeps its first deadline.
func (q *pending) send() {
	m := q.request
	if wait, ok := m.(*protocol.Wait); ok && !q.sent.IsZero() && wait.TimeoutMs > 0 {
		rest := *wait
		rest.TimeoutMs = max(1, wait.TimeoutMs-time.Since(q.sent).Milliseconds())
		m = &rest
	}
	if q.sent.IsZero() {
		q.sent = time.Now()
	}
	q.startTimeout(timeLimit(m), lookAfter)
	q.owner.out.put(m)
}
