package client

import (
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gorilla/websocket"

	"terminalproxy/protocol"
)

const (
	writeTimeout = 5 * time.Second
	// silence is how long a gateway may say nothing; it pings every 20 s.
	silence = 45 * time.Second
	// farewell is how long the close frame may take.
	farewell = 100 * time.Millisecond
)

// socket is a link over a WebSocket.
type socket struct {
	ws    *websocket.Conn
	peer  answering // nil where nothing is known of the far end
	local bool      // the gateway is on this machine, by a Unix socket
	// several: there is another gateway to turn to.
	several bool
	// gathers: the gateway said so; restarts is told that it restarts, and gone that the far end has ended the connection.
	gathers        bool
	restarts, gone func()

	writing sync.Mutex // gorilla allows one writer
	closing sync.Once
	closed  atomic.Bool   // by this end
	heard   atomic.Uint64 // frames
}

func newSocket(ws *websocket.Conn, gathers bool) *socket {
	s := &socket{ws: ws, gathers: gathers, restarts: func() {}, gone: func() {}, peer: peerOf(ws), local: ws.NetConn().RemoteAddr().Network() == "unix"}
	ws.SetReadLimit(protocol.MaxMessage)
	ws.SetPingHandler(func(data string) error {
		_ = ws.WriteControl(websocket.PongMessage, []byte(data), time.Now().Add(writeTimeout))
		return s.alive()
	})
	ws.SetPongHandler(func(string) error { s.heard.Add(1); return nil })
	return s
}

// alive moves the end of the gateway's silence.
func (s *socket) alive() error {
	if s.local { // the kernel tells when that peer is gone; nobody pings
		return nil
	}
	return s.ws.SetReadDeadline(time.Now().Add(silence))
}

func (s *socket) send(m protocol.Message) error {
	frame, err := protocol.Encode(m)
	if err != nil {
		return err
	}
	s.writing.Lock()
	defer s.writing.Unlock()
	if err := s.ws.SetWriteDeadline(time.Now().Add(writeTimeout)); err != nil {
		return err
	}
	if err := s.ws.WriteMessage(websocket.TextMessage, frame); err != nil {
		return err
	}
	return s.ws.SetWriteDeadline(time.Time{}) // one left behind would wake an idle process
}

// next passes over what is no message of this version, so that a newer gateway can say more.
func (s *socket) next() (protocol.Message, error) {
	for {
		if err := s.alive(); err != nil {
			return nil, fmt.Errorf("%w: %w", errLost, err)
		}
		_, frame, err := s.ws.ReadMessage()
		if websocket.IsCloseError(err, websocket.CloseServiceRestart) {
			s.restarts()
		}
		if err != nil {
			if !s.closed.Load() {
				s.gone()
			}
			return nil, fmt.Errorf("%w: %w", errLost, err)
		}
		if m, err := protocol.Decode(frame, protocol.MaxMessage); err == nil {
			s.heard.Add(1)
			return m, nil
		}
	}
}

func (s *socket) close() {
	s.closing.Do(func() {
		s.closed.Store(true)
		_ = s.ws.WriteControl(websocket.CloseMessage, websocket.FormatCloseMessage(websocket.CloseNormalClosure, ""), time.Now().Add(farewell))
		_ = s.ws.Close()
	})
}

func (s *socket) gathering() bool { return s.gathers || s.peer != nil && s.peer.Gathering() }
