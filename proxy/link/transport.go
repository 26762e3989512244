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

// transport is how one connection carries messages. send and finish are called from one goroutine, receive from another, cut and
// close from any.
type transport interface {
	send(m protocol.Message) error
	// receive is the gateway's next message. A *protocol.FieldError is what was none; any other error is the end.
	receive() (protocol.Message, error)
	// finish says that nothing follows. When the gateway has read everything, receive ends.
	finish()
	// cut is for a gateway that takes nothing any more.
	cut()
	close()
}

// ready is a transport that may take a snapshot at once. try reports whether it did; it neither waits nor fails. It is not called while
// another goroutine sends.
type ready interface {
	try(s *protocol.Snapshot) bool
}

// Seat is a place at a gateway in this same process. Handle is called from one goroutine, Next from another; messages
// are never changed once they are handed over, in either direction.
type Seat interface {
	// Handle takes a message. It does not wait.
	Handle(m protocol.Message)
	// Try is Handle where that waits for nobody at all, not even for a moment; else it does nothing and reports false.
	Try(m *protocol.Snapshot) bool
	// Next is the gateway's next message; an error is the end, and closing done makes one.
	Next(done <-chan struct{}) (protocol.Message, error)
	// Leave gives the place up; Next ends. More than one call is one.
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

func (s *seated) send(m protocol.Message) error {
	if err := protocol.Check(m); err != nil {
		return err
	}
	s.Handle(m)
	return nil
}

func (s *seated) try(m *protocol.Snapshot) bool { return protocol.Check(m) == nil && s.Try(m) }

func (s *seated) receive() (protocol.Message, error) { return s.Next(s.done) }
func (s *seated) finish()                            { s.Leave() }
func (s *seated) cut()                               { s.stop() }

func (s *seated) close() {
	s.stop()
	s.Leave()
}

// wire is the transport over a WebSocket. It remembers the snapshot that the gateway has, to send differences.
type wire struct {
	conn    *websocket.Conn
	local   bool
	last    *protocol.Snapshot
	brief   atomic.Bool    // the gateway takes what says that a screen has settled
	rows    *protocol.Rows // likewise
	alive   func() error
	pulse   handshake.Pulse
	place   place
	done    chan struct{}
	closing sync.Once
}

// wireConfig says when the gateway is asked for signs of life.
type wireConfig struct {
	urgent  func() bool   // whether an agent types; nil for never
	every   time.Duration // 0 for the usual rhythm
	several bool          // there is another gateway to turn to
}

func newWire(conn *websocket.Conn, c wireConfig) *wire {
	conn.SetReadLimit(protocol.MaxMessage)
	w := &wire{conn: conn, local: conn.NetConn().RemoteAddr().Network() == "unix", done: make(chan struct{})}
	w.alive = w.heartbeat()
	if !w.local && c.urgent != nil {
		go w.ping(c) // ends with close
	}
	return w
}

func (w *wire) send(m protocol.Message) error {
	switch s := m.(type) {
	case *protocol.Snapshot:
		m, w.last = w.news(s), s
	case *protocol.Rows:
		m, w.rows = s.Difference(w.rows), s
	}
	frame, err := protocol.Encode(m)
	if err != nil {
		return err
	}
	if !w.local { // a local gateway that stalls is cut when the queue is full; a timer would wake an idle session
		if err := w.conn.SetWriteDeadline(time.Now().Add(writePatient)); err != nil {
			return err
		}
	}
	return w.conn.WriteMessage(websocket.TextMessage, frame)
}

func (w *wire) receive() (protocol.Message, error) {
	if err := w.alive(); err != nil {
		return nil, err
	}
	kind, frame, err := w.conn.ReadMessage()
	if err != nil {
		return nil, err
	}
	if kind != websocket.TextMessage {
		return nil, &protocol.FieldError{Code: protocol.CodeBadMessage, Say: "messages are text frames"}
	}
	m, err := protocol.Decode(frame, protocol.MaxMessage)
	if told, ok := m.(*protocol.Subscribed); ok {
		w.brief.Store(told.Brief)
	}
	return m, err
}

// news is what the gateway does not have of a snapshot.
func (w *wire) news(s *protocol.Snapshot) *protocol.Snapshot {
	if w.brief.Load() {
		if brief := s.Brief(w.last); brief != nil {
			return brief
		}
	}
	return s.Difference(w.last, false)
}

// heartbeat is what is to be called at every sign of life of the gateway, which pings: without one for silence the
// connection counts as lost. On a unix socket the kernel tells when the peer is gone, and nobody pings.
func (w *wire) heartbeat() (alive func() error) {
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

func (w *wire) finish() {
	frame := websocket.FormatCloseMessage(websocket.CloseNormalClosure, "")
	_ = w.conn.WriteControl(websocket.CloseMessage, frame, time.Now().Add(writePatient))
}

func (w *wire) cut()   { _ = w.conn.NetConn().Close() }
func (w *wire) close() { w.closing.Do(func() { close(w.done); _ = w.conn.Close() }) }

// ping asks a gateway over which an agent types for signs of life, and cuts the connection when none comes: the user would read that
// the agent drives. One of several is asked in any case, and in a faster rhythm: what stands still there could go on at another. While no
// agent types it may rest a little after each answer.
func (w *wire) ping(c wireConfig) {
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
			w.cut()
			return
		}
		if now {
			_ = w.conn.WriteControl(websocket.PingMessage, nil, time.Now().Add(writePatient)) // the reader says what is wrong
		}
	}
}
