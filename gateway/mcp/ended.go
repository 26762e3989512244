package mcp

import (
	"context"

	"terminalproxy/gateway/text"
	"terminalproxy/protocol"
)

// seen is the revision that this agent has seen of a terminal, [protocol.FirstSeq] for none.
func (s *Server) seen(terminal string) uint64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return max(s.told(terminal).Rev, protocol.FirstSeq)
}

// showEnd is the answer that tells the end of a program: with everything that it printed since a revision, since the agent will
// want no more of it than what it has not seen. f is the last frame, for a gateway that cannot say more.
func (s *Server) showEnd(ctx context.Context, info protocol.SessionInfo, f *protocol.Frame, since uint64, tokens int, said string) string {
	got, err := s.cfg.Terminals.Read(ctx, &protocol.Read{SessionID: info.SessionID, SinceSeq: since, Follow: true, Scrollback: protocol.MaxHistory})
	if err != nil {
		return s.show(info, f, dialect.Whole(f, 0), tokens, said, "")
	}
	return s.show(info, got.Frame, dialect.Ended(got, since), tokens, text.WithMessages(got.Notes, said), unseen(got))
}
