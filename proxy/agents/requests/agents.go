package requests

import (
	"errors"
	"strings"
	"time"

	"terminalproxy/protocol"
	"terminalproxy/proxy/consent/control"
	"terminalproxy/proxy/consent/names"
	"terminalproxy/proxy/display/notice"
)

// identifyAgent returns the agent as this session knows it. A token identifies it across
// connections, and without a token its name does: each connection has a new id.
func identifyAgent(book *names.Book, id, name, token string) control.Agent {
	name = notice.Clean(name, protocol.MaxName)
	a := control.Agent{
		ID:       id,
		Name:     book.AssignName(id, name),
		Identity: "name " + strings.ToLower(names.DisplayName(name)),
	}
	if token != "" {
		a.Identity = "token " + token
	}
	return a
}

// notNowError tells an agent why its request is not put to the user.
func notNowError(requestID string, err error) *protocol.Error {
	out := &protocol.Error{RequestID: requestID, Code: protocol.CodeBusy, Message: err.Error()}
	if _, never := errors.AsType[*control.NeverError](err); never {
		out.Code = protocol.CodeUserRefused
	}
	if later, ok := errors.AsType[*control.NotNow](err); ok {
		out.RetryAfterMs = int64((later.For + time.Millisecond - 1) / time.Millisecond)
		if later.Muted {
			out.Code = protocol.CodeUserRefused
		}
	}
	return out
}

// handlePresence notes whether an agent is connected, as the gateway reports it.
func (g *grants) handlePresence(m *protocol.AgentPresence) {
	g.Pump.Post(func(now time.Time) { g.Control.SetConnected(now, m.AgentID, m.Connected) })
}

// claimedProgram returns the program that an agent claims to ask with. Like an agent's name, it is
// made safe to print beside the proxy's own text, and cannot name a key.
func claimedProgram(raw string) string {
	if raw == "" {
		return ""
	}
	return names.DisplayName(raw)
}
