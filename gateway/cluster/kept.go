package cluster

import (
	"reflect"
	"slices"
	"time"

	"terminalproxy/gateway/hub"
	"terminalproxy/protocol"
)

// note keeps what a participant asks: a request until its answer, what goes on until its end.
func (l *link) note(m protocol.Message) {
	l.mu.Lock()
	defer l.mu.Unlock()
	id := protocol.RequestID(m)
	switch m := m.(type) {
	case *protocol.Cancel:
		l.drop(m.RequestID)
		return
	case *protocol.Ack:
		return
	case *protocol.Unwatch:
		l.unhold((*protocol.Watch)(nil))
		return
	case *protocol.Unview:
		l.unhold((*protocol.View)(nil))
	case *protocol.ChatUnsubscribe:
		l.unhold((*protocol.ChatSubscribe)(nil))
	case *protocol.Detach:
		l.unhold((*protocol.Attach)(nil))
	case *protocol.SessionsSubscribe, *protocol.View, *protocol.Watch, *protocol.ChatSubscribe, *protocol.Attach:
		if !slices.Contains(l.holds, m) { // else it is asked again
			l.unhold(m)
			l.holds = append(l.holds, m)
		}
		return
	}
	if id != "" && !slices.Contains(l.pending, m) {
		l.pending = append(l.pending, m)
	}
}

// unhold forgets what goes on of a kind. The caller holds the lock.
func (l *link) unhold(kind protocol.Message) {
	l.holds = slices.DeleteFunc(l.holds, func(m protocol.Message) bool {
		if reflect.TypeOf(m) != reflect.TypeOf(kind) {
			return false
		}
		delete(l.answered, protocol.RequestID(m))
		return true
	})
}

// drop forgets a request. The caller holds the lock.
func (l *link) drop(id string) {
	l.pending = slices.DeleteFunc(l.pending, func(m protocol.Message) bool { return protocol.RequestID(m) == id })
	delete(l.passed, id)
}

// repeated reports whether an owner may have passed m on before.
func (l *link) repeated(m protocol.Message) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.passed[protocol.RequestID(m)]
}

// settle forgets a request that is answered.
func (l *link) settle(id string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if id != "" {
		l.drop(id)
	}
}

// owner implements taker.
func (l *link) owner() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.at
}

// lost implements taker.
func (l *link) lost() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.broken = true
	l.abort()
	signal(l.wake)
}

// hear implements taker: it gives the participant what came for it.
func (l *link) hear(from *letter) reply {
	l.mu.Lock()
	switch {
	case l.broken || from.From != l.at || from.Link != l.id || from.N > l.got+1:
		l.mu.Unlock()
		return reply{Lost: true}
	case from.N <= l.got:
		l.mu.Unlock()
		return reply{}
	}
	if slices.ContainsFunc(from.messages, l.astray) {
		l.mu.Unlock()
		l.lost()
		return reply{Lost: true}
	}
	l.got = from.N
	if len(from.messages) > 0 {
		l.failing = time.Time{}
	}
	fresh := slices.DeleteFunc(from.messages, l.heard)
	l.mu.Unlock()
	room := true
	for _, m := range fresh {
		room = l.key.peer.Deliver(m)
	}
	if len(fresh) == 0 {
		room = l.key.peer.Room()
	}
	if from.End != "" {
		l.lost()
	}
	return reply{Full: !room}
}

// astray reports whether an owner says that it does not have the session: it is moving, and has to be sought again. The caller holds the
// lock.
func (l *link) astray(m protocol.Message) bool {
	no, ok := m.(*protocol.Error)
	asked := func(m protocol.Message) bool { return protocol.RequestID(m) == no.RequestID }
	return ok && no.Code == protocol.CodeNoSession && l.key.session != "" && no.RequestID != "" &&
		(slices.ContainsFunc(l.pending, asked) || slices.ContainsFunc(l.holds, asked))
}

// heard keeps what an answer says of what was asked, and reports whether the participant has heard that before. The caller holds the
// lock.
func (l *link) heard(m protocol.Message) (known bool) {
	if id := protocol.RequestID(m); id != "" {
		l.drop(id)
	}
	switch m := m.(type) {
	case *protocol.Done:
		known = l.answered[m.RequestID]
		if slices.ContainsFunc(l.holds, func(h protocol.Message) bool { return m.RequestID != "" && protocol.RequestID(h) == m.RequestID }) {
			l.answered[m.RequestID] = true
		}
	case *protocol.SessionClose:
		l.holds = nil
	case *protocol.Error:
		l.holds = slices.DeleteFunc(l.holds, func(h protocol.Message) bool { return m.RequestID != "" && protocol.RequestID(h) == m.RequestID })
	case *protocol.ControlGrant:
		if m.AgentID == l.key.peer.ID() {
			l.hold(m)
		}
	case *protocol.ControlRevoke:
		if l.grant != nil && m.Reason != protocol.ReasonRefused && (m.AgentID == "" || m.AgentID == l.grant.AgentID) {
			l.hold(nil)
		}
	case *protocol.Detach:
		l.unhold((*protocol.Attach)(nil))
		l.unhold((*protocol.Watch)(nil))
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

// taker takes what other gateways send for participants here.
type taker interface {
	owner() string
	hear(l *letter) reply
	lost()
}

// told takes a letter for a participant of this gateway.
func (c *Cluster) told(l *letter) reply {
	c.mu.Lock()
	t := c.byID[l.Link]
	c.mu.Unlock()
	if t == nil {
		return reply{Lost: true}
	}
	return t.hear(l)
}

var _ hub.Directory = (*Cluster)(nil)
