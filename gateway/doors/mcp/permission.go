package mcp

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// PermissionTool is the only tool of a [Permission].
const PermissionTool = "approval_prompt"

// Permission is an MCP server for a coding agent that asks a tool for permission before it acts, as
// Claude Code does with --permission-prompt-tool. It offers neither terminals nor instructions for
// a model.
type Permission struct{ server *mcp.Server }

// NewPermission makes such a server. decide answers a call by its arguments, in that agent's
// format. An error fails the call, which allows nothing.
func NewPermission(
	version string, log *slog.Logger,
	decide func(ctx context.Context, arguments json.RawMessage) (answer string, err error),
) *Permission {
	p := &Permission{
		server: mcp.NewServer(
			&mcp.Implementation{Name: "permission", Title: "Permission prompts", Version: version},
			&mcp.ServerOptions{
				Logger: log, Capabilities: &mcp.ServerCapabilities{Tools: &mcp.ToolCapabilities{}},
			},
		),
	}
	p.server.AddTool(&mcp.Tool{
		Name: PermissionTool,
		Description: "For --permission-prompt-tool: asks the session's user. Not a tool for " +
			"models.",
		InputSchema: schema([]param{
			{name: "tool_name", kind: "string", required: true},
			{name: "input", kind: "object", required: true},
			{name: "tool_use_id", kind: "string"},
		}),
	}, func(ctx context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		answer, err := decide(ctx, req.Params.Arguments)
		if err != nil {
			return nil, err
		}
		return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: answer}}}, nil
	})
	return p
}

// Serve speaks to one client over a pair of streams until the client closes its end or ctx ends.
func (p *Permission) Serve(ctx context.Context, in io.ReadCloser, out io.WriteCloser) error {
	err := p.server.Run(ctx, newLines(in, out).libraryTransport())
	if err != nil && ctx.Err() == nil {
		return fmt.Errorf("serve mcp: %w", err)
	}
	return nil
}
