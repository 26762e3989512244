package hub

import (
	"log/slog"

	"terminalproxy/protocol"
)

// The log names ids, roles and codes, for operators. It never contains words of a program, a user
// or an agent: no screen, title, command, reason or message, and no self-given name.

// logAttr returns the participant's attributes. They include its name if the gateway knows it from
// the token.
func (p *Peer) logAttr() slog.Attr {
	attrs := []any{"id", p.member.ID, "role", string(p.member.Role)}
	if p.member.Named {
		attrs = append(attrs, "token", p.member.Name)
	}
	if p.member.Namespace != "" {
		attrs = append(attrs, "namespace", p.member.Namespace)
	}
	return slog.Group("peer", attrs...)
}

// logControl logs that control was given or ended.
func logControl(log *slog.Logger, s *session, m protocol.Message) {
	switch m := m.(type) {
	case *protocol.ControlGrant:
		log.Info(
			"control given", "session", s.key.id, "agent", m.AgentID, "level", m.Level,
			"epoch", m.Epoch,
		)
	case *protocol.ControlRevoke:
		log.Info(
			"control ended", "session", s.key.id, "agent", m.AgentID, "reason", m.Reason,
			"epoch", m.Epoch,
		)
	}
}

// logRequest logs that a participant asks for control, or decides about it.
func (p *Peer) logRequest(m protocol.Message) {
	h := p.hub
	switch m := m.(type) {
	case *protocol.ControlRequest:
		h.log.Info("control requested", "session", m.SessionID, p.logAttr(), "level", m.Level)
	case *protocol.ChatSend, *protocol.ChatAnswer, *protocol.ChatInterrupt, *protocol.ChatAsk:
		h.log.Info(
			"conversation", "type", protocol.KindOf(m), "session", protocol.SessionID(m),
			p.logAttr(),
		)
	case *protocol.SecretAsk:
		h.log.Info("secret requested", "session", m.SessionID, p.logAttr(), "kind", m.Kind)
	case *protocol.SecretReply:
		h.log.Info(
			"secret answered elsewhere", "session", m.SessionID, p.logAttr(), "verdict", m.Verdict,
		)
	case *protocol.ControlDecide:
		h.log.Info("control decided", "session", m.SessionID, p.logAttr(), "widens", m.Widens())
	}
}

// logFailure logs that the gateway or a proxy refused a request.
func (p *Peer) logFailure(m protocol.Message, code protocol.Code) {
	h := p.hub
	session := protocol.SessionID(m)
	if h.sessions[key{p.member.Namespace, session}] == nil {
		session = "" // an unknown name may be any text
	}
	h.log.Info("refused", "type", protocol.KindOf(m), "session", session, p.logAttr(), "code", code)
}
