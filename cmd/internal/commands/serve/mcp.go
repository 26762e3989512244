package serve

import (
	"context"
	"crypto/rand"
	"errors"
	"io"
	"log/slog"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"terminalproxy/cmd/internal/cli"
	"terminalproxy/cmd/internal/cli/programs"
	"terminalproxy/cmd/internal/process/version"
	"terminalproxy/cmd/internal/tui/pictures"
	"terminalproxy/gateway/client"
	"terminalproxy/gateway/doors/mcp"
	"terminalproxy/protocol"
)

// mcpOptions are the options of gateway mcp.
type mcpOptions struct {
	logs, permission, sharedOnly bool
	idle                         time.Duration
	session, token               string
}

// NewMCP makes the command gateway mcp.
func NewMCP(env *cli.Env) *cobra.Command {
	var opts mcpOptions
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
			return runMCP(cmd.Context(), env, opts)
		},
	}
	cli.AddAgentToken(cmd.Flags(), &opts.token)
	cmd.Flags().DurationVar(&opts.idle, "idle-limit", 30*time.Minute,
		"end an agent's program after this long without activity; 0 for never")
	cmd.Flags().BoolVar(&opts.permission, "permission", false,
		"serve one tool, which asks a session's user for permission: for claude "+
			"--permission-prompt-tool")
	cmd.Flags().StringVar(&opts.session, "session", "",
		"with --permission, the `ID` of the session; default: the one in which this runs")
	cmd.Flags().BoolVar(&opts.sharedOnly, "shared-only", false,
		"without the tools that start programs: only what the user shares")
	cmd.Flags().BoolVar(&opts.logs, "log", false, "write diagnostics to standard error")
	return cmd
}

// runMCP serves the terminal tools, or the tool that asks for permission.
func runMCP(ctx context.Context, env *cli.Env, opts mcpOptions) error {
	switch {
	case opts.idle < 0:
		return cli.Usage("--idle-limit %s: must not be negative", opts.idle)
	case opts.session != "" && !opts.permission:
		return cli.Usage("--session: belongs to --permission")
	case opts.permission:
		log, done := env.NewLogger(opts.logs, false, slog.LevelDebug)
		defer done()
		return servePermission(ctx, env, opts.session, log)
	}
	return serveMCP(ctx, env, opts)
}

func serveMCP(ctx context.Context, env *cli.Env, opts mcpOptions) (err error) {
	ep, err := env.Endpoint()
	if err != nil {
		return err
	}
	log, done := env.NewLogger(opts.logs, false, slog.LevelDebug)
	defer done()
	cfg := env.ClientConfig(ep, protocol.PathAgent, "")
	cfg.Name, cfg.Log = "an agent", log
	local := &cli.LocalShare{Log: log}
	if ep.Local() {
		cfg.Dial = local.DialLocal
		defer func() { err = errors.Join(err, local.Close()) }()
	}
	// Without a lasting identity, the gateway revokes control when the agent's connection ends. The
	// agent stays the same when it changes gateways: it still owns the programs that it started.
	cfg.Key, cfg.Transient = strings.ToLower(rand.Text()+rand.Text()), true
	if err := env.IdentifyAgent(&cfg, opts.token); err != nil {
		return err
	}
	c := client.New(cfg)
	defer func() { err = errors.Join(err, c.Close()) }()
	serve := mcpConfig(c, log)
	switch {
	case opts.sharedOnly:
	case !ep.Local():
		serve.Programs = programs.RefusingHost{Client: c, At: ep.String()}
	default:
		own := programs.New(c, ep, local, env.Taste, log)
		own.Conf.Idle = opts.idle
		serve.Programs = own
		defer own.Close()
	}
	server := mcp.New(serve)
	return server.Serve(ctx, env.In, keepOpen{env.Out})
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

// keepOpen is standard output without Close: the process shares it.
type keepOpen struct{ io.Writer }

// Close implements io.Closer.
func (keepOpen) Close() error { return nil }
