package mcp

import (
	"context"

	"terminalproxy/gateway/text"
	"terminalproxy/protocol"
)

// showsNews reports whether the call asks only for rows that its reader has not seen.
func (in readArgs) showsNews() bool {
	return in.View == "changes" || in.View == "" && in.Lines == 0 && !in.Image
}

// readFor reads what the call asks for, and returns the request that it made. If the program has
// ended, the answer contains all that is kept of it.
func (s *toolset) readFor(
	ctx context.Context, in readArgs,
) (info protocol.SessionInfo, ask *protocol.Read, got *protocol.ReadResult, err error) {
	ask = in.readRequest()
	info, got, err = s.readTerminal(ctx, ask, func(terminal string) {
		if in.showsNews() {
			s.askForNews(ctx, ask, terminal, in.SinceRev)
		}
	})
	ended := err == nil && (info.State == protocol.StateExited || text.IsLastFrame(got.Frame))
	if !ended || !ask.Follow || in.SinceRev != nil {
		return info, ask, got, err
	}
	notes := got.Notes
	ask = &protocol.Read{SessionID: info.SessionID, Notes: true}
	if got, err = s.cfg.Terminals.Read(ctx, ask); err == nil {
		got.Notes = append(notes, got.Notes...)
	}
	return info, ask, got, err
}

// askForNews makes ask follow the terminal from a revision on, by default the one that the reader
// has seen. A reader who has seen nothing of it gets the screen.
func (s *toolset) askForNews(
	ctx context.Context, ask *protocol.Read, terminal string, since *uint64,
) {
	ask.Follow, ask.SinceSeq, ask.Scrollback = since != nil, 0, 0
	switch seen := s.answers.seenRevision(ctx, terminal); {
	case since != nil:
		ask.SinceSeq, ask.Scrollback = *since, protocol.MaxHistory
	case seen > protocol.FirstSeq:
		ask.Follow, ask.SinceSeq, ask.Scrollback = true, seen, 1 // the rest is only counted
	}
}

// readTerminal reads the terminal that ask names. Before each read it calls prepare with the
// terminal's id. If ask names the terminal, it looks it up and reads it at the same time.
func (s *toolset) readTerminal(
	ctx context.Context, ask *protocol.Read, prepare func(terminal string),
) (protocol.SessionInfo, *protocol.ReadResult, error) {
	if ask.SessionID == "" {
		info, err := s.findTerminal(ctx, "")
		if err != nil {
			return info, nil, err
		}
		ask.SessionID = info.SessionID
		prepare(info.SessionID)
		got, err := s.cfg.Terminals.Read(ctx, ask)
		return info, got, err
	}
	var got *protocol.ReadResult
	var readErr error
	read := make(chan struct{})
	prepare(ask.SessionID)
	go func() { // ends with the answer, or with ctx
		defer close(read)
		got, readErr = s.cfg.Terminals.Read(ctx, ask)
	}()
	info, err := s.findTerminal(ctx, ask.SessionID)
	<-read
	if err != nil { // it lists the terminals
		return info, nil, err
	}
	if info.SessionID != ask.SessionID { // a name
		ask.SessionID = info.SessionID
		prepare(info.SessionID)
		got, readErr = s.cfg.Terminals.Read(ctx, ask)
	}
	return info, got, readErr
}
