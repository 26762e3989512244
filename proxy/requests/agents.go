package requests

import (
	"errors"
	"strings"
	"time"

	"terminalproxy/protocol"
	"terminalproxy/proxy/control"
	"terminalproxy/proxy/names"
	"terminalproxy/proxy/notice"
)

// agent is an agent as the session knows it. It is known again by its token, and without one by its name: an id is as new as
// its connection.
func (h *Handler) agent(id, name, token string) control.Agent {
	name = notice.Clean(name, protocol.MaxName)
	a := control.Agent{ID: id, Name: h.book.Call(id, name), Kin: "name " + strings.ToLower(names.Of(name))}
	if token != "" {
		a.Kin = "token " + token
	}
	return a
}

// notNow words why a request is not put to the user.
func notNow(requestID string, err error) *protocol.Error {
	out := &protocol.Error{RequestID: requestID, Code: protocol.CodeBusy, Message: err.Error()}
	if _, never := errors.AsType[*control.NeverError](err); never {
		out.Code = protocol.CodeUserRefused
	}
	if no, ok := errors.AsType[*control.NotNow](err); ok {
		out.RetryAfterMs = int64((no.For + time.Millisecond - 1) / time.Millisecond)
		if no.Muted {
			out.Code = protocol.CodeUserRefused
		}
	}
	return out
}

// present takes a gateway's word on whether an agent has a connection.
func (h *Handler) present(m *protocol.AgentPresence) {
	h.Pump.Post(func(now time.Time) { h.Control.Connected(now, m.AgentID, m.Connected) })
}
