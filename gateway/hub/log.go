package hub

import (
	"log/slog"

	"terminalproxy/protocol"
)

// What happens is logged by ids, roles and codes, for operators. Nothing that a program, a user or an agent worded stands there: no
// screen, title, command, reason or message, and no name that somebody gave himself.

// logged are the participant's attributes. Its name stands there where the gateway knows it from the token.
func (p *Peer) logged() slog.Attr {
	attrs := []any{"id", p.member.ID, "role", string(p.member.Role)}
	if p.member.Named {
		attrs = append(attrs, "token", p.member.Name)
	}
	if p.member.Namespace != "" {
		attrs = append(attrs, "namespace", p.member.Namespace)
	}
	return slog.Group("peer", attrs...)
}

// logControl says who has the keyboard, or has it no more.
func (h *Hub) logControl(s *session, m protocol.Message) {
	switch m := m.(type) {
	case *protocol.ControlGrant:
		h.log.Info("control given", "session", s.key.id, "agent", m.AgentID, "level", m.Level, "epoch", m.Epoch)
	case *protocol.ControlRevoke:
		h.log.Info("control ended", "session", s.key.id, "agent", m.AgentID, "reason", m.Reason, "epoch", m.Epoch)
	}
}

// logRequest says that somebody asks for control, or decides about it.
func (h *Hub) logRequest(p *Peer, m protocol.Message) {
	switch m := m.(type) {
	case *protocol.ControlRequest:
		h.log.Info("control asked for", "session", m.SessionID, p.logged(), "level", m.Level)
	case *protocol.ChatSend, *protocol.ChatAnswer, *protocol.ChatInterrupt, *protocol.ChatAsk:
		h.log.Info("conversation", "type", protocol.KindOf(m), "session", protocol.SessionID(m), p.logged())
	case *protocol.ControlDecide:
		h.log.Info("control decided", "session", m.SessionID, p.logged(), "widens", m.Widens())
	}
}

// logFailure says that a request was refused, by the gateway or by a proxy.
func (h *Hub) logFailure(p *Peer, m protocol.Message, code protocol.Code) {
	session := protocol.SessionID(m)
	if h.sessions[key{p.member.Namespace, session}] == nil {
		session = "" // what is no session's name may be anything
	}
	h.log.Info("refused", "type", protocol.KindOf(m), "session", session, p.logged(), "code", code)
}
