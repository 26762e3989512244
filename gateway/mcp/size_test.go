package mcp

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"
)

// A client sends the descriptions of the tools with every question to its model.
func TestTheToolsAreDescribedInSevenKilobytes(t *testing.T) {
	h := newHost()
	for _, era := range eras {
		list, err := connectTo(t, h.fake, h, era, nil).ListTools(t.Context(), nil)
		require.NoError(t, err)
		said, err := json.Marshal(list)
		require.NoError(t, err)
		t.Log(len(said), "bytes")
		require.Less(t, len(said), 7<<10)
	}
}
