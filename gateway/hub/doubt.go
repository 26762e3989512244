package hub

import "terminalproxy/protocol"

// Repeat is [Peer.Handle] for what another gateway may have passed on to the same proxy before. The proxy knows a repeated input by its
// id; this switchboard does not, so that where it answers by itself, it does not claim that nothing was typed.
func (p *Peer) Repeat(m protocol.Message) {
	if fate := Fate(m); fate != "" {
		p.hub.mu.Lock()
		if p.doubts == nil {
			p.doubts = make(map[string]string)
		}
		p.doubts[protocol.RequestID(m)] = fate
		p.hub.mu.Unlock()
	}
	p.Handle(m)
}

// reply gives the participant the answer to a request. The caller holds the hub's lock.
func (p *Peer) reply(m protocol.Message) {
	id := protocol.RequestID(m)
	fate, doubtful := p.doubts[id]
	delete(p.doubts, id)
	if say, failed := failure(m); doubtful && failed {
		m = &protocol.Error{RequestID: id, Code: protocol.CodeUnavailable, Message: say + fate}
	}
	p.out.put(m)
}

// failure is why a request was not passed on, if m says that.
func failure(m protocol.Message) (why string, yes bool) {
	switch m := m.(type) {
	case *protocol.Error:
		return m.Message, true
	case *protocol.InputResult:
		return "the proxy was not asked again", m.Status == protocol.StatusRefused && m.Reason == protocol.CodeUnavailable
	}
	return "", false
}
