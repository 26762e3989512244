package mcp

import (
	"context"
	"errors"
	"strings"

	"terminalproxy/gateway/client"
	"terminalproxy/gateway/text"
	"terminalproxy/protocol"
)

// endTokens limits an answer about the end of a program, if the agent sets no limit.
const endTokens = 2000

// showEnd answers with the end of a program: everything that it printed since a revision, because
// the agent has seen the rest. f is the last frame, for a gateway that cannot give more. before is
// the screen that the agent has seen, nil if it is not at hand. An agent that sets no limit gets
// all of the output if it is short, otherwise the last screen alone, and how to ask for the rows
// before it: after a failed build it looks for the error first.
func (s *toolset) showEnd(
	ctx context.Context, info protocol.SessionInfo, before, f *protocol.Frame, since uint64,
	given *int, tokens int, preamble string,
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
		return s.answers.formatAnswer(ctx, info, f, dialect.Whole(f, 0), tokens, preamble, "")
	}
	p := dialect.Ended(got, since)
	if hasSeenRest(before, since, got) {
		p = dialect.After(before, got.Frame, got.Frame.Screen.Lines)
	}
	if given == nil && !got.Frame.Screen.Alt && got.NextLine > got.FirstLine &&
		text.Tokens(strings.Join(p.Rows, "\n")) > endTokens {
		got.Unseen = max(got.Unseen, got.NextLine-got.FirstLine)
		got.Text, got.FirstLine, got.HiddenText = "", got.NextLine, nil
		p = dialect.Ended(got, since)
	}
	preamble = text.WithMessages(got.Notes, preamble)
	return s.answers.formatAnswer(ctx, info, got.Frame, p, tokens, preamble, hiddenTextWarning(got))
}

// endMs bounds the wait for the exit status of a program that has ended, in milliseconds.
const endMs = 2000

// showFailedEnd is showEnd for an input that the end of the program cut off: its receipt came
// before the exit status was known.
func (s *toolset) showFailedEnd(
	ctx context.Context, info protocol.SessionInfo, typed *client.Typed, tokens int, preamble string,
) (string, error) {
	end, err := s.cfg.Terminals.Wait(ctx, &protocol.Wait{
		SessionID: info.SessionID, Until: protocol.Until{Exit: true}, TimeoutMs: endMs,
	})
	switch {
	case err != nil:
		return "", err
	case end.ExitCode == nil || end.Frame == nil:
		return "", errors.New("the end is not known yet")
	}
	recordEnd(&info, end)
	since := s.answers.newsSince(ctx, info.SessionID, typed.Before.Seq)
	return s.showEnd(ctx, info, typed.Before, end.Frame, since, nil, tokens, preamble), nil
}

// hasSeenRest reports whether the reader has seen everything but the rows of the last screen that
// differ from before.
func hasSeenRest(before *protocol.Frame, since uint64, got *protocol.ReadResult) bool {
	return before != nil && before.Seq == since && before.Screen.Lines != nil && !before.Screen.Alt &&
		got.Frame.Screen.Lines != nil && !got.Frame.Screen.Alt && len(text.HistoryRows(got)) == 0 && got.Unseen == 0
}
