package mcp

import (
	"context"
	"strings"

	"terminalproxy/gateway/text"
	"terminalproxy/protocol"
)

// endTokens limits an answer about the end of a program, if the agent sets no limit.
const endTokens = 2000

// showEnd answers with the end of a program: everything that it printed since a revision, since the
// agent has seen the rest. f is the last frame, for a gateway that cannot give more. An agent that
// sets no limit gets all of that if it is short, else the last screen alone, and how to ask for the
// rows before it: of a failed build it wants the error, and searches for that.
func (s *Server) showEnd(
	ctx context.Context,
	info protocol.SessionInfo,
	f *protocol.Frame,
	since uint64,
	given *int,
	tokens int,
	said string,
) string {
	if given == nil {
		tokens = endTokens
	}
	got, err := s.cfg.Terminals.Read(ctx, &protocol.Read{
		SessionID:  info.SessionID,
		SinceSeq:   since,
		Follow:     true,
		Scrollback: protocol.MaxHistory,
	})
	if err != nil {
		return s.formatAnswer(ctx, info, f, dialect.Whole(f, 0), tokens, said, "")
	}
	p := dialect.Ended(got, since)
	if given == nil && !got.Frame.Screen.Alt && got.NextLine > got.FirstLine &&
		text.Tokens(strings.Join(p.Rows, "\n")) > endTokens {
		got.Unseen = max(got.Unseen, got.NextLine-got.FirstLine)
		got.Text, got.FirstLine, got.HiddenText = "", got.NextLine, nil
		p = dialect.Ended(got, since)
	}
	return s.formatAnswer(ctx, info, got.Frame, p, tokens, text.WithMessages(got.Notes, said),
		unseen(got))
}
