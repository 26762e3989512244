package mcp

import (
	"context"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// startProgress sends progress notes to a client that asked for them, until stop is called.
func (s *Server) startProgress(
	ctx context.Context, req *mcp.CallToolRequest, message string, total time.Duration,
) (stop func()) {
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

// millis returns a time limit as given, or its default.
func millis(given *int64, otherwise int64) int64 {
	if given == nil {
		return otherwise
	}
	return max(1, *given) // 0 would be no limit on the wire
}
