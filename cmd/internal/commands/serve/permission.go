package serve

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"log/slog"

	"terminalproxy/cmd/internal/cli"
	"terminalproxy/cmd/internal/cli/outer"
	"terminalproxy/cmd/internal/process/version"
	"terminalproxy/gateway/doors/mcp"
	"terminalproxy/proxy/chat"
	"terminalproxy/proxy/chat/claude"
)

// servePermission serves the tool that Claude Code asks for permission. Every failure denies.
func servePermission(ctx context.Context, env *cli.Env, session string, log *slog.Logger) (err error) {
	if session = cmp.Or(session, outer.SessionID()); session == "" {
		return cli.Usage(
			"mcp --permission: no session: run this inside the session whose user should " +
				"answer, or name it with --session ID")
	}
	outer, err := outer.New(env, session, "claude -p")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, outer.Client.Close()) }()
	return mcp.NewPermission(
		version.String(),
		log,
		func(ctx context.Context, arguments json.RawMessage) (string, error) {
			out, err := json.Marshal(answerPermission(ctx, outer, arguments))
			return string(out), err
		},
	).Serve(ctx, env.In, keepOpen{env.Out})
}

// answerPermission answers a call of the permission tool.
func answerPermission(
	ctx context.Context, outer *outer.Conversation, arguments json.RawMessage,
) map[string]any {
	p, err := claude.ReadPermission(arguments)
	if err != nil {
		return p.Response(chat.Answer{Words: "This could not be put to the user: " + err.Error()})
	}
	_, answer, err := outer.AskPeople(ctx, &p.Request)
	if err != nil {
		return p.Response(chat.Answer{Words: "No answer came, so this is refused: " + err.Error()})
	}
	return p.Response(answer)
}
