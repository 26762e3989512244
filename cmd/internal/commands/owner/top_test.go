package owner

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"terminalproxy/cmd/internal/cli"
	"terminalproxy/cmd/internal/cli/clitest"
	"terminalproxy/protocol"
)

// Each line can be read as it comes.
func TestTopTellsChangesAsLines(t *testing.T) {
	clitest.ShareTerminal(t)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	r, w := io.Pipe()
	ended := make(chan int, 1)
	go func() {
		ended <- clitest.Run(ctx, []string{"top", "--json"}, io.NopCloser(strings.NewReader("")), w, io.Discard)
		_ = w.Close()
	}()
	lines := bufio.NewScanner(r)
	require.True(t, lines.Scan())
	var first protocol.SessionsChanged
	require.NoError(t, json.Unmarshal(lines.Bytes(), &first))
	require.True(t, first.Full)
	require.Len(t, first.Sessions, 1)
	require.Equal(t, "sh-1", first.Sessions[0].SessionID)
	cancel()
	for lines.Scan() { // to the end
	}
	require.Equal(t, cli.StatusOK, <-ended)
}
