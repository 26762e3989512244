package client

import (
	"context"
	"sync"

	"terminalproxy/protocol"
)

// Attachment is a person attached to a session: its live output, and with keys their keyboard. It lives through a change of
// gateway.
type Attachment struct {
	stream
	session string
	keys    bool // types, and does not only watch

	sizing     sync.Mutex
	cols, rows int
}

// Attach watches a session that an agent started, and with keys attaches a terminal of cols x rows to it. The client must
// connect as a viewer or an owner. The attachment ends with ctx, or as [Attachment.Messages] says.
func (c *Client) Attach(ctx context.Context, sessionID string, cols, rows int, keys bool) (*Attachment, error) {
	s := &Attachment{session: sessionID, keys: keys, cols: cols, rows: rows}
	s.stream = stream{client: c, ask: s.ask, sort: s.sort}
	if err := s.start(ctx); err != nil {
		return nil, err
	}
	return s, nil
}

// Messages are terminal.output, the first one a repaint, and as the last one, if there is one, terminal.session.close or
// terminal.detach. A slow reader is repainted instead of being told everything. When they have ended, Err says why.
func (s *Attachment) Messages() <-chan protocol.Message { return s.out }

// Err is why the messages ended, nil after a last one. It is for after their end.
func (s *Attachment) Err() error { return s.err }

// Detach ends the attachment. It may be called from any goroutine.
func (s *Attachment) Detach() { s.cancel() }

// Type sends keys as the person's terminal sent them. While there is no connection they are lost, and Type says so.
func (s *Attachment) Type(keys []byte) error {
	for len(keys) > 0 {
		n := min(len(keys), protocol.MaxViewerInput)
		if err := s.send(&protocol.ViewerInput{SessionID: s.session, DataB64: keys[:n]}); err != nil {
			return err
		}
		keys = keys[n:]
	}
	return nil
}

// Resize says that the person's terminal has another size.
func (s *Attachment) Resize(cols, rows int) error {
	s.sizing.Lock()
	s.cols, s.rows = cols, rows
	s.sizing.Unlock()
	return s.send(s.attach())
}

// Look asks for a repaint.
func (s *Attachment) Look() error { return s.send(&protocol.Watch{SessionID: s.session}) }

func (s *Attachment) attach() *protocol.Attach {
	s.sizing.Lock()
	defer s.sizing.Unlock()
	return &protocol.Attach{RequestID: s.client.NextID(), SessionID: s.session, Cols: s.cols, Rows: s.rows}
}

// ask attaches, and asks for the output when there is one.
func (s *Attachment) ask(l link) (link, error) {
	if s.keys {
		if err := request(l, s.attach()); err != nil {
			return nil, err
		}
	}
	return l, l.send(&protocol.Watch{SessionID: s.session})
}

func (s *Attachment) sort(m protocol.Message) (pass protocol.Message, last bool, err error) {
	switch m := m.(type) {
	case *protocol.Output:
		return m, false, nil
	case *protocol.SessionClose, *protocol.Detach:
		return m, true, nil
	case *protocol.Error:
		if m.RequestID == "" && m.Code != protocol.CodeNoGrant { // anything else was not done, and the attachment is not lost
			return nil, true, m
		}
	}
	return nil, false, nil
}
