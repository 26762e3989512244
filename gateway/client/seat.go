package client

import (
	"context"
	"sync"

	"terminalproxy/protocol"
)

// Seat is a person's place in front of a session: its live output, and with keys their keyboard. It lives through a change
// of gateway.
type Seat struct {
	stream
	session string
	keys    bool // sits down, and does not only look

	sizing     sync.Mutex
	cols, rows int
}

// Sit watches a session that an agent started, and with keys sits down in front of it, with a terminal of cols x rows. The
// client must connect as a viewer or an owner. The seat ends with ctx, or as [Seat.Messages] says.
func (c *Client) Sit(ctx context.Context, sessionID string, cols, rows int, keys bool) (*Seat, error) {
	s := &Seat{session: sessionID, keys: keys, cols: cols, rows: rows}
	s.stream = stream{client: c, ask: s.ask, sort: s.sort}
	if err := s.start(ctx); err != nil {
		return nil, err
	}
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
	s.sizing.Lock()
	s.cols, s.rows = cols, rows
	s.sizing.Unlock()
	return s.send(s.attach())
}

// Look asks for a repaint.
func (s *Seat) Look() error { return s.send(&protocol.Watch{SessionID: s.session}) }

func (s *Seat) attach() *protocol.Attach {
	s.sizing.Lock()
	defer s.sizing.Unlock()
	return &protocol.Attach{RequestID: s.client.NextID(), SessionID: s.session, Cols: s.cols, Rows: s.rows}
}

// ask takes the seat, and asks for the output when there is one.
func (s *Seat) ask(l link) (link, error) {
	if s.keys {
		if err := request(l, s.attach()); err != nil {
			return nil, err
		}
	}
	return l, l.send(&protocol.Watch{SessionID: s.session})
}

func (s *Seat) sort(m protocol.Message) (pass protocol.Message, last bool, err error) {
	switch m := m.(type) {
	case *protocol.Output:
		return m, false, nil
	case *protocol.SessionClose, *protocol.Detach:
		return m, true, nil
	case *protocol.Error:
		if m.RequestID == "" && m.Code != protocol.CodeNoGrant { // anything else was not done, and the seat is not lost
			return nil, true, m
		}
	}
	return nil, false, nil
}
