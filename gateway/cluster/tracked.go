package cluster

import (
	"reflect"
	"slices"
	"time"

	"terminalproxy/protocol"
)

// trackRequest keeps a request until its answer, and a subscription until its end.
func (l *route) trackRequest(m protocol.Message) {
	l.mu.Lock()
	defer l.mu.Unlock()
	id := protocol.RequestID(m)
	switch m := m.(type) {
	case *protocol.Cancel:
		l.forgetRequestLocked(m.RequestID)
		return
	case *protocol.Ack:
		return
	case *protocol.Unwatch:
		l.removeStandingLocked((*protocol.Watch)(nil))
		return
	case *protocol.Unview:
		l.removeStandingLocked((*protocol.View)(nil))
	case *protocol.ChatUnsubscribe:
		l.removeStandingLocked((*protocol.ChatSubscribe)(nil))
	case *protocol.Detach:
		l.removeStandingLocked((*protocol.Attach)(nil))
	case *protocol.SessionsSubscribe,
		*protocol.View,
		*protocol.Watch,
		*protocol.ChatSubscribe,
		*protocol.Attach:
		if !slices.Contains(l.holds, m) { // else it is a repeat
			l.removeStandingLocked(m)
			l.holds = append(l.holds, m)
		}
		return
	}
	if id != "" && !slices.Contains(l.pending, m) {
		l.pending = append(l.pending, m)
	}
}

// removeStandingLocked forgets the subscription of a kind.
func (l *route) removeStandingLocked(kind protocol.Message) {
	l.holds = slices.DeleteFunc(l.holds, func(m protocol.Message) bool {
		if reflect.TypeOf(m) != reflect.TypeOf(kind) {
			return false
		}
		delete(l.answered, protocol.RequestID(m))
		return true
	})
}

// forgetRequestLocked forgets a request.
func (l *route) forgetRequestLocked(id string) {
	l.pending = slices.DeleteFunc(
		l.pending,
		func(m protocol.Message) bool { return protocol.RequestID(m) == id },
	)
	delete(l.passed, id)
}

// mayBeRepeat reports whether an owner may have passed m on before.
func (l *route) mayBeRepeat(m protocol.Message) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.passed[protocol.RequestID(m)]
}

// finishRequest forgets an answered request.
func (l *route) finishRequest(id string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if id != "" {
		l.forgetRequestLocked(id)
	}
}

// ownerName implements receiver.
func (l *route) ownerName() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.at
}

// ownerLost implements receiver.
func (l *route) ownerLost() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.broken = true
	l.abort()
	signal(l.wake)
}

// takeLetter implements receiver: it delivers a letter's messages to the participant.
func (l *route) takeLetter(from *letter) reply {
	l.mu.Lock()
	switch {
	case l.broken || from.From != l.at || from.Link != l.id || from.N > l.got+1:
		l.mu.Unlock()
		return reply{Lost: true}
	case from.N <= l.got:
		l.mu.Unlock()
		return reply{}
	}
	if slices.ContainsFunc(from.messages, l.isMovedLocked) {
		l.mu.Unlock()
		l.ownerLost()
		return reply{Lost: true}
	}
	l.got = from.N
	if len(from.messages) > 0 {
		l.failing = time.Time{}
	}
	fresh := slices.DeleteFunc(from.messages, l.recordAnswerLocked)
	l.mu.Unlock()
	room := true
	for _, m := range fresh {
		room = l.key.peer.Deliver(m)
	}
	if len(fresh) == 0 {
		room = l.key.peer.HasRoom()
	}
	if from.End != "" {
		l.ownerLost()
	}
	return reply{Full: !room}
}

// isMovedLocked reports whether an owner says that it does not have the session: it is moving, and
// must be sought again.
func (l *route) isMovedLocked(m protocol.Message) bool {
	refusal, ok := m.(*protocol.Error)
	if !ok || refusal.Code != protocol.CodeNoSession || refusal.RequestID == "" {
		return false
	}
	isAsked := func(m protocol.Message) bool { return protocol.RequestID(m) == refusal.RequestID }
	return l.key.session != "" &&
		(slices.ContainsFunc(l.pending, isAsked) || slices.ContainsFunc(l.holds, isAsked))
}

// recordAnswerLocked records the effect of an answer on the tracked requests, and reports whether
// the participant has had that answer before.
func (l *route) recordAnswerLocked(m protocol.Message) (known bool) {
	id := protocol.RequestID(m)
	if id != "" {
		l.forgetRequestLocked(id)
	}
	isAnswered := func(h protocol.Message) bool { return id != "" && protocol.RequestID(h) == id }
	switch m := m.(type) {
	case *protocol.Done:
		known = l.answered[m.RequestID]
		if slices.ContainsFunc(l.holds, isAnswered) {
			l.answered[m.RequestID] = true
		}
	case *protocol.SessionClose:
		l.holds = nil
	case *protocol.Error:
		l.holds = slices.DeleteFunc(l.holds, isAnswered)
	case *protocol.ControlGrant:
		if m.AgentID == l.key.peer.ID() {
			l.setGrantLocked(m)
		}
	case *protocol.ControlRevoke:
		if l.grant != nil && m.Reason != protocol.ReasonRefused &&
			(m.AgentID == "" || m.AgentID == l.grant.AgentID) {
			l.setGrantLocked(nil)
		}
	case *protocol.Detach:
		l.removeStandingLocked((*protocol.Attach)(nil))
		l.removeStandingLocked((*protocol.Watch)(nil))
	case *protocol.ChatRecords:
		for i, h := range l.holds {
			if sub, ok := h.(*protocol.ChatSubscribe); ok && len(m.Records) > 0 {
				next := *sub
				next.After = m.Records[len(m.Records)-1].Number
				l.holds[i] = &next
			}
		}
	}
	return known
}
