package mcp

import (
	"context"

	"terminalproxy/gateway/text"
	"terminalproxy/protocol"
)

// chatView is the view of a coding agent's conversation.
const chatView = "chat"

// readChat shows the latest records of a conversation with a coding agent.
func (s *toolset) readChat(ctx context.Context, terminal string, tokens int) (string, error) {
	info, err := s.findTerminal(ctx, terminal)
	if err != nil {
		return "", err
	}
	if w := info.Blackout; w.ByUser() {
		return "", &protocol.Error{Code: protocol.CodeBlackout, Message: text.Hidden(w)}
	}
	records, lost, err := s.cfg.Terminals.ReadChat(ctx, info.SessionID)
	if err != nil {
		return "", err
	}
	page := text.Chat(info, records, lost)
	mark := s.cfg.Mark()
	page.Wrap = func(rows string) string { return text.Fence(mark, "conversation", rows) }
	return page.Fit(tokens, dialect.Limit), nil
}
