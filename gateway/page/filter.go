package page

import (
	"bytes"
	"errors"
	"fmt"
	"time"

	"github.com/gorilla/websocket"

	"terminalproxy/gateway/rights"
	"terminalproxy/protocol"
)

// whoSays is what the user reads of a page's acts where no key says more.
const whoSays = "a page"

// filter decides about the frames between a page and the gateway.
type filter struct {
	rights rights.Set
	now    func() time.Time
	bad    int // frames in a row that were no messages
}

// errBadFrames ends a connection.
var errBadFrames = errors.New("three invalid frames in a row")

// up is the message of a page's frame that the gateway gets, or the answer to one that it does not get.
func (f *filter) up(kind int, frame []byte) (m protocol.Message, no *protocol.Error, err error) {
	fault := error(&protocol.FieldError{Code: protocol.CodeBadMessage, Say: "a binary frame: messages are JSON in text frames"})
	if kind == websocket.TextMessage {
		m, fault = protocol.Decode(frame, protocol.MaxAgentMessage)
	}
	if fault == nil {
		f.bad = 0
		no = f.judge(m)
		return m, no, nil
	}
	if f.bad++; f.bad == badFrames {
		return nil, nil, errBadFrames
	}
	if fe, ok := errors.AsType[*protocol.FieldError](fault); ok {
		return nil, fe.Reply(), nil
	}
	return nil, &protocol.Error{Code: protocol.CodeBadMessage, Message: fault.Error()}, nil
}

// judge says why a message does not pass, and puts in what a page does not say of itself.
func (f *filter) judge(m protocol.Message) *protocol.Error {
	if no := f.rights.Refuses(m, f.now()); no != nil {
		return no
	}
	switch m := m.(type) {
	case *protocol.ControlDecide:
		m.By = whoSays
	case *protocol.Note:
		m.By = whoSays
	case *protocol.ChatSend:
		m.By = whoSays
	case *protocol.ChatImage:
		m.By = whoSays
	case *protocol.ChatAnswer:
		m.By = whoSays
	case *protocol.ChatInterrupt:
		m.By = whoSays
	}
	if frame, err := protocol.Encode(m); err != nil || len(frame) > most(m) {
		return &protocol.Error{
			RequestID: protocol.RequestID(m), Code: protocol.CodeTooLarge,
			Message: fmt.Sprintf("a %s of more than %d bytes: write less", protocol.KindOf(m), most(m)),
		}
	}
	return nil
}

// most is how many bytes a frame of m may have.
func most(m protocol.Message) int {
	switch m.(type) {
	case *protocol.ChatSend, *protocol.ChatImage, *protocol.ChatAnswer:
		return protocol.MaxAgentMessage
	}
	return maxPassed
}

// down is what a page gets of a gateway's frame, nil for nothing. A page that sees everything gets it as it is.
func (f *filter) down(frame []byte) []byte {
	if f.rights.Session == "" || f.ownRows(frame) {
		return frame
	}
	m, err := protocol.Decode(frame, protocol.MaxMessage)
	if err != nil {
		return nil // of a newer gateway: who knows about which session
	}
	switch m := m.(type) {
	case *protocol.SessionsListResult:
		m.Sessions = f.rights.Sessions(m.Sessions)
	case *protocol.SessionsChanged:
		part := f.rights.Changed(m)
		if part == nil {
			return nil
		}
		return f.encode(part)
	case *protocol.Error:
		if m.Code == protocol.CodeNoSession {
			m.Message = "the session is not there any more" // the gateway would say which are
		}
		return f.encode(m)
	case *protocol.Done:
		return frame
	default:
		if !f.rights.Sees(protocol.SessionID(m)) {
			return nil
		}
		return frame
	}
	return f.encode(m)
}

// ownRows reports whether a frame is rows of the page's session, as this gateway writes them: of all that a page gets they are nearly all,
// and are not read for that.
func (f *filter) ownRows(frame []byte) bool {
	rest, is := bytes.CutPrefix(frame, []byte(`{"type":"terminal.rows","sessionId":"`))
	rest, own := bytes.CutPrefix(rest, []byte(f.rights.Session))
	return is && own && bytes.HasPrefix(rest, []byte(`",`))
}

func (f *filter) encode(m protocol.Message) []byte {
	frame, err := protocol.Encode(m)
	if err != nil {
		return nil
	}
	return frame
}
