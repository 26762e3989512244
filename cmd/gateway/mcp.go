package main

import (
	"crypto/rand"
	"errors"
	"io"
	"log/slog"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"terminalproxy/cmd/internal/pictures"
	"terminalproxy/cmd/internal/version"
	"terminalproxy/gateway"
	"terminalproxy/gateway/client"
	"terminalproxy/gateway/mcp"
	"terminalproxy/protocol"
)

func (a *app) newMCP() *cobra.Command {
	var logs, permission bool
	var idle time.Duration
	var session, token string
	cmd := &cobra.Command{
		Use: "mcp", Short: "Serve terminals to an AI agent over MCP on stdio", Args: cobra.NoArgs,
		Long: "mcp is a Model Context Protocol server on standard input and output. The agent " +
			"starts it:\n\n" +
			"  claude mcp add term -- gateway mcp\n\n" +
			"It joins the local gateway, or serves it while no other process does. Programs " +
			"that the agent starts run in this process\n" +
			"and end with it.\n\n" +
			"With --permission it has one tool instead, for Claude Code without its interface. " +
			"Claude Code then asks for permission in the\n" +
			"conversation of a proxy --chat session. Answer there as usual: on the page, or " +
			"with gateway chat answer. Every failure refuses.",
		Example: "  claude -p 'run the tests' --mcp-config " +
			"'{\"mcpServers\":{\"ask\":{\"command\":\"gateway\",\"args\":[\"mcp\",\"--permission\"]}}}' \\\n" +
			"    --permission-prompt-tool mcp__ask__" + mcp.PermissionTool,
		RunE: func(cmd *cobra.Command, _ []string) error {
			switch {
			case idle < 0:
				return usage("--idle-limit %s: must not be negative", idle)
			case session != "" && !permission:
				return usage("--session: belongs to --permission")
			case permission:
				log, done := a.newLogger(logs, false, slog.LevelDebug)
				defer done()
				return a.servePermission(cmd.Context(), session, log)
			}
			return a.serveMCP(cmd, logs, idle, token)
		},
	}
	addAgentToken(cmd.Flags(), &token)
	cmd.Flags().DurationVar(&idle, "idle-limit", 30*time.Minute,
		"end an agent's program after this long without activity; 0 for never")
	cmd.Flags().BoolVar(
		&permission,
		"permission",
		false,
		"serve one tool, which asks a session's user for permission: for claude "+
			"--permission-prompt-tool",
	)
	cmd.Flags().StringVar(&session, "session", "",
		"with --permission, the `ID` of the session; default: the one in which this runs")
	cmd.Flags().BoolVar(&logs, "log", false, "write diagnostics to standard error")
	return cmd
}

func (a *app) serveMCP(
	cmd *cobra.Command,
	logs bool,
	idle time.Duration,
	token string,
) (err error) {
	ep, err := a.endpoint()
	if err != nil {
		return err
	}
	log, done := a.newLogger(logs, false, slog.LevelDebug)
	defer done()
	cfg := a.clientConfig(ep, protocol.PathAgent, "")
	cfg.Name, cfg.Log = "an agent", log
	local := &share{log: log}
	if ep.Local() {
		cfg.Dial = local.dialLocal
		defer func() { err = errors.Join(err, local.close()) }()
	}
	// Without a lasting identity the gateway takes control back from an agent whose connection
	// ends. It still is the same agent when the gateway changes: the programs that it started are
	// its own.
	cfg.Key, cfg.Passing = strings.ToLower(rand.Text()+rand.Text()), true
	if err := a.asksWith(&cfg, token); err != nil {
		return err
	}
	c := client.New(cfg)
	defer func() { err = errors.Join(err, c.Close()) }()
	serve := mcpConfig(c, log)
	serve.Programs = refusingHost{c, ep.String()}
	if ep.Local() {
		own := newPrograms(c, ep, local, a.taste, log)
		own.conf.Idle = idle
		serve.Programs = own
		defer own.close()
	}
	server := mcp.New(serve)
	return server.Serve(cmd.Context(), a.in, keepOpen{a.out})
}

// mcpConfig returns the parts of an MCP server's configuration that all servers on a connection
// share.
func mcpConfig(c *client.Client, log *slog.Logger) mcp.Config {
	return mcp.Config{
		Terminals:     c,
		Draw:          pictures.FitPNG,
		MissingGlyphs: pictures.MissingGlyphs,
		Version:       version.String(),
		Log:           log,
	}
}

// keepOpen is standard output, which stays open: the process shares it.
type keepOpen struct{ io.Writer }

// Close implements io.Closer.
func (keepOpen) Close() error { return nil }

// newLogger writes to standard error, or discards; done writes the rest.
func (a *app) newLogger(on, json bool, level slog.Level) (log *slog.Logger, done func()) {
	if !on {
		return slog.New(slog.DiscardHandler), func() {}
	}
	l := gateway.NewLog(a.err, json, level)
	return l.Logger, l.Close
}
