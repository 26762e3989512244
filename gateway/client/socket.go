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
	// silence bounds how long a gateway may send nothing; it pings every 20 s.
	silence = 45 * time.Second
	// farewell bounds how long the close frame may take.
	farewell = 100 * time.Millisecond
)

// socket is a link over a WebSocket.
type socket struct {
	ws    *websocket.Conn
	peer  peerState // nil if the far end is unknown
	local bool      // the gateway is on this machine, by a Unix socket
	// several: the client has another gateway to fall back to.
	several bool
	// gathers: the gateway reported that it is still gathering its sessions. restarts is called
	// when it restarts, gone when the far end has ended the connection.
	gathers        bool
	restarts, gone func()

	writing sync.Mutex // gorilla allows one writer
	closing sync.Once
	closed  atomic.Bool   // by this end
	heard   atomic.Uint64 // frames
}

func newSocket(ws *websocket.Conn, gathers bool) *socket {
	s := &socket{
		ws:       ws,
		gathers:  gathers,
		restarts: func() {},
		gone:     func() {},
		peer:     peerOf(ws),
		local:    ws.NetConn().RemoteAddr().Network() == "unix",
	}
	ws.SetReadLimit(protocol.MaxMessage)
	ws.SetPingHandler(func(data string) error {
		_ = ws.WriteControl(websocket.PongMessage, []byte(data), time.Now().Add(writeTimeout))
		return s.extendSilence()
	})
	ws.SetPongHandler(func(string) error { s.heard.Add(1); return nil })
	return s
}

// extendSilence postpones the read deadline for a gateway that pings.
func (s *socket) extendSilence() error {
	if s.local { // the kernel reports the end of a local peer, which does not ping
		return nil
	}
	return s.ws.SetReadDeadline(time.Now().Add(silence))
}

func (s *socket) sendMessage(m protocol.Message) error {
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
	return s.ws.SetWriteDeadline(time.Time{}) // a pending deadline would wake an idle process
}

// next skips unknown messages, so that a newer gateway can send more.
func (s *socket) next() (protocol.Message, error) {
	for {
		if err := s.extendSilence(); err != nil {
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
		_ = s.ws.WriteControl(websocket.CloseMessage,
			websocket.FormatCloseMessage(websocket.CloseNormalClosure, ""),
			time.Now().Add(farewell))
		_ = s.ws.Close()
	})
}

func (s *socket) isGathering() bool { return s.gathers || s.peer != nil && s.peer.Gathering() }
