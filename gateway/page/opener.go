package page

import (
	"sync"

	"github.com/gorilla/websocket"

	"terminalproxy/gateway/auth"
	"terminalproxy/gateway/rights"
	"terminalproxy/protocol"
)

// Opener is one connection of gateway open to a server. It is a peer of package ws.
type Opener struct {
	links *Links
	port  Port
	who   auth.Identity
	link  *link // nil before page.open; of the goroutine that calls Handle

	out  chan protocol.Message
	over chan struct{} // closed with reason
	once sync.Once
	why  error
}

// maxQueued bounds the messages that an opener has not read.
const maxQueued = 64

// final is an end after which it is no use to come back.
type final struct{ error }

func (f final) Unwrap() error { return f.error }

// CloseCode is the code of the close frame (RFC 6455, section 7.4).
func (f final) CloseCode() int { return websocket.ClosePolicyViolation }

// Opener takes one more connection of gateway open.
func (l *Links) Opener(who auth.Identity, port Port) *Opener {
	o := &Opener{links: l, port: port, who: who, out: make(chan protocol.Message, maxQueued), over: make(chan struct{})}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.openers[o] = struct{}{}
	return o
}

// Handle takes a message of gateway open.
func (o *Opener) Handle(m protocol.Message) {
	set := rights.Set{Who: "role " + string(o.who.Role), Can: rights.OfOpener(o.who.Role)}
	if no := set.Refuses(m, o.links.door.cfg.Now()); no != nil {
		o.put(no)
		return
	}
	if first, ok := m.(*protocol.PageOpen); ok {
		o.open(first)
		return
	}
	if o.link == nil {
		o.put(&protocol.Error{RequestID: protocol.RequestID(m), Code: protocol.CodeBadMessage, Message: "page.open comes first"})
		return
	}
	switch m := m.(type) {
	case *protocol.PageCode:
		o.opened(m.RequestID, o.link.opening.Code())
	case *protocol.PageAdmit:
		o.link.answer(m)
	case *protocol.PageClose:
		o.put(&protocol.Done{RequestID: m.RequestID})
		o.link.opening.End(errClosed)
	}
}

func (o *Opener) open(m *protocol.PageOpen) {
	if o.link != nil {
		o.put(&protocol.Error{RequestID: m.RequestID, Code: protocol.CodeBadMessage, Message: "this connection has an opening already"})
		return
	}
	k, no := o.links.find(o.who, o.port, m)
	if no != nil {
		o.put(no)
		return
	}
	o.link = k
	o.opened(m.RequestID, "")
	k.take(o, m.KeysB64)
}

func (o *Opener) opened(requestID, code string) {
	terms := o.link.opening.terms
	o.put(&protocol.PageOpened{RequestID: requestID, Role: string(terms.Role), ExpiresAt: terms.Expires.UnixMilli(), Code: code})
}

func (o *Opener) put(m protocol.Message) {
	select {
	case o.out <- m:
	default:
		o.End(errBehind)
	}
}

// Refuse answers a frame that was no message.
func (o *Opener) Refuse(e *protocol.Error) { o.put(e) }

// End lets Next return reason, after what is queued.
func (o *Opener) End(reason error) {
	o.once.Do(func() {
		o.why = reason
		close(o.over)
	})
}

// Next is the next message to send.
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
		return nil, o.why
	}
}

// Leave notes that the connection has ended. The pages stay for a while.
func (o *Opener) Leave() {
	o.links.mu.Lock()
	delete(o.links.openers, o)
	o.links.mu.Unlock()
	o.End(errLeft)
	if o.link != nil {
		o.link.leave(o)
	}
}

// Urgent implements ws.Peer.
func (o *Opener) Urgent() bool { return false }
