package client

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/gorilla/websocket"

	"terminalproxy/protocol"
)

// Seat is a person's place in front of a session: its live output, and with keys their keyboard. It has a connection of
// its own, at the viewers' door, and lives through a change of gateway.
type Seat struct {
	client  *Client
	session string
	keys    bool // sits down, and does not only look
	out     chan protocol.Message
	cancel  context.CancelFunc

	mu         sync.Mutex
	ws         *websocket.Conn // nil while there is none
	cols, rows int
	err        error // why the messages ended
}

// Sit watches a session that an agent started, and with keys sits down in front of it, with a terminal of cols x rows. The
// client must have been made for the viewers' door. The seat ends with ctx, or as [Seat.Messages] says.
func (c *Client) Sit(ctx context.Context, sessionID string, cols, rows int, keys bool) (*Seat, error) {
	ctx, cancel := context.WithCancel(ctx)
	s := &Seat{client: c, session: sessionID, keys: keys, cols: cols, rows: rows, out: make(chan protocol.Message), cancel: cancel}
	unhook := context.AfterFunc(c.ctx, cancel)
	ws, err := s.open(ctx, false)
	if err != nil {
		unhook()
		cancel()
		return nil, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.ctx.Err() != nil {
		unhook()
		cancel()
		_ = ws.Close()
		return nil, ErrClosed
	}
	c.wg.Go(func() { // ends with ctx, or with the session
		defer unhook()
		defer cancel()
		defer close(s.out)
		s.run(ctx, ws)
	})
	return s, nil
}

// Messages are terminal.output, the first one a repaint, and as the last one, if there is one, terminal.session.close or
// terminal.detach. A slow reader is repainted instead of being told everything. When they have ended, Err says why.
func (s *Seat) Messages() <-chan protocol.Message { return s.out }

// Err is why the messages ended, nil after a last one. It is for after their end.
func (s *Seat) Err() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.err
}

// Leave ends the seat. It may be called from any goroutine.
func (s *Seat) Leave() { s.cancel() }

// Type sends keys as the person's terminal sent them. While there is no connection they are lost, and Type says so.
func (s *Seat) Type(keys []byte) error {
	for len(keys) > 0 {
		n := min(len(keys), protocol.MaxTyped)
		if err := s.send(&protocol.Typed{SessionID: s.session, DataB64: keys[:n]}); err != nil {
			return err
		}
		keys = keys[n:]
	}
	return nil
}

// Resize says that the person's terminal has another size.
func (s *Seat) Resize(cols, rows int) error {
	s.mu.Lock()
	s.cols, s.rows = cols, rows
	s.mu.Unlock()
	return s.send(&protocol.Attach{RequestID: s.client.nextID(), SessionID: s.session, Cols: cols, Rows: rows})
}

// Look asks for a repaint.
func (s *Seat) Look() error { return s.send(&protocol.Watch{SessionID: s.session}) }

func (s *Seat) send(m protocol.Message) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ws == nil {
		return errLost
	}
	return write(s.ws, m)
}

// write sends one message. One goroutine at a time may call it.
func write(ws *websocket.Conn, m protocol.Message) error {
	frame, err := protocol.Encode(m)
	if err != nil {
		return err
	}
	if err := ws.SetWriteDeadline(time.Now().Add(writeTimeout)); err != nil {
		return err
	}
	if err := ws.WriteMessage(websocket.TextMessage, frame); err != nil {
		return err
	}
	return ws.SetWriteDeadline(time.Time{})
}

// open makes a connection and takes the seat on it.
func (s *Seat) open(ctx context.Context, again bool) (*websocket.Conn, error) {
	ws, err := s.client.dial(ctx, again)
	if err != nil {
		return nil, err
	}
	defer context.AfterFunc(ctx, func() { _ = ws.Close() })()
	if err := s.take(ws); err != nil {
		_ = ws.Close()
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ws = ws
	return ws, nil
}

// take asks for the seat, and for the output when there is one.
func (s *Seat) take(ws *websocket.Conn) error {
	if !s.keys {
		return write(ws, &protocol.Watch{SessionID: s.session})
	}
	s.mu.Lock()
	attach := &protocol.Attach{RequestID: s.client.nextID(), SessionID: s.session, Cols: s.cols, Rows: s.rows}
	s.mu.Unlock()
	if err := request(ws, attach); err != nil {
		return err
	}
	return write(ws, &protocol.Watch{SessionID: s.session})
}

// run passes on what comes, over as many connections as that takes.
func (s *Seat) run(ctx context.Context, ws *websocket.Conn) {
	for {
		over, err := s.stream(ctx, ws)
		s.mu.Lock()
		s.ws, s.err = nil, err
		s.mu.Unlock()
		if over || ctx.Err() != nil {
			return
		}
		if ws, err = s.reopen(ctx); err != nil {
			s.mu.Lock()
			s.err = err
			s.mu.Unlock()
			return
		}
	}
}

// reopen takes the seat again. A gateway that just took over does not know the session before its proxy came back.
func (s *Seat) reopen(ctx context.Context) (*websocket.Conn, error) {
	for began := time.Now(); ; {
		ws, err := s.open(ctx, true)
		refusal, refused := errors.AsType[*protocol.Error](err)
		passing := !refused || refusal.Code == protocol.CodeNoSession || refusal.Code == protocol.CodeUnavailable
		if _, gone := errors.AsType[*Unreachable](err); err == nil || gone || !passing || ctx.Err() != nil || time.Since(began) > patience {
			return ws, err
		}
		if err := pause(ctx, gatherPause); err != nil {
			return nil, err
		}
	}
}

// stream passes on what one connection brings, and reports whether the seat is over.
func (s *Seat) stream(ctx context.Context, ws *websocket.Conn) (over bool, err error) {
	defer context.AfterFunc(ctx, func() { _ = ws.Close() })()
	defer func() { _ = ws.Close() }()
	defer watchStream(ws)()
	next := frames(ws)
	for {
		m, err := next()
		if err != nil {
			return ctx.Err() != nil, nil // there will be another connection
		}
		last := false
		switch m := m.(type) {
		case *protocol.Output:
		case *protocol.SessionClose, *protocol.Detach:
			last = true
		case *protocol.Error:
			if !s.passing(m) {
				return true, m
			}
			continue
		default:
			continue
		}
		select {
		case s.out <- m:
		case <-ctx.Done():
			return true, nil
		}
		if last {
			return true, nil
		}
	}
}

// passing reports whether an error says that something was not done, and not that the seat is lost.
func (s *Seat) passing(m *protocol.Error) bool {
	return m.RequestID != "" || m.Code == protocol.CodeNoGrant
}
