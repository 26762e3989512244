package hub

import (
	"time"

	"terminalproxy/protocol"
)

// may reports whether a participant may send m. Who only watches has no business trying, and is cut off.
func (p *Peer) may(m protocol.Message) bool {
	no := p.member.Rights.Refuses(m, time.Now())
	if no == nil {
		return true
	}
	p.hub.logFailure(p, m, no.Code)
	p.out.put(no)
	if p.member.Role == RoleViewer {
		p.out.end(ErrForbidden)
	}
	return false
}

// fail answers a request with an error.
func (p *Peer) fail(m protocol.Message, code protocol.Code, say string) {
	p.hub.logFailure(p, m, code)
	p.reply(&protocol.Error{RequestID: protocol.RequestID(m), Code: code, Message: say})
}
