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

// A list that lacks sessions does not say that a terminal does not exist.
func TestATerminalMissesOnlyFromAWholeList(t *testing.T) {
	f := newFake()
	require.False(t, isMissing(t.Context(), f, "vim-k3f9"))
	require.True(t, isMissing(t.Context(), f, "less-1"))
	lacking(f)
	require.False(t, isMissing(t.Context(), f, "less-1"))
	f.lacks, f.failing = nil, errGone
	require.False(t, isMissing(t.Context(), f, "less-1"))
}
