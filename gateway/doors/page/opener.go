package page

import (
	"sync"

	"github.com/gorilla/websocket"

	"terminalproxy/gateway/access/auth"
	"terminalproxy/gateway/access/rights"
	"terminalproxy/protocol"
)

// Opener is a connection of gateway open to a server. It implements ws.Peer.
type Opener struct {
	links    *Links
	port     Port
	identity auth.Identity
	link     *hostedOpening // nil before page.open; owned by the goroutine that calls Handle

	out    chan protocol.Message
	over   chan struct{} // closed with reason
	once   sync.Once
	reason error
}

// maxQueued bounds the messages that an opener has not read.
const maxQueued = 64

// finalError ends an opener that should not reconnect.
type finalError struct{ error }

func (f finalError) Unwrap() error { return f.error }

// CloseCode returns the code of the close frame (RFC 6455, section 7.4).
func (f finalError) CloseCode() int { return websocket.ClosePolicyViolation }

// Opener adds a connection of gateway open.
func (l *Links) Opener(identity auth.Identity, port Port) *Opener {
	o := &Opener{
		links:    l,
		port:     port,
		identity: identity,
		out:      make(chan protocol.Message, maxQueued),
		over:     make(chan struct{}),
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.openers[o] = struct{}{}
	return o
}

// Handle handles a message of gateway open.
func (o *Opener) Handle(m protocol.Message) {
	set := rights.Set{Who: "role " + string(o.identity.Role), Can: rights.OfOpener(o.identity.Role)}
	if refused := set.CheckMessage(m, o.links.door.cfg.Now()); refused != nil {
		o.enqueue(refused)
		return
	}
	if first, ok := m.(*protocol.PageOpen); ok {
		o.handleOpen(first)
		return
	}
	if o.link == nil {
		o.enqueue(&protocol.Error{
			RequestID: protocol.RequestID(m),
			Code:      protocol.CodeBadMessage,
			Message:   "page.open must come first",
		})
		return
	}
	switch m := m.(type) {
	case *protocol.PageCode:
		o.sendOpened(m.RequestID, o.link.opening.Code())
	case *protocol.PageAdmit:
		o.link.applyAnswer(m)
	case *protocol.PageClose:
		o.enqueue(&protocol.Done{RequestID: m.RequestID})
		o.link.opening.EndOpening(errClosed)
	}
}

func (o *Opener) handleOpen(m *protocol.PageOpen) {
	if o.link != nil {
		o.enqueue(&protocol.Error{
			RequestID: m.RequestID,
			Code:      protocol.CodeBadMessage,
			Message:   "this connection has an opening already",
		})
		return
	}
	k, refused := o.links.findOrOpen(o.identity, o.port, m)
	if refused != nil {
		o.enqueue(refused)
		return
	}
	o.link = k
	o.sendOpened(m.RequestID, "")
	k.attachOpener(o, m.KeysB64)
}

func (o *Opener) sendOpened(requestID, code string) {
	terms := o.link.opening.terms
	o.enqueue(&protocol.PageOpened{
		RequestID: requestID,
		Role:      string(terms.Role),
		ExpiresAt: terms.Expires.UnixMilli(),
		Code:      code,
	})
}

func (o *Opener) enqueue(m protocol.Message) {
	select {
	case o.out <- m:
	default:
		o.End(errBehind)
	}
}

// Refuse answers an invalid frame.
func (o *Opener) Refuse(e *protocol.Error) { o.enqueue(e) }

// End makes Next return reason, after the queued messages.
func (o *Opener) End(reason error) {
	o.once.Do(func() {
		o.reason = reason
		close(o.over)
	})
}

// Next returns the next message to send.
func (o *Opener) Next(done <-chan struct{}) (protocol.Message, error) {
	select {
	case m := <-o.out:
		return m, nil
	case <-done:
		return nil, errLeft
	case <-o.over:
	}
	select {
	case m := <-o.out:
		return m, nil
	default:
		return nil, o.reason
	}
}

// Leave handles the end of the connection. The pages stay for a while.
func (o *Opener) Leave() {
	o.links.mu.Lock()
	delete(o.links.openers, o)
	o.links.mu.Unlock()
	o.End(errLeft)
	if o.link != nil {
		o.link.detachOpener(o)
	}
}

// IsUrgent implements ws.Peer.
func (o *Opener) IsUrgent() bool { return false }
