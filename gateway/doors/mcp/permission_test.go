package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/require"
)

// The tool is alone on its list, and its failure is not an answer.
func TestThePermissionTool(t *testing.T) {
	for _, era := range eras {
		p := NewPermission("test", slog.New(slog.DiscardHandler), func(_ context.Context, arguments json.RawMessage) (string, error) {
			if string(arguments) == `{"tool_name":"Bash"}` {
				return `{"behavior":"deny"}`, nil
			}
			return `{"behavior":"allow"}`, errors.New("out of words")
		})
		near, far := mcp.NewInMemoryTransports()
		served := make(chan error, 1)
		go func() { served <- p.server.Run(context.Background(), far) }() // ends with the client
		s, err := mcp.NewClient(&mcp.Implementation{Name: "claude-code", Version: "1"}, nil).Connect(t.Context(), near, &mcp.ClientSessionOptions{ProtocolVersion: era})
		require.NoError(t, err)
		list, err := s.ListTools(t.Context(), nil)
		require.NoError(t, err)
		require.Len(t, list.Tools, 1)
		require.Equal(t, PermissionTool, list.Tools[0].Name)
		got, err := s.CallTool(t.Context(), &mcp.CallToolParams{Name: PermissionTool, Arguments: args{"tool_name": "Bash"}})
		require.NoError(t, err)
		require.Len(t, got.Content, 1)
		require.JSONEq(t, `{"behavior":"deny"}`, got.Content[0].(*mcp.TextContent).Text)
		_, err = s.CallTool(t.Context(), &mcp.CallToolParams{Name: PermissionTool, Arguments: args{}})
		require.ErrorContains(t, err, "out of words")
		require.NoError(t, s.Close())
		t.Logf("its client left: %v", <-served)
	}
}
