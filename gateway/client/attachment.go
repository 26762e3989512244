package client

import (
	"context"
	"sync"

	"terminalproxy/protocol"
)

// Attachment attaches a person to a session: its live output, and with keys their keyboard. It
// survives a change of gateway.
type Attachment struct {
	stream
	session string
	keys    bool // the person types, and does not only watch

	sizing     sync.Mutex
	cols, rows int
}

// Attach watches a session that an agent started, and with keys attaches a terminal of cols x rows
// to it. The client must connect as a viewer or an owner. The attachment ends with ctx, or as
// described at [Attachment.Messages].
func (c *Client) Attach(
	ctx context.Context, sessionID string, cols, rows int, keys bool,
) (*Attachment, error) {
	s := &Attachment{session: sessionID, keys: keys, cols: cols, rows: rows}
	s.stream = stream{client: c, requestStream: s.requestOutput, sortMessage: s.sortMessage}
	if err := s.start(ctx); err != nil {
		return nil, err
	}
	return s, nil
}

// Messages streams terminal.output, the first one a repaint, and may end with one
// terminal.session.close or terminal.detach. A slow reader gets a repaint instead of the output
// that it missed. Once the stream has ended, Err returns the reason.
func (s *Attachment) Messages() <-chan protocol.Message { return s.out }

// Err returns why the messages ended, nil after a last one. Call it only after their end.
func (s *Attachment) Err() error { return s.err }

// Detach ends the attachment. It may be called from any goroutine.
func (s *Attachment) Detach() { s.cancel() }

// Type sends keys as the person's terminal sent them. Without a connection it fails, and the keys
// are lost.
func (s *Attachment) Type(keys []byte) error {
	for len(keys) > 0 {
		n := min(len(keys), protocol.MaxViewerInput)
		input := &protocol.ViewerInput{SessionID: s.session, DataB64: keys[:n]}
		if err := s.sendOnLink(input); err != nil {
			return err
		}
		keys = keys[n:]
	}
	return nil
}

// Resize reports the new size of the person's terminal.
func (s *Attachment) Resize(cols, rows int) error {
	s.sizing.Lock()
	s.cols, s.rows = cols, rows
	s.sizing.Unlock()
	return s.sendOnLink(s.attachRequest())
}

// RequestRepaint asks for a repaint.
func (s *Attachment) RequestRepaint() error {
	return s.sendOnLink(&protocol.Watch{SessionID: s.session})
}

func (s *Attachment) attachRequest() *protocol.Attach {
	s.sizing.Lock()
	defer s.sizing.Unlock()
	return &protocol.Attach{
		RequestID: s.client.NextID(),
		SessionID: s.session,
		Cols:      s.cols,
		Rows:      s.rows,
	}
}

// requestOutput attaches the keyboard, if there is one, and asks for the output.
func (s *Attachment) requestOutput(l link) (link, error) {
	if s.keys {
		if err := requestOn(l, s.attachRequest()); err != nil {
			return nil, err
		}
	}
	return l, l.sendMessage(&protocol.Watch{SessionID: s.session})
}

func (s *Attachment) sortMessage(m protocol.Message) (pass protocol.Message, last bool, err error) {
	switch m := m.(type) {
	case *protocol.Output:
		return m, false, nil
	case *protocol.SessionClose, *protocol.Detach:
		return m, true, nil
	case *protocol.Error:
		// any other error leaves the attachment alive
		if m.RequestID == "" && m.Code != protocol.CodeNoGrant {
			return nil, true, m
		}
	}
	return nil, false, nil
}
