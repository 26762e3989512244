package requests

import (
	"errors"
	"strings"
	"time"

	"terminalproxy/protocol"
	"terminalproxy/proxy/consent/control"
	"terminalproxy/proxy/consent/names"
	"terminalproxy/proxy/consent/question"
	"terminalproxy/proxy/display/notice"
)

// identifyAgent returns the agent as this session knows it. A token identifies it across
// connections, and without a token its name does: each connection has a new id. id is "" for an
// agent that is known only by a program that it started.
func identifyAgent(book *names.Book, id, name, token string) control.Agent {
	name = notice.Clean(name, protocol.MaxName)
	shown := names.DisplayName(name)
	a := control.Agent{ID: id, Name: shown, Identity: "name " + strings.ToLower(shown)}
	if id != "" {
		a.Name = book.AssignName(id, name)
	}
	if token != "" {
		a.Identity = "token " + token
	}
	return a
}

// notNowError tells an agent why its request is not put to the user.
func notNowError(requestID string, err error) *protocol.Error {
	if later, ok := errors.AsType[*question.NotNow](err); ok {
		return later.Refusal(requestID)
	}
	out := &protocol.Error{RequestID: requestID, Code: protocol.CodeBusy, Message: err.Error()}
	if _, never := errors.AsType[*control.NeverError](err); never {
		out.Code = protocol.CodeUserRefused
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
