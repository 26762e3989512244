package link

import (
	"cmp"
	"context"
	"sync"
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

// Seat is a place at a gateway in this same process. Handle is called from one goroutine, Next from another; messages
// are never changed once they are handed over, in either direction.
type Seat interface {
	// Handle takes a message. It does not wait.
	Handle(m protocol.Message)
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
		m, w.last = s.Difference(w.last, false), s
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
	return protocol.Decode(frame, protocol.MaxMessage)
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

// calm is how much slower one of several gateways is asked while no agent types.
const calm = 2

// ping asks a gateway over which an agent types for signs of life, and cuts the connection when none comes: the user would read that
// the agent drives. One of several is asked in any case, and in a faster rhythm: what stands still there could go on at another.
func (w *wire) ping(c wireConfig) {
	usual := handshake.Urgent
	if c.several {
		usual = handshake.UrgentOfSeveral
	}
	every := cmp.Or(c.every, usual)
	timer := time.NewTimer(every)
	defer timer.Stop()
	for {
		select {
		case <-w.done:
			return
		case <-timer.C:
		}
		now := c.urgent()
		next := every
		if c.several && !now {
			now, next = true, calm*every
		}
		timer.Reset(next)
		if w.pulse.Lost(now) {
			w.cut()
			return
		}
		if now {
			_ = w.conn.WriteControl(websocket.PingMessage, nil, time.Now().Add(writePatient)) // the reader says what is wrong
		}
	}
}
