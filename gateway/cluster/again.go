package cluster

import (
	"fmt"
	"slices"
	"time"

	"terminalproxy/gateway/hub"
	"terminalproxy/protocol"
)

// untold takes out a request that may not be asked twice, and has not been asked: it is the first again.
func (l *link) untold(what *letter) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, m := range what.messages {
		if protocol.RequestID(m) != "" && !hub.Repeats(m) {
			l.pending = slices.DeleteFunc(l.pending, func(p protocol.Message) bool { return p == m })
			l.queue = slices.Insert(l.queue, 0, letter{Op: opSay, messages: []protocol.Message{m}})
		}
	}
}

// again finds the owner anew and asks it what is not answered. It reports whether the link goes on.
func (l *link) again() bool {
	l.part()
	l.revoke()
	l.unsure()
	at, here := l.await()
	l.mu.Lock()
	again := slices.Concat(l.pending, l.holds)
	l.broken, l.at = false, ""
	if at == "" {
		l.pending, l.holds = nil, nil
	} else {
		for i, m := range again {
			l.queue = slices.Insert(l.queue, i, letter{Op: opSay, messages: []protocol.Message{m}})
		}
	}
	queue := l.queue
	if at == "" {
		l.queue = nil
	}
	l.mu.Unlock()
	switch {
	case at != "":
		l.begin(at)
		signal(l.wake)
		return true
	case here:
		for _, what := range queue {
			again = append(again, what.messages...)
		}
		for _, m := range again {
			if l.repeated(m) {
				l.key.peer.Repeat(m)
			} else {
				l.key.peer.Handle(m)
			}
		}
	default:
		l.fail(again, queue)
	}
	return l.idle()
}

// fail answers for a session that is nowhere any more.
func (l *link) fail(asked []protocol.Message, queue []letter) {
	say := fmt.Sprintf("the gateway of session %s went away, and its proxy did not come back", l.key.session)
	if lacks := l.cluster.Incomplete(l.space); lacks != nil {
		say = fmt.Sprintf("session %s is not reached, and may be at another gateway: %s", l.key.session, lacks.Words(time.Now()))
	}
	for _, m := range asked {
		l.key.peer.Deliver(&protocol.Error{RequestID: protocol.RequestID(m), Code: protocol.CodeUnavailable, Message: say + hub.Fate(m)})
	}
	for _, what := range queue {
		for _, m := range what.messages {
			l.key.peer.Deliver(&protocol.Error{RequestID: protocol.RequestID(m), Code: protocol.CodeUnavailable, Message: say})
		}
	}
}

// unsure answers the requests that may have happened and must not be asked twice.
func (l *link) unsure() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.pending = slices.DeleteFunc(l.pending, func(m protocol.Message) bool {
		if hub.Repeats(m) {
			return false
		}
		l.key.peer.Deliver(&protocol.Error{
			RequestID: protocol.RequestID(m), Code: protocol.CodeUnavailable,
			Message: "the session's gateway went away before it answered; whether this took effect is not known: look before you repeat it",
		})
		return true
	})
}

// await waits for the session to be somewhere.
func (l *link) await() (at string, here bool) {
	c, wait := l.cluster, seekFirst
	l.mu.Lock()
	first := l.failing.IsZero() || time.Since(l.began) > lostFor
	if first {
		l.failing = time.Now()
	}
	end := l.failing.Add(lostFor)
	l.mu.Unlock()
	for ; ; first = true {
		news := c.hear()
		if at, here = c.seek(sessionKey{l.space, l.key.session}, true); first && (at != "" || here) {
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

// hold keeps the grant that the participant has. The caller holds the lock.
func (l *link) hold(g *protocol.ControlGrant) {
	if (g != nil) != (l.grant != nil) {
		l.key.peer.Holds(map[bool]int32{true: 1, false: -1}[g != nil])
	}
	l.grant = g
}

// revoke tells an agent that its grant ended with the owner, where that one could not say so any more.
func (l *link) revoke() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if g := l.grant; g != nil {
		l.hold(nil)
		l.key.peer.Deliver(&protocol.ControlRevoke{ID: g.ID + ".lost", SessionID: g.SessionID, AgentID: g.AgentID, Epoch: g.Epoch, Reason: protocol.ReasonLink})
	}
}
