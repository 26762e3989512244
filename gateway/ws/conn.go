package ws

import (
	"bytes"
	"errors"
	"io"
	"net"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gorilla/websocket"

	"terminalproxy/protocol"
	"terminalproxy/protocol/handshake"
)

// keptFrame is how large a buffer may be that is used again, in bytes.
const keptFrame = 16 << 10

// conn is one WebSocket: a reader, whoever has a message for the peer, and a goroutine for what the peer does not take at once.
type conn struct {
	server *Server
	socket *websocket.Conn
	sock   *sock
	peer   Peer
	limit  int
	owns   func() bool // nil for always
	// ending: a close frame is sent; what still comes has no effect.
	ending atomic.Bool
	pulse  handshake.Pulse
	bad    int // frames in a row that were no messages; the reader's

	writers sync.WaitGroup
	done    chan struct{} // closed at the end, for a writer that waits in Next; else nil

	pinging sync.Mutex
	pings   *time.Timer // nil where there are none
	pinged  time.Time
	over    bool
}

// local reports whether the peer is on this machine by a unix socket. The kernel tells when such a peer is gone, so there
// is no heartbeat: an idle session costs no wake-ups.
func (c *conn) local() bool {
	_, unix := c.sock.Conn.(*net.UnixConn)
	return unix
}

// run serves the connection to its end. What it has on its stack while the peer says nothing is most of what the connection holds: so it
// begins and ends in functions of their own.
func (c *conn) run(join func() Peer) {
	defer c.left()
	c.start(join())
	c.stop(c.read())
}

// start lets others write. They end by the socket, the last of all by done. A writer that fails ends the reader, by the socket.
func (c *conn) start(peer Peer) {
	c.peer = peer
	if carried, ok := peer.(Carried); ok {
		carried.Carry(func() { c.carry(carried) })
	} else {
		done := make(chan struct{})
		c.done = done
		c.writers.Go(func() { c.write(done) })
	}
	c.beginPings()
	c.socket.SetReadLimit(int64(c.limit)) // beyond it gorilla sends close 1009
	c.socket.SetPongHandler(func(string) error { return c.alive() })
}

// stop ends the connection of which the reader has ended.
func (c *conn) stop(err error) {
	c.server.cfg.Log.Debug("connection ended", "error", err)
	if errors.Is(err, websocket.ErrReadLimit) {
		c.linger()
	}
	_ = c.socket.Close()
	if c.done != nil {
		close(c.done)
	}
	c.endPings()
	c.writers.Wait()
}

// left is the end of everything. A fault ends one connection only, as it does in an http.Server.
func (c *conn) left() {
	if fault := recover(); fault != nil {
		c.server.cfg.Log.Error("serving a peer", "fault", fault, "stack", string(debug.Stack()))
		_ = c.socket.Close()
		c.endPings()
	}
	if c.peer != nil {
		c.peer.Leave()
	}
	c.server.remove(c)
	c.server.wg.Done()
}

// linger reads what the peer is still sending, for a while: a socket closed with unread data resets the connection,
// and the close frame that says why would be lost.
func (c *conn) linger() {
	c.ending.Store(true)
	raw := c.sock.Conn
	if raw.SetReadDeadline(time.Now().Add(c.server.cfg.Times.Linger)) == nil {
		_, _ = io.CopyN(io.Discard, raw, 8<<20)
	}
}

func (c *conn) read() error {
	if err := c.alive(); err != nil {
		return err
	}
	for {
		kind, r, err := c.socket.NextReader()
		if err != nil {
			return err
		}
		if err := c.frame(kind, r); err != nil {
			return err
		}
	}
}

// frames are for what is being read: a peer that says nothing has none.
var frames = sync.Pool{New: func() any { return new(bytes.Buffer) }}

// frame reads one and takes it.
func (c *conn) frame(kind int, r io.Reader) error {
	in, _ := frames.Get().(*bytes.Buffer)
	defer func() {
		if in.Reset(); in.Cap() <= keptFrame {
			frames.Put(in)
		}
	}()
	if _, err := in.ReadFrom(r); err != nil {
		return err
	}
	if err := c.alive(); err != nil {
		return err
	}
	if !c.owned() {
		return errDisowned
	}
	if !c.ending.Load() {
		c.take(kind, in.Bytes())
	}
	return nil
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
func (c *conn) take(kind int, frame []byte) {
	c.server.received.add(frame)
	m, err := decode(kind, frame, c.limit)
	if err == nil {
		c.bad = 0
		c.peer.Handle(m)
		return
	}
	c.bad++
	reply := &protocol.Error{Code: protocol.CodeBadMessage, Message: err.Error()}
	if fe, ok := errors.AsType[*protocol.FieldError](err); ok {
		reply = fe.Reply()
	}
	c.peer.Refuse(reply)
	if c.bad == badFrames {
		c.peer.End(&closing{websocket.ClosePolicyViolation, "three invalid frames in a row"})
	}
}

func decode(kind int, frame []byte, limit int) (protocol.Message, error) {
	if kind != websocket.TextMessage {
		return nil, &protocol.FieldError{Code: protocol.CodeBadMessage, Say: "a binary frame: messages are JSON in text frames"}
	}
	return protocol.Decode(frame, limit)
}

// carry sends what the switchboard has for the peer, as far as the system takes it at once. It never waits: another goroutine does, and
// ends when there is nothing more.
func (c *conn) carry(peer Carried) {
	for {
		m, err := peer.Take()
		if m == nil && err == nil {
			return
		}
		if err != nil {
			c.later(func() error { c.finish(err); return nil })
			return
		}
		more, err := c.begin(m)
		switch {
		case err != nil:
			_ = c.sock.Close()
			return
		case more != nil:
			c.later(func() error {
				if err := c.end(more); err != nil {
					return err
				}
				return c.drain(peer)
			})
			return
		}
	}
}

// later does something that may wait, unless the connection has ended.
func (c *conn) later(do func() error) {
	c.pinging.Lock()
	defer c.pinging.Unlock()
	if c.over {
		return
	}
	c.writers.Go(func() {
		if err := do(); err != nil {
			// A write deadline leaves the frame unfinished: the connection is of no more use.
			_ = c.sock.Close()
		}
	})
}

// drain sends what the switchboard has for the peer, waits for each message to be taken, and ends when there is none.
func (c *conn) drain(peer Carried) error {
	for {
		m, err := peer.Take()
		switch {
		case err != nil:
			c.finish(err)
			return nil
		case m == nil:
			return nil
		}
		if err := c.send(m); err != nil {
			return err
		}
	}
}

// write sends what the switchboard has for the peer, until there is an end.
func (c *conn) write(done <-chan struct{}) {
	for {
		m, err := c.peer.Next(done)
		if err != nil {
			c.finish(err)
			return
		}
		if err := c.send(m); err != nil {
			_ = c.sock.Close()
			return
		}
	}
}

// send sends one message, and waits for that.
func (c *conn) send(m protocol.Message) error {
	more, err := c.begin(m)
	if err != nil || more == nil {
		return err
	}
	return c.end(more)
}

// begin sends one message as far as the system takes it at once; more sends the rest, nil for none.
func (c *conn) begin(m protocol.Message) (more func(deadline time.Time) error, err error) {
	if !c.owned() {
		return nil, errDisowned
	}
	frame, err := protocol.Encode(m)
	if err != nil {
		c.server.cfg.Log.Warn("message that cannot be sent", "type", protocol.KindOf(m), "error", err)
		if frame, err = substitute(m, err); err != nil {
			return nil, nil //nolint:nilerr // nobody asked for it: the next one may do better
		}
	}
	c.server.sent.add(frame)
	return c.sock.try(frame)
}

// end sends the rest of a message. One who stalls on this machine only stalls itself, without a deadline: its outbox is bounded.
func (c *conn) end(more func(deadline time.Time) error) error {
	if c.local() {
		return more(time.Time{})
	}
	return more(time.Now().Add(c.server.cfg.Times.Write))
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

// beginPings keeps the silence of an idle peer apart from that of a dead one, and ends the connection of one that is urgent sooner.
func (c *conn) beginPings() {
	if c.local() {
		return
	}
	c.pinging.Lock()
	defer c.pinging.Unlock()
	c.pinged = time.Now()
	c.pings = time.AfterFunc(c.server.cfg.Times.rhythm(), c.ping)
}

// endPings lets nothing more begin.
func (c *conn) endPings() {
	c.pinging.Lock()
	defer c.pinging.Unlock()
	c.over = true
	if c.pings != nil {
		c.pings.Stop()
	}
}

func (t Times) rhythm() time.Duration { return min(t.Urgent, t.Ping) }

// ping runs in a goroutine of the timer's.
func (c *conn) ping() {
	times := c.server.cfg.Times
	due, lost := c.pingDue(c.peer.Urgent())
	switch {
	case lost:
		c.server.cfg.Log.Info("a peer with a grant answers no ping any more")
		_ = c.sock.Close()
	case due:
		// It fails only when the connection is ending; then the reader says so.
		c.later(func() error {
			_ = c.socket.WriteControl(websocket.PingMessage, nil, time.Now().Add(times.Write))
			return nil
		})
	}
}

// pingDue reports whether a ping is due, or the peer is gone, and has the question put again.
func (c *conn) pingDue(urgent bool) (due, lost bool) {
	times := c.server.cfg.Times
	c.pinging.Lock()
	defer c.pinging.Unlock()
	switch {
	case c.over:
		return false, false
	case c.pulse.Lost(urgent):
		return false, true
	}
	if due = urgent || time.Since(c.pinged) >= times.Ping-times.Urgent/2; due {
		c.pinged = time.Now()
	}
	c.pings.Reset(times.rhythm())
	return due, false
}
