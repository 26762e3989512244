package hub

import (
	"time"

	"terminalproxy/protocol"
)

// allowOrRefuse reports whether a participant may send m, and otherwise answers it. A viewer that
// tries is cut off.
func (p *Peer) allowOrRefuse(m protocol.Message) bool {
	refusal := p.member.Rights.CheckMessage(m, time.Now())
	if refusal == nil {
		return true
	}
	p.logFailure(m, refusal.Code)
	p.out.put(refusal)
	if p.member.Role == RoleViewer {
		p.out.end(ErrForbidden)
	}
	return false
}

// failRequest answers a request with an error.
func (p *Peer) failRequest(m protocol.Message, code protocol.Code, message string) {
	p.logFailure(m, code)
	p.sendReply(&protocol.Error{RequestID: protocol.RequestID(m), Code: code, Message: message})
}
