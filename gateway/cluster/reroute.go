package cluster

import (
	"fmt"
	"slices"
	"time"

	"terminalproxy/gateway/hub"
	"terminalproxy/protocol"
)

// requeueUnsent puts the requests of a letter that was not delivered, and that must not be
// repeated, back to the head of the queue.
func (l *route) requeueUnsent(unsent *letter) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, m := range unsent.messages {
		if protocol.RequestID(m) != "" && !hub.IsRepeatable(m) {
			l.pending = slices.DeleteFunc(
				l.pending,
				func(p protocol.Message) bool { return p == m },
			)
			l.queue = slices.Insert(l.queue, 0, letter{Op: opSay, messages: []protocol.Message{m}})
		}
	}
}

// reroute finds the new owner and repeats the unanswered requests there. It reports whether the
// route goes on.
func (l *route) reroute() bool {
	l.sendGoodbye()
	l.reportGrantLost()
	l.failUncertain()
	at, here := l.waitForOwner()
	if at != "" {
		l.requeueRequests()
		l.connectTo(at)
		signal(l.wake)
		return true
	}
	asked, queue := l.removeRequests()
	if here {
		l.handleHere(asked, queue)
	} else {
		l.failPending(asked, queue)
	}
	return l.closeIfUnused()
}

// requeueRequests queues the unanswered requests and the subscriptions for the new owner, before
// what waits.
func (l *route) requeueRequests() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.broken, l.at = false, ""
	for i, m := range slices.Concat(l.pending, l.holds) {
		l.queue = slices.Insert(l.queue, i, letter{Op: opSay, messages: []protocol.Message{m}})
	}
}

// removeRequests makes the route unrouted, and returns what was asked and what waits.
func (l *route) removeRequests() (asked []protocol.Message, queue []letter) {
	l.mu.Lock()
	defer l.mu.Unlock()
	asked, queue = slices.Concat(l.pending, l.holds), l.queue
	l.broken, l.at = false, ""
	l.pending, l.holds, l.queue = nil, nil, nil
	return asked, queue
}

// handleHere hands the requests to this gateway, which has the session now.
func (l *route) handleHere(asked []protocol.Message, queue []letter) {
	for _, queued := range queue {
		asked = append(asked, queued.messages...)
	}
	for _, m := range asked {
		if l.mayBeRepeat(m) {
			l.key.peer.HandleRepeat(m)
		} else {
			l.key.peer.Handle(m)
		}
	}
}

// failPending answers the requests for a session that no gateway has.
func (l *route) failPending(asked []protocol.Message, queue []letter) {
	message := fmt.Sprintf("the gateway of session %s disappeared, and its proxy did not reconnect",
		l.key.session)
	if lacks := l.relay.directory.Incomplete(l.space); lacks != nil {
		message = fmt.Sprintf("session %s cannot be reached, and may be at another gateway: %s",
			l.key.session, lacks.Words(time.Now()))
	}
	for _, m := range asked {
		l.key.peer.Deliver(&protocol.Error{
			RequestID: protocol.RequestID(m),
			Code:      protocol.CodeUnavailable,
			Message:   message + hub.UncertaintyText(m),
		})
	}
	for _, queued := range queue {
		for _, m := range queued.messages {
			l.key.peer.Deliver(&protocol.Error{
				RequestID: protocol.RequestID(m),
				Code:      protocol.CodeUnavailable,
				Message:   message,
			})
		}
	}
}

// failUncertain answers the requests that may have taken effect and must not be asked twice.
func (l *route) failUncertain() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.pending = slices.DeleteFunc(l.pending, func(m protocol.Message) bool {
		if hub.IsRepeatable(m) {
			return false
		}
		l.key.peer.Deliver(&protocol.Error{
			RequestID: protocol.RequestID(m),
			Code:      protocol.CodeUnavailable,
			Message: "the session's gateway disappeared before it answered; it is unknown whether " +
				"this took effect: look before you repeat it",
		})
		return true
	})
}

// waitForOwner waits until a gateway has the session.
func (l *route) waitForOwner() (at string, here bool) {
	d, wait := l.relay.directory, seekFirst
	l.mu.Lock()
	first := l.failing.IsZero() || time.Since(l.began) > lostFor
	if first {
		l.failing = time.Now()
	}
	end := l.failing.Add(lostFor)
	l.mu.Unlock()
	for ; ; first = true {
		news := d.changeSignal()
		at, here = d.seekSession(sessionKey{l.space, l.key.session}, true)
		if first && (at != "" || here) {
			return at, here
		}
		if l.key.session == "" || time.Now().After(end) {
			return "", false
		}
		select {
		case <-l.done:
			return "", false
		case <-time.After(wait):
			wait = min(2*wait, beatEvery)
		case <-news:
		}
	}
}

// setGrantLocked keeps the participant's grant, or nil.
func (l *route) setGrantLocked(g *protocol.ControlGrant) {
	if (g != nil) != (l.grant != nil) {
		l.key.peer.AddRemoteGrants(map[bool]int32{true: 1, false: -1}[g != nil])
	}
	l.grant = g
}

// reportGrantLost tells an agent that its grant ended with the owner, which could not say so.
func (l *route) reportGrantLost() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if g := l.grant; g != nil {
		l.setGrantLocked(nil)
		l.key.peer.Deliver(&protocol.ControlRevoke{
			ID:        g.ID + ".lost",
			SessionID: g.SessionID,
			AgentID:   g.AgentID,
			Epoch:     g.Epoch,
			Reason:    protocol.ReasonLink,
		})
	}
}
