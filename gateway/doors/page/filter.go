package page

import (
	"bytes"
	"errors"
	"fmt"
	"time"

	"github.com/gorilla/websocket"

	"terminalproxy/gateway/access/rights"
	"terminalproxy/protocol"
)

// pageName is the name that the user reads for a page's actions if no key gives a better one.
const pageName = "a page"

// filter checks the frames between a page and the gateway.
type filter struct {
	rights rights.Set
	now    func() time.Time
	bad    int // invalid frames in a row
}

// errBadFrames ends a connection.
var errBadFrames = errors.New("three invalid frames in a row")

// fromPage decodes a page's frame. It returns the message for the gateway, or the refusal for the
// page; err ends the connection.
func (f *filter) fromPage(
	kind int,
	frame []byte,
) (m protocol.Message, refused *protocol.Error, err error) {
	fault := error(&protocol.FieldError{
		Code: protocol.CodeBadMessage,
		Say:  "a binary frame: messages are JSON in text frames",
	})
	if kind == websocket.TextMessage {
		m, fault = protocol.Decode(frame, protocol.MaxAgentMessage)
	}
	if fault == nil {
		f.bad = 0
		refused = f.authorize(m)
		return m, refused, nil
	}
	if f.bad++; f.bad == badFrames {
		return nil, nil, errBadFrames
	}
	if fe, ok := errors.AsType[*protocol.FieldError](fault); ok {
		return nil, fe.Reply(), nil
	}
	return nil, &protocol.Error{Code: protocol.CodeBadMessage, Message: fault.Error()}, nil
}

// authorize returns the reason to reject a message, or nil. It fills in the name of the page.
func (f *filter) authorize(m protocol.Message) *protocol.Error {
	if refused := f.rights.CheckMessage(m, f.now()); refused != nil {
		return refused
	}
	switch m := m.(type) {
	case *protocol.ControlDecide:
		m.By = pageName
	case *protocol.Note:
		m.By = pageName
	case *protocol.ChatSend:
		m.By = pageName
	case *protocol.ChatAnswer:
		m.By = pageName
	case *protocol.ChatInterrupt:
		m.By = pageName
	}
	if frame, err := protocol.Encode(m); err != nil || len(frame) > frameLimit(m) {
		return &protocol.Error{
			RequestID: protocol.RequestID(m), Code: protocol.CodeTooLarge,
			Message: fmt.Sprintf(
				"a %s of more than %d bytes: write less",
				protocol.KindOf(m),
				frameLimit(m),
			),
		}
	}
	return nil
}

// frameLimit returns the maximum size of m's frame, in bytes.
func frameLimit(m protocol.Message) int {
	switch m.(type) {
	case *protocol.ChatSend, *protocol.ChatAnswer:
		return protocol.MaxAgentMessage
	}
	return maxForwarded
}

// toPage returns the part of a gateway's frame that the page may see, or nil. A page without a
// limit to one session gets the frame unchanged.
func (f *filter) toPage(frame []byte) []byte {
	if f.rights.Session == "" || f.isOwnRows(frame) {
		return frame
	}
	m, err := protocol.Decode(frame, protocol.MaxMessage)
	if err != nil {
		return nil // from a newer gateway, and about an unknown session
	}
	switch m := m.(type) {
	case *protocol.SessionsListResult:
		m.Sessions = f.rights.FilterSessions(m.Sessions)
	case *protocol.SessionsChanged:
		part := f.rights.FilterChange(m)
		if part == nil {
			return nil
		}
		return f.encodeOrDrop(part)
	case *protocol.Error:
		if m.Code == protocol.CodeNoSession {
			m.Message = "the session is no longer there" // the gateway's message lists the others
		}
		return f.encodeOrDrop(m)
	case *protocol.Done:
		return frame
	default:
		if !f.rights.CanSee(protocol.SessionID(m)) {
			return nil
		}
		return frame
	}
	return f.encodeOrDrop(m)
}

// isOwnRows reports whether a frame holds rows of the page's session, as this gateway writes them.
// Most frames are such rows, so they are not decoded.
func (f *filter) isOwnRows(frame []byte) bool {
	rest, isRows := bytes.CutPrefix(frame, []byte(`{"type":"terminal.rows","sessionId":"`))
	rest, isOwn := bytes.CutPrefix(rest, []byte(f.rights.Session))
	return isRows && isOwn && bytes.HasPrefix(rest, []byte(`",`))
}

func (f *filter) encodeOrDrop(m protocol.Message) []byte {
	frame, err := protocol.Encode(m)
	if err != nil {
		return nil
	}
	return frame
}
