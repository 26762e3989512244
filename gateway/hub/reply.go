package hub

import (
	"iter"

	"terminalproxy/protocol"
)

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

// failRequest answers a request with an error.
func (p *Peer) failRequest(m protocol.Message, code protocol.Code, message string) {
	p.logFailure(m, code)
	p.sendReply(&protocol.Error{RequestID: protocol.RequestID(m), Code: code, Message: message})
}

// sendOnce sends m to peers not yet in sent, and adds them.
func sendOnce(peers iter.Seq[*Peer], m protocol.Message, sent map[*Peer]bool) {
	for peer := range peers {
		if !sent[peer] {
			sent[peer] = true
			peer.out.put(m)
		}
	}
}
