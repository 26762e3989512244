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

// maxPooledFrame bounds a buffer that is reused, in bytes.
const maxPooledFrame = 16 << 10

// conn is one WebSocket: a reader, the goroutines that send to the peer, and one that finishes what
// the peer does not take at once.
type conn struct {
	server *Server
	socket *websocket.Conn
	sock   *sock
	peer   Peer
	limit  int
	owns   func() bool // nil means always
	// ending: a close frame was sent, so later frames have no effect.
	ending atomic.Bool
	pulse  handshake.Pulse
	bad    int // invalid frames in a row; owned by the reader

	writers sync.WaitGroup
	done    chan struct{} // closed at the end, for a writer that waits in Next; nil without one

	pinging sync.Mutex
	pings   *time.Timer // nil without a heartbeat
	pinged  time.Time
	ended   bool
}

// isLocal reports whether the peer is on this machine, on a Unix socket. The kernel reports the end
// of such a peer, so there is no heartbeat, and an idle session causes no wake-ups.
func (c *conn) isLocal() bool {
	_, unix := c.sock.Conn.(*net.UnixConn)
	return unix
}

// run serves the connection until it ends. Most of the memory of an idle connection is the stack of
// run, so starting and ending are functions of their own.
func (c *conn) run(join func() Peer) {
	defer c.leaveServer()
	c.start(join())
	c.stop(c.read())
}

// start begins to send. Senders end when the socket and then done are closed. A sender that fails
// closes the socket, which ends the reader.
func (c *conn) start(peer Peer) {
	c.peer = peer
	if carried, ok := peer.(Carried); ok {
		carried.SetNotify(func() { c.sendAvailable(carried) })
	} else {
		done := make(chan struct{})
		c.done = done
		c.writers.Go(func() { c.write(done) })
	}
	c.beginPings()
	c.socket.SetReadLimit(int64(c.limit)) // beyond it gorilla sends close 1009
	c.socket.SetPongHandler(func(string) error { return c.extendSilence() })
}

// stop ends the connection after its reader has ended.
func (c *conn) stop(err error) {
	c.server.cfg.Log.Debug("connection ended", "error", err)
	if errors.Is(err, websocket.ErrReadLimit) {
		c.drainUnread()
	}
	_ = c.socket.Close()
	if c.done != nil {
		close(c.done)
	}
	c.endPings()
	c.writers.Wait()
}

// leaveServer runs last. A panic ends only this connection, as in an http.Server.
func (c *conn) leaveServer() {
	if fault := recover(); fault != nil {
		c.server.cfg.Log.Error("panic while serving a peer", "fault", fault, "stack", string(debug.Stack()))
		_ = c.socket.Close()
		c.endPings()
	}
	if c.peer != nil {
		c.peer.Leave()
	}
	c.server.removeConn(c)
	c.server.wg.Done()
}

// drainUnread reads for a while what the peer is still sending. A socket closed with unread data
// resets the connection, and the close frame with its reason would be lost.
func (c *conn) drainUnread() {
	c.ending.Store(true)
	raw := c.sock.Conn
	if raw.SetReadDeadline(time.Now().Add(c.server.cfg.Times.Linger)) == nil {
		_, _ = io.CopyN(io.Discard, raw, 8<<20)
	}
}

func (c *conn) read() error {
	if err := c.extendSilence(); err != nil {
		return err
	}
	for {
		kind, r, err := c.socket.NextReader()
		if err != nil {
			return err
		}
		if err := c.readFrame(kind, r); err != nil {
			return err
		}
	}
}

// frames holds buffers for frames while they are read. An idle peer has no buffer.
var frames = sync.Pool{New: func() any { return new(bytes.Buffer) }}

// readFrame reads and handles one frame.
func (c *conn) readFrame(kind int, r io.Reader) error {
	in, _ := frames.Get().(*bytes.Buffer)
	defer func() {
		if in.Reset(); in.Cap() <= maxPooledFrame {
			frames.Put(in)
		}
	}()
	if _, err := in.ReadFrom(r); err != nil {
		return err
	}
	if err := c.extendSilence(); err != nil {
		return err
	}
	if !c.isOwned() {
		return errDisowned
	}
	if !c.ending.Load() {
		c.handleFrame(kind, in.Bytes())
	}
	return nil
}

var errDisowned = errors.New("another gateway has taken over")

func (c *conn) isOwned() bool { return c.owns == nil || c.owns() }

// extendSilence postpones the read deadline, unless the connection is ending.
func (c *conn) extendSilence() error {
	c.pulse.Heard()
	if c.ending.Load() || c.isLocal() {
		return nil
	}
	return c.socket.SetReadDeadline(time.Now().Add(c.server.cfg.Times.Silence))
}

// handleFrame hands a message to the peer, or answers an invalid frame. The third invalid one in a
// row ends the connection.
func (c *conn) handleFrame(kind int, frame []byte) {
	c.server.received.add(frame)
	m, err := decodeFrame(kind, frame, c.limit)
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

func decodeFrame(kind int, frame []byte, limit int) (protocol.Message, error) {
	if kind != websocket.TextMessage {
		return nil, &protocol.FieldError{
			Code: protocol.CodeBadMessage, Say: "a binary frame: messages are JSON in text frames",
		}
	}
	return protocol.Decode(frame, limit)
}

// sendAvailable sends the queued messages while the system takes them at once. It never waits:
// another goroutine finishes the rest and then ends.
func (c *conn) sendAvailable(peer Carried) {
	for {
		m, err := peer.TryNext()
		if m == nil && err == nil {
			return
		}
		if err != nil {
			c.runLater(func() error { c.sendClose(err); return nil })
			return
		}
		more, err := c.startSend(m)
		switch {
		case err != nil:
			_ = c.sock.Close()
			return
		case more != nil:
			c.runLater(func() error {
				if err := c.finishSend(more); err != nil {
					return err
				}
				return c.sendPending(peer)
			})
			return
		}
	}
}

// runLater runs a function that may wait, unless the connection has ended.
func (c *conn) runLater(do func() error) {
	c.pinging.Lock()
	defer c.pinging.Unlock()
	if c.ended {
		return
	}
	c.writers.Go(func() {
		if err := do(); err != nil {
			// A write deadline leaves the frame unfinished, so the connection is useless.
			_ = c.sock.Close()
		}
	})
}

// sendPending sends the queued messages and waits for each. It ends when the queue is empty.
func (c *conn) sendPending(peer Carried) error {
	for {
		m, err := peer.TryNext()
		switch {
		case err != nil:
			c.sendClose(err)
			return nil
		case m == nil:
			return nil
		}
		if err := c.sendMessage(m); err != nil {
			return err
		}
	}
}

// write sends messages until Next fails.
func (c *conn) write(done <-chan struct{}) {
	for {
		m, err := c.peer.Next(done)
		if err != nil {
			c.sendClose(err)
			return
		}
		if err := c.sendMessage(m); err != nil {
			_ = c.sock.Close()
			return
		}
	}
}

// sendMessage sends one message and waits until it is sent.
func (c *conn) sendMessage(m protocol.Message) error {
	more, err := c.startSend(m)
	if err != nil || more == nil {
		return err
	}
	return c.finishSend(more)
}

// startSend sends the part of a message that the system takes at once. more sends the rest, if any.
func (c *conn) startSend(m protocol.Message) (more func(deadline time.Time) error, err error) {
	if !c.isOwned() {
		return nil, errDisowned
	}
	frame, err := protocol.Encode(m)
	if err != nil {
		c.server.cfg.Log.Warn(
			"cannot send a message", "type", protocol.KindOf(m), "error", err,
		)
		if frame, err = substituteError(m, err); err != nil {
			return nil, nil //nolint:nilerr // no request waits for it, and the next message may be valid
		}
	}
	c.server.sent.add(frame)
	return c.sock.tryWrite(frame)
}

// finishSend sends the rest of a message. A local peer has no deadline: if it stalls, its outbox is
// bounded.
func (c *conn) finishSend(more func(deadline time.Time) error) error {
	if c.isLocal() {
		return more(time.Time{})
	}
	return more(time.Now().Add(c.server.cfg.Times.Write))
}

// substituteError encodes an error in place of an answer that cannot be sent, because every request
// is answered.
func substituteError(m protocol.Message, cause error) ([]byte, error) {
	id := protocol.RequestID(m)
	if id == "" {
		return nil, cause
	}
	reply := &protocol.Error{
		RequestID: id,
		Code:      protocol.CodeUnavailable,
		Message:   "the answer cannot be sent: " + cause.Error(),
	}
	if fe, ok := errors.AsType[*protocol.FieldError](cause); ok {
		reply.Code = fe.Code
	}
	return protocol.Encode(reply)
}

// sendClose sends the close frame and gives the peer a moment to read it. Then the reader ends.
func (c *conn) sendClose(reason error) {
	code, text := 0, ""
	if own, ok := errors.AsType[*closing](reason); ok {
		code, text = own.code, own.text
	} else {
		code, text = c.server.cfg.CloseCode(reason, c.isLocal())
	}
	c.ending.Store(true)
	deadline := time.Now().Add(c.server.cfg.Times.Linger)
	_ = c.socket.WriteControl(
		websocket.CloseMessage, websocket.FormatCloseMessage(code, text), deadline,
	)
	_ = c.socket.SetReadDeadline(deadline)
}

// beginPings starts the heartbeat, which distinguishes an idle peer from a dead one, and runs
// faster for urgent peers.
func (c *conn) beginPings() {
	if c.isLocal() {
		return
	}
	c.pinging.Lock()
	defer c.pinging.Unlock()
	c.pinged = time.Now()
	c.pings = time.AfterFunc(c.server.cfg.Times.pingInterval(), c.checkPulse)
}

// endPings ends the heartbeat and prevents later sends.
func (c *conn) endPings() {
	c.pinging.Lock()
	defer c.pinging.Unlock()
	c.ended = true
	if c.pings != nil {
		c.pings.Stop()
	}
}

func (t Times) pingInterval() time.Duration { return min(t.Urgent, t.Ping) }

// checkPulse runs in the timer's goroutine.
func (c *conn) checkPulse() {
	times := c.server.cfg.Times
	due, lost := c.pingDue(c.peer.IsUrgent())
	switch {
	case lost:
		c.server.cfg.Log.Info("a peer with a grant no longer answers pings")
		_ = c.sock.Close()
	case due:
		// This fails only when the connection is ending, which the reader reports.
		c.runLater(func() error {
			_ = c.socket.WriteControl(websocket.PingMessage, nil, time.Now().Add(times.Write))
			return nil
		})
	}
}

// pingDue reports whether a ping is due or the peer is lost, and schedules the next check.
func (c *conn) pingDue(urgent bool) (due, lost bool) {
	times := c.server.cfg.Times
	c.pinging.Lock()
	defer c.pinging.Unlock()
	switch {
	case c.ended:
		return false, false
	case c.pulse.Lost(urgent):
		return false, true
	}
	if due = urgent || time.Since(c.pinged) >= times.Ping-times.Urgent/2; due {
		c.pinged = time.Now()
	}
	c.pings.Reset(times.pingInterval())
	return due, false
}
