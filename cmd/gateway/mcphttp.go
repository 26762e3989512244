package main

import (
	"log/slog"

	"terminalproxy/cmd/internal/pictures"
	"terminalproxy/cmd/internal/version"
	"terminalproxy/gateway"
	"terminalproxy/gateway/client"
	"terminalproxy/gateway/mcp"
)

// mcpHandler makes the MCP servers of agents that come over HTTP.
func (a *app) mcpHandler(log *slog.Logger) func(*client.Client) gateway.MCPHandler {
	return func(c *client.Client) gateway.MCPHandler {
		return mcp.NewHTTP(mcp.Config{Terminals: c, Draw: pictures.Fit, MissingGlyphs: pictures.MissingGlyphs, Version: version.String(), Log: log})
	}
}
