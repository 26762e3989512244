package link

import (
	"cmp"
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gorilla/websocket"

	"terminalproxy/protocol"
	"terminalproxy/protocol/handshake"
)

// transport carries the messages of one connection. sendMessage and finishSending are called on one
// goroutine, receiveMessage on another, cutConnection and close on any.
type transport interface {
	sendMessage(m protocol.Message) error
	// receiveMessage returns the gateway's next message. A *protocol.FieldError means that it was
	// invalid; any other error is the end.
	receiveMessage() (protocol.Message, error)
	// finishSending announces the last message. Once the gateway has read all of them,
	// receiveMessage ends.
	finishSending()
	// cutConnection drops a gateway that no longer reads.
	cutConnection()
	close()
}

// ready is a transport that may take a snapshot at once. trySnapshot reports whether it did; it
// neither waits nor fails. It is not called while another goroutine sends.
type ready interface {
	trySnapshot(s *protocol.Snapshot) bool
}

// Seat is a connection to a gateway in this same process. Handle is called on one goroutine, Next
// on another. Messages never change after they are handed over, in either direction.
type Seat interface {
	// Handle handles a message. It does not wait.
	Handle(m protocol.Message)
	// TryHandle is Handle if that is possible without any wait, even a short one; otherwise it does
	// nothing and reports false.
	TryHandle(m *protocol.Snapshot) bool
	// Next returns the gateway's next message. An error is the end, and closing done causes one.
	Next(done <-chan struct{}) (protocol.Message, error)
	// Leave gives the seat up, which ends Next. It may be called more than once.
	Leave()
}

// seated is the transport to a seat.
type seated struct {
	Seat
	done <-chan struct{}
	stop context.CancelFunc
}

func newSeated(ctx context.Context, seat Seat) transport {
	ctx, stop := context.WithCancel(ctx)
	return &seated{Seat: seat, done: ctx.Done(), stop: stop}
}

func (s *seated) sendMessage(m protocol.Message) error {
	if err := protocol.Check(m); err != nil {
		return err
	}
	s.Handle(m)
	return nil
}

func (s *seated) trySnapshot(m *protocol.Snapshot) bool {
	return protocol.Check(m) == nil && s.TryHandle(m)
}

func (s *seated) receiveMessage() (protocol.Message, error) { return s.Next(s.done) }
func (s *seated) finishSending()                            { s.Leave() }
func (s *seated) cutConnection()                            { s.stop() }

func (s *seated) close() {
	s.stop()
	s.Leave()
}

// wire is the transport over a WebSocket. It remembers the snapshot that the gateway has, to send
// differences.
type wire struct {
	conn    *websocket.Conn
	local   bool
	last    *protocol.Snapshot
	deltas  atomic.Bool    // the gateway understands protocol.SnapshotDelta
	whole   atomic.Bool    // the gateway wants the next snapshot whole
	rows    *protocol.Rows // as last, for rows
	alive   func() error
	pulse   handshake.Pulse
	place   place
	done    chan struct{}
	closing sync.Once
}

// wireConfig says how to check that the gateway is alive.
type wireConfig struct {
	urgent  func() bool   // whether an agent types; nil for never
	every   time.Duration // 0 for the usual rhythm
	several bool          // another gateway can take over
}

func newWire(conn *websocket.Conn, c wireConfig) *wire {
	conn.SetReadLimit(protocol.MaxMessage)
	w := &wire{
		conn:  conn,
		local: conn.NetConn().RemoteAddr().Network() == "unix",
		done:  make(chan struct{}),
	}
	w.alive = w.watchSilence()
	if !w.local && c.urgent != nil {
		go w.pingWhileUrgent(c) // ends with close
	}
	return w
}

func (w *wire) sendMessage(m protocol.Message) error {
	switch s := m.(type) {
	case *protocol.Snapshot:
		m, w.last = w.deltaOf(s), s
	case *protocol.Rows:
		m, w.rows = s.Difference(w.rows), s
	case *protocol.Blackout:
		w.last = nil // the gateway forgets what it may not show
	}
	frame, err := protocol.Encode(m)
	if err != nil {
		return err
	}
	// A stalled local gateway is cut when the queue is full; a timer would wake an idle session.
	if !w.local {
		if err := w.conn.SetWriteDeadline(time.Now().Add(writePatient)); err != nil {
			return err
		}
	}
	return w.conn.WriteMessage(websocket.TextMessage, frame)
}

func (w *wire) receiveMessage() (protocol.Message, error) {
	if err := w.alive(); err != nil {
		return nil, err
	}
	kind, frame, err := w.conn.ReadMessage()
	if err != nil {
		return nil, err
	}
	if kind != websocket.TextMessage {
		return nil, &protocol.FieldError{
			Code: protocol.CodeBadMessage,
			Say:  "messages are text frames",
		}
	}
	m, err := protocol.Decode(frame, protocol.MaxMessage)
	switch told := m.(type) {
	case *protocol.Subscribed:
		w.deltas.Store(told.Deltas)
	case *protocol.Error:
		if told.Field == "since" {
			w.whole.Store(true)
		}
	}
	return m, err
}

// deltaOf returns what the gateway lacks of a snapshot.
func (w *wire) deltaOf(s *protocol.Snapshot) protocol.Message {
	if w.whole.Swap(false) {
		return s
	}
	if w.deltas.Load() {
		if d := s.Delta(w.last, true); d != nil {
			return d
		}
	}
	return s.Difference(w.last, false)
}

// watchSilence returns the function to call at every sign of life of the gateway, which pings:
// after silence without one the connection counts as lost. On a unix socket the kernel reports the
// loss of the peer, without pings.
func (w *wire) watchSilence() (alive func() error) {
	if w.local {
		return func() error { return nil }
	}
	alive = func() error {
		w.pulse.Heard()
		return w.conn.SetReadDeadline(time.Now().Add(silence))
	}
	w.conn.SetPongHandler(func(string) error { return alive() })
	w.conn.SetPingHandler(func(data string) error {
		_ = w.conn.WriteControl(websocket.PongMessage, []byte(data), time.Now().Add(writePatient))
		return alive()
	})
	return alive
}

func (w *wire) finishSending() {
	frame := websocket.FormatCloseMessage(websocket.CloseNormalClosure, "")
	_ = w.conn.WriteControl(websocket.CloseMessage, frame, time.Now().Add(writePatient))
}

func (w *wire) cutConnection() { _ = w.conn.NetConn().Close() }
func (w *wire) close()         { w.closing.Do(func() { close(w.done); _ = w.conn.Close() }) }

// pingWhileUrgent pings a gateway over which an agent types, and cuts the connection without an
// answer: the user would read that the agent drives. One of several gateways is pinged in any case,
// and faster, since a stalled session could continue at another. While no agent types, the pings
// may pause a little after each answer.
func (w *wire) pingWhileUrgent(c wireConfig) {
	usual := handshake.Urgent
	if c.several {
		usual = handshake.UrgentOfSeveral
	}
	every := cmp.Or(c.every, usual)
	timer := time.NewTimer(every)
	defer timer.Stop()
	for rested := false; ; {
		select {
		case <-w.done:
			return
		case <-timer.C:
		}
		now := c.urgent()
		calm := c.several && !now
		if rested = calm && !rested && w.pulse.Answered(); rested {
			timer.Reset(every / 2)
			continue
		}
		timer.Reset(every)
		if now = now || calm; w.pulse.Lost(now) {
			w.cutConnection()
			return
		}
		if now {
			// An error shows up in the reader.
			_ = w.conn.WriteControl(websocket.PingMessage, nil, time.Now().Add(writePatient))
		}
	}
}
