package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"log/slog"

	"terminalproxy/cmd/internal/version"
	"terminalproxy/gateway/mcp"
	"terminalproxy/proxy/chat"
	"terminalproxy/proxy/chat/claude"
)

// servePermission serves the tool that Claude Code asks for leave. Every failure denies.
func (a *app) servePermission(ctx context.Context, session string, log *slog.Logger) (err error) {
	if session = cmp.Or(session, sessionAround()); session == "" {
		return usage(
			"mcp --permission: no session: run this inside the session whose user should " +
				"answer, or name it with --session ID")
	}
	outer, err := a.newAround(session, "claude -p")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, outer.client.Close()) }()
	return mcp.NewPermission(
		version.String(),
		log,
		func(ctx context.Context, arguments json.RawMessage) (string, error) {
			out, err := json.Marshal(outer.answerPermission(ctx, arguments))
			return string(out), err
		},
	).Serve(ctx, a.in, keepOpen{a.out})
}

// answerPermission answers a call of that tool.
func (o *around) answerPermission(ctx context.Context, arguments json.RawMessage) map[string]any {
	p, err := claude.ReadPermission(arguments)
	if err != nil {
		return p.Response(chat.Answer{Words: "This could not be put to the user: " + err.Error()})
	}
	_, answer, err := o.askPeople(ctx, &p.Request)
	if err != nil {
		return p.Response(chat.Answer{Words: "No answer came, so this is refused: " + err.Error()})
	}
	return p.Response(answer)
}
