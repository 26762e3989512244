package mcp

import (
	"context"
	"fmt"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// startProgress sends progress notes to a client that asked for them, until stop is called.
func (s *toolset) startProgress(
	ctx context.Context, req *mcp.CallToolRequest, message string, total time.Duration,
) (stop func()) {
	if t := taskOf(ctx); t != nil {
		t.setMessage(message) // a task's client polls, and gets no notes
		return func() {}
	}
	token := req.Params.GetProgressToken()
	if token == nil {
		return func() {}
	}
	began := time.Now()
	// no note follows the answer: stop waits for it
	return repeat(ctx, s.cfg.ProgressEvery, func(ctx context.Context) {
		note := &mcp.ProgressNotificationParams{
			ProgressToken: token, Message: message, Progress: time.Since(began).Seconds(),
			Total: total.Seconds(),
		}
		if err := req.Session.NotifyProgress(ctx, note); err != nil {
			s.cfg.Log.Debug("progress note not sent", "error", err)
		}
	})
}

// timeLimit returns how long a call may wait, in milliseconds: as given, or its default. A client
// that gives up on a silent call gets its answer in time, unless progress notes keep the call
// alive. A task may take longer.
func timeLimit(ctx context.Context, req *mcp.CallToolRequest, given *int64, otherwise int64) int64 {
	if taskOf(ctx) != nil {
		return millis(given, taskTimeoutMs)
	}
	limit := millis(given, otherwise)
	if !callerOf(req).extends || req.Params.GetProgressToken() == nil {
		limit = min(limit, maxSilentMs)
	}
	return limit
}

// shortenedNote says, after a wait that timed out, that it was shorter than the call asked for, or
// returns "".
func shortenedNote(ctx context.Context, req *mcp.CallToolRequest, given *int64) string {
	if given == nil || timeLimit(ctx, req, given, 0) == *given || *given == 0 {
		return ""
	}
	return fmt.Sprintf("; waited only %d s, because your client may give up on a longer call: call again",
		maxSilentMs/1000)
}

// millis returns a time limit as given, or its default.
func millis(given *int64, otherwise int64) int64 {
	if given == nil {
		return otherwise
	}
	return max(1, *given) // 0 would be no limit on the wire
}
