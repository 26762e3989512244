package mcp

import (
	"context"

	"terminalproxy/gateway/text"
	"terminalproxy/protocol"
)

// endTokens is the limit of an answer that tells the end of a program, where the agent sets none.
const endTokens = 2000

// showEnd is the answer that tells the end of a program: with everything that it printed since a revision, since the agent will
// want no more of it than what it has not seen. f is the last frame, for a gateway that cannot say more. An agent that sets no limit
// gets the last rows, and how to ask for the others: of a build that failed it wants the error, and searches for that.
func (s *Server) showEnd(ctx context.Context, info protocol.SessionInfo, f *protocol.Frame, since uint64, given *int, tokens int, said string) string {
	if given == nil {
		tokens = endTokens
	}
	got, err := s.cfg.Terminals.Read(ctx, &protocol.Read{SessionID: info.SessionID, SinceSeq: since, Follow: true, Scrollback: protocol.MaxHistory})
	if err != nil {
		return s.show(ctx, info, f, dialect.Whole(f, 0), tokens, said, "")
	}
	return s.show(ctx, info, got.Frame, dialect.Ended(got, since), tokens, text.WithMessages(got.Notes, said), unseen(got))
}
