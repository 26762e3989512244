package mcp

import (
	"encoding/json"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/require"
)

// A client sends the descriptions of the tools with every question to its model.
func TestTheToolsAreDescribedInSevenKilobytes(t *testing.T) {
	h := newHost()
	withTasks := &mcp.ClientCapabilities{}
	withTasks.AddExtension(tasksExtension, nil)
	for _, can := range []*mcp.ClientCapabilities{nil, withTasks} {
		list, err := connectTo(t, h.fake, h, eras[2], &mcp.ClientOptions{Capabilities: can}).ListTools(t.Context(), nil)
		require.NoError(t, err)
		said, err := json.Marshal(list)
		require.NoError(t, err)
		require.LessOrEqual(t, len(said), 7<<10)
		t.Log(len(said), "bytes")
	}
}
