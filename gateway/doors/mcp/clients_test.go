package mcp

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"terminalproxy/gateway/text"
	"terminalproxy/protocol"
)

func TestErrorThatItsClientWouldBuryIsNotMarked(t *testing.T) {
	for client, marked := range map[string]bool{"claude-code": true, "gemini-cli-mcp-client": false, "Gemini-CLI-MCP-Client": false} {
		f := newFake()
		f.client = client
		said, isError := call(t, connect(t, f, eras[1], nil), "terminal_read", args{"terminal": "nope"})
		require.Equal(t, marked, isError, client)
		require.True(t, strings.HasPrefix(said, "error: unknown terminal"), said)
	}
}

func TestAModelWithoutInstructionsHasThemInTheFirstTool(t *testing.T) {
	for client, there := range map[string]bool{"claude-code": false, "copilot-cli": true} {
		for _, era := range eras {
			h := newHost()
			h.client = client
			list, err := connectTo(t, h.fake, h, era, nil).ListTools(t.Context(), nil)
			require.NoError(t, err)
			about := list.Tools[0].Description
			require.Equal(t, there, strings.Contains(about, "Typing needs a grant"), about)
			require.Equal(t, there, strings.Contains(about, "max_tokens limits an answer, which names what it left out: 5000 by default"), about)
			require.Equal(t, there, strings.Contains(about, "start a terminal of your own"), about)
			require.NotContains(t, list.Tools[1].Description, "Typing needs a grant")
		}
	}
}

// The longest answer without a limit set is one that its client passes on whole.
func TestAnAnswerIsNoLongerThanItsClientPassesOn(t *testing.T) {
	const dense = 20 << 10 // bytes, of Copilot CLI
	for client, whole := range map[string]bool{"claude-code": false, "copilot-cli": true} {
		f := newFake()
		f.client = client
		f.read = func(*protocol.Read) (*protocol.ReadResult, error) {
			frame := f.frame
			return &protocol.ReadResult{Frame: &frame, Text: strings.Repeat(strings.Repeat("the ", 40)+"\n"+strings.Repeat("two ", 40)+"\n", 1000)}, nil
		}
		said, _ := call(t, connect(t, f, eras[0], nil), "terminal_read", args{"view": "history", "lines": 2000})
		require.Equal(t, whole, len(said) < dense, "%s: %d bytes", client, len(said))
		require.Greater(t, len(said), dense/2)
		said, _ = call(t, connect(t, f, eras[0], nil), "terminal_read", args{"view": "history", "lines": 2000, "max_tokens": text.DefaultTokens})
		require.Greater(t, len(said), dense, "the model asked for it")
	}
}
