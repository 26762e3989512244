package page

import (
	"errors"
	"fmt"
	"slices"

	"github.com/gorilla/websocket"

	"terminalproxy/gateway/auth"
	"terminalproxy/protocol"
)

// whoSays is what the user reads of a page's acts where no key says more.
const whoSays = "a page"

// looking are the messages that every page may send, and acting those that an owner's may send, too. Everything else ends here.
var (
	looking = []string{"sessions.list", "sessions.watch", "terminal.view", "terminal.ack", "terminal.unview", "terminal.read"}
	acting  = []string{"terminal.control.decide", "terminal.message"}
)

// filter decides about the frames between a page and the gateway.
type filter struct {
	role    auth.Role
	session string // "" for all
	bad     int    // frames in a row that were no messages
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
	kind, id := protocol.KindOf(m), protocol.SessionID(m)
	no := func(code protocol.Code, format string, args ...any) *protocol.Error {
		return &protocol.Error{RequestID: protocol.RequestID(m), Code: code, Message: fmt.Sprintf(format, args...)}
	}
	if !slices.Contains(looking, kind) && (f.role != auth.RoleOwner || !slices.Contains(acting, kind)) {
		return no(protocol.CodeForbidden, "a page of the role %s may not send %s", f.role, kind)
	}
	if f.session != "" && id != "" && id != f.session {
		return no(protocol.CodeForbidden, "this page is limited to the session %s", f.session)
	}
	switch m := m.(type) {
	case *protocol.ControlDecide:
		if m.Widens() && len(m.SignatureB64) == 0 {
			return no(protocol.CodeForbidden, "what gives agents more is signed by the page")
		}
		m.By = whoSays
	case *protocol.Note:
		m.By = whoSays
	}
	if frame, err := protocol.Encode(m); err != nil || len(frame) > maxPassed {
		return no(protocol.CodeTooLarge, "a %s of more than %d bytes: write less", kind, maxPassed)
	}
	return nil
}

// down is what a page gets of a gateway's frame, nil for nothing. A page that sees everything gets it as it is.
func (f *filter) down(frame []byte) []byte {
	if f.session == "" {
		return frame
	}
	m, err := protocol.Decode(frame, protocol.MaxMessage)
	if err != nil {
		return nil // of a newer gateway: who knows about which session
	}
	switch m := m.(type) {
	case *protocol.SessionsListResult:
		m.Sessions = f.own(m.Sessions)
	case *protocol.SessionsChanged:
		m.Sessions, m.Gone = f.own(m.Sessions), slices.DeleteFunc(m.Gone, func(id string) bool { return id != f.session })
		if len(m.Sessions)+len(m.Gone) == 0 && !m.Full {
			return nil
		}
	case *protocol.Error:
		if m.Code == protocol.CodeNoSession {
			m.Message = "the session is not there any more" // the gateway would say which are
		}
		return f.encode(m)
	case *protocol.Done:
		return frame
	default:
		if protocol.SessionID(m) != f.session {
			return nil
		}
		return frame
	}
	return f.encode(m)
}

// own is the page's one session of a list, which is a list then, too.
func (f *filter) own(list []protocol.SessionInfo) []protocol.SessionInfo {
	own := slices.DeleteFunc(list, func(s protocol.SessionInfo) bool { return s.SessionID != f.session })
	return append([]protocol.SessionInfo{}, own...)
}

func (f *filter) encode(m protocol.Message) []byte {
	frame, err := protocol.Encode(m)
	if err != nil {
		return nil
	}
	return frame
}
