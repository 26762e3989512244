package ws

import (
	"bytes"
	"errors"
	"io"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gorilla/websocket"

	"terminalproxy/protocol"
	"terminalproxy/protocol/handshake"
)

// keptFrame is how large a reader's buffer may be that is used again, in bytes: most frames of a viewer are acknowledgements.
const keptFrame = 1024

// conn is one WebSocket: a reader, which is the goroutine of serve, one writer, and the pinger.
type conn struct {
	server *Server
	socket *websocket.Conn
	limit  int
	owns   func() bool // nil for always
	// ending: a close frame is sent; what still comes has no effect.
	ending atomic.Bool
	pulse  handshake.Pulse
	bad    int          // frames in a row that were no messages; the reader's
	in     bytes.Buffer // the reader's frame
}

// local reports whether the peer is on this machine by a unix socket. The kernel tells when such a peer is gone, so there
// is no heartbeat: an idle session costs no wake-ups.
func (c *conn) local() bool {
	_, unix := c.socket.NetConn().(*net.UnixConn)
	return unix
}

// serve runs the connection to its end.
func (c *conn) serve(peer Peer) {
	defer peer.Leave()
	done := make(chan struct{})
	var wg sync.WaitGroup
	// Both end when done is closed, which is when the reader has ended. The writer ends the reader, by the socket.
	wg.Go(func() { c.write(peer, done) })
	if !c.local() {
		wg.Go(func() { c.ping(peer, done) })
	}
	err := c.read(peer)
	c.server.cfg.Log.Debug("connection ended", "error", err)
	if errors.Is(err, websocket.ErrReadLimit) {
		c.linger()
	}
	_ = c.socket.Close()
	close(done)
	wg.Wait()
}

// linger reads what the peer is still sending, for a while: a socket closed with unread data resets the connection,
// and the close frame that says why would be lost.
func (c *conn) linger() {
	c.ending.Store(true)
	raw := c.socket.NetConn()
	if raw.SetReadDeadline(time.Now().Add(c.server.cfg.Times.Linger)) == nil {
		_, _ = io.CopyN(io.Discard, raw, 8<<20)
	}
}

func (c *conn) read(peer Peer) error {
	c.socket.SetReadLimit(int64(c.limit)) // beyond it gorilla sends close 1009
	c.socket.SetPongHandler(func(string) error { return c.alive() })
	if err := c.alive(); err != nil {
		return err
	}
	for {
		kind, frame, err := c.frame()
		if err != nil {
			return err
		}
		if err := c.alive(); err != nil {
			return err
		}
		if !c.owned() {
			return errDisowned
		}
		if !c.ending.Load() {
			c.take(peer, kind, frame)
		}
	}
}

// frame is the next one. It is good until the one after it.
func (c *conn) frame() (kind int, frame []byte, err error) {
	kind, r, err := c.socket.NextReader()
	if err != nil {
		return 0, nil, err
	}
	if c.in.Cap() > keptFrame {
		c.in = bytes.Buffer{}
	}
	c.in.Reset()
	_, err = c.in.ReadFrom(r)
	return kind, c.in.Bytes(), err
}

var errDisowned = errors.New("another gateway has taken over")

func (c *conn) owned() bool { return c.owns == nil || c.owns() }

// alive moves the end of the peer's silence, unless the connection is ending anyway.
func (c *conn) alive() error {
	c.pulse.Heard()
	if c.ending.Load() || c.local() {
		return nil
	}
	return c.socket.SetReadDeadline(time.Now().Add(c.server.cfg.Times.Silence))
}

// take hands one frame on, or answers why it is no message; the third in a row ends the connection.
func (c *conn) take(peer Peer, kind int, frame []byte) {
	c.server.received.add(frame)
	m, err := decode(kind, frame, c.limit)
	if err == nil {
		c.bad = 0
		peer.Handle(m)
		return
	}
	c.bad++
	reply := &protocol.Error{Code: protocol.CodeBadMessage, Message: err.Error()}
	if fe, ok := errors.AsType[*protocol.FieldError](err); ok {
		reply = fe.Reply()
	}
	peer.Refuse(reply)
	if c.bad == badFrames {
		peer.End(&closing{websocket.ClosePolicyViolation, "three invalid frames in a row"})
	}
}

func decode(kind int, frame []byte, limit int) (protocol.Message, error) {
	if kind != websocket.TextMessage {
		return nil, &protocol.FieldError{Code: protocol.CodeBadMessage, Say: "a binary frame: messages are JSON in text frames"}
	}
	return protocol.Decode(frame, limit)
}

// write sends what the switchboard has for the peer, until there is an end.
func (c *conn) write(peer Peer, done <-chan struct{}) {
	for {
		m, err := peer.Next(done)
		if err != nil {
			c.finish(err)
			return
		}
		if err := c.send(m); err != nil {
			// A write deadline leaves the frame unfinished: the connection is of no more use.
			_ = c.socket.NetConn().Close()
			return
		}
	}
}

func (c *conn) send(m protocol.Message) error {
	if !c.owned() {
		return errDisowned
	}
	frame, err := protocol.Encode(m)
	if err != nil {
		c.server.cfg.Log.Warn("message that cannot be sent", "type", protocol.KindOf(m), "error", err)
		if frame, err = substitute(m, err); err != nil {
			return nil //nolint:nilerr // nobody asked for it: the next one may do better
		}
	}
	if !c.local() { // one who stalls there only stalls itself: its outbox is bounded
		if err := c.socket.SetWriteDeadline(time.Now().Add(c.server.cfg.Times.Write)); err != nil {
			return err
		}
	}
	c.server.sent.add(frame)
	return c.socket.WriteMessage(websocket.TextMessage, frame)
}

// substitute is the error in place of an answer that cannot be sent: every request is answered.
func substitute(m protocol.Message, cause error) ([]byte, error) {
	id := protocol.RequestID(m)
	if id == "" {
		return nil, cause
	}
	reply := &protocol.Error{RequestID: id, Code: protocol.CodeUnavailable, Message: "the answer cannot be sent: " + cause.Error()}
	if fe, ok := errors.AsType[*protocol.FieldError](cause); ok {
		reply.Code = fe.Code
	}
	return protocol.Encode(reply)
}

// finish sends the close frame and gives the peer a moment to read it; the reader then ends.
func (c *conn) finish(reason error) {
	code, text := 0, ""
	if own, ok := errors.AsType[*closing](reason); ok {
		code, text = own.code, own.text
	} else {
		code, text = c.server.cfg.CloseCode(reason, c.local())
	}
	c.ending.Store(true)
	deadline := time.Now().Add(c.server.cfg.Times.Linger)
	_ = c.socket.WriteControl(websocket.CloseMessage, websocket.FormatCloseMessage(code, text), deadline)
	_ = c.socket.SetReadDeadline(deadline)
}

// ping keeps the silence of an idle peer apart from that of a dead one, and ends the connection of one that is urgent sooner.
func (c *conn) ping(peer Peer, done <-chan struct{}) {
	times := c.server.cfg.Times
	tick := time.NewTicker(min(times.Urgent, times.Ping))
	defer tick.Stop()
	for last := time.Now(); ; {
		select {
		case <-done:
			return
		case <-tick.C:
		}
		urgent := peer.Urgent()
		if c.pulse.Lost(urgent) {
			c.server.cfg.Log.Info("a peer with a grant answers no ping any more")
			_ = c.socket.NetConn().Close()
			return
		}
		if urgent || time.Since(last) >= times.Ping-times.Urgent/2 {
			last = time.Now()
			// It fails only when the connection is ending; then the reader says so.
			_ = c.socket.WriteControl(websocket.PingMessage, nil, time.Now().Add(times.Write))
		}
	}
}
