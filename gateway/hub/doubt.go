package hub

import "terminalproxy/protocol"

// HandleRepeat is [Peer.Handle] for a message that another gateway may have forwarded to the same
// proxy. The proxy recognises a repeated input by its id. The hub does not, so its own answers must
// not claim that nothing was typed.
func (p *Peer) HandleRepeat(m protocol.Message) {
	if fate := UncertaintyText(m); fate != "" {
		p.hub.mu.Lock()
		if p.uncertain == nil {
			p.uncertain = make(map[string]string)
		}
		p.uncertain[protocol.RequestID(m)] = fate
		p.hub.mu.Unlock()
	}
	p.Handle(m)
}

// sendReply sends the answer to a request, with the uncertainty that HandleRepeat noted. The caller
// holds Hub.mu.
func (p *Peer) sendReply(m protocol.Message) {
	id := protocol.RequestID(m)
	fate, doubtful := p.uncertain[id]
	delete(p.uncertain, id)
	if message, failed := notForwarded(m); doubtful && failed {
		m = &protocol.Error{RequestID: id, Code: protocol.CodeUnavailable, Message: message + fate}
	}
	p.out.put(m)
}

// notForwarded returns the reason if m says that a request was not forwarded.
func notForwarded(m protocol.Message) (why string, yes bool) {
	switch m := m.(type) {
	case *protocol.Error:
		return m.Message, true
	case *protocol.InputResult:
		unavailable := m.Status == protocol.StatusRefused && m.Reason == protocol.CodeUnavailable
		return "the proxy was not asked again", unavailable
	}
	return "", false
}
