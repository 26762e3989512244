package hub

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"time"

	"terminalproxy/protocol"
)

// notKnown is for an input that was sent to a proxy from which no receipt came.
const notKnown = "; whether this was typed is not known: read the screen before you type it again"

// newAway stands in for a proxy that lost its connection and is expected back: what it is asked waits there.
func newAway(h *Hub) *Peer {
	return &Peer{hub: h, out: newOutbox(&h.counters), asked: make(map[string]*pending)}
}

// keep has what the proxy of s was asked wait until it comes back, and is asked again under the same ids: by them it knows what it
// has typed already. What must not be asked twice ends.
func (h *Hub) keep(s *session) {
	s.away = newAway(h)
	for _, q := range s.owner.asked {
		switch {
		case q.session != s:
		case repeats(q.request):
			q.move(s.away)
		default:
			q.fail(protocol.CodeUnavailable, "the session's proxy went away before it answered; whether this took effect is not known: look before you repeat it")
		}
	}
}

// askAgain asks what waits for the proxy of s, which is back, in the order in which it was asked first.
func (h *Hub) askAgain(s *session) {
	away := s.away
	s.away = nil
	if away == nil {
		return
	}
	for _, q := range away.inOrder() {
		q.move(s.owner)
		q.again = !q.sent.IsZero()
		h.send(q)
	}
}

// inOrder are the requests that a proxy has not answered, in the order in which they were asked.
func (p *Peer) inOrder() []*pending {
	return slices.SortedFunc(maps.Values(p.asked), func(a, b *pending) int { return cmp.Compare(a.number, b.number) })
}

// stayedAway ends what waits for a proxy that did not come back.
func (h *Hub) stayedAway(s *session) {
	say := fmt.Sprintf("the proxy of session %s went away and did not come back", s.key.id)
	for _, q := range s.away.asked {
		switch fate := q.fate(); {
		case fate != "" && q.sent.IsZero():
			q.answer(&protocol.InputResult{
				ID: h.nextID(), SessionID: s.key.id, Status: protocol.StatusRefused, Reason: protocol.CodeUnavailable, Message: say + ": nothing was typed",
			})
		default:
			q.fail(protocol.CodeUnavailable, say+fate)
		}
	}
}

// repeats reports whether a proxy may be asked m again that may have had it before.
func repeats(m protocol.Message) bool {
	switch m := m.(type) {
	case *protocol.ChatSend, *protocol.ChatAnswer, *protocol.ChatInterrupt, *protocol.ChatAsk:
		return false
	case *protocol.Note, *protocol.Keys, *protocol.Attach: // who is attached is told by itself
		return false
	case *protocol.ControlDecide:
		return !m.Widens()
	}
	return true
}

// move makes another participant the one who has to answer. Nothing watches over the request until it is sent.
func (q *pending) move(to *Peer) {
	q.stop()
	delete(q.owner.asked, q.wireID)
	q.owner = to
	to.asked[q.wireID] = q
}

// send passes a request on to who has to answer it. Asked again, a wait lasts no longer than it would have.
func (h *Hub) send(q *pending) {
	m := q.request
	if wait, ok := m.(*protocol.Wait); ok && !q.sent.IsZero() && wait.TimeoutMs > 0 {
		rest := *wait
		rest.TimeoutMs = max(1, wait.TimeoutMs-time.Since(q.sent).Milliseconds())
		m = &rest
	}
	if q.sent.IsZero() {
		q.sent = time.Now()
	}
	h.watchOver(q, timeLimit(m), lookAfter)
	q.owner.out.put(m)
}
