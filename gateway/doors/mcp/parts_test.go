package mcp

import (
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/require"
)

func TestNoTaskStartsAfterTheEnd(t *testing.T) {
	ts := New(Config{}).tasks
	ts.cancelAll()
	_, _, err := ts.startTask(t.Context(), &mcp.CallToolRequest{Session: new(mcp.ServerSession)})
	require.ErrorContains(t, err, "connect again")
	require.Empty(t, ts.byID)
}
