package agents_test

import (
	"encoding/json"
	"os"
	"slices"
	"testing"

	"terminalproxy/cmd/internal/e2e/world"

	"github.com/stretchr/testify/require"
)

// Progress notes keep these agents waiting beyond the time limit of a call.
func TestProgressOutlivesTheAgentsTimeLimit_Client(t *testing.T) {
	for _, tt := range []struct{ agent, config, servers string }{
		{"opencode", "home/config/opencode/opencode.json", "mcp"},
		{"copilot", "copilot/mcp-config.json", "mcpServers"},
	} {
		t.Run(tt.agent, func(t *testing.T) {
			c := world.CodingAgents[slices.IndexFunc(world.CodingAgents, func(c world.CodingAgent) bool { return c.Name == tt.agent })]
			bin := world.FromNpm(t, c.Name)
			w := world.New(t)
			user := w.Terminal(100, 24)
			user.RunBash("")
			m, url := w.PlayModel()
			env := c.SetUp(w, url)
			connectMCP(w, c, bin, env)
			text, err := os.ReadFile(w.Path(tt.config))
			require.NoError(t, err)
			var config map[string]any
			require.NoError(t, json.Unmarshal(text, &config))
			config[tt.servers].(map[string]any)["term"].(map[string]any)["timeout"] = 5000 //nolint:forcetypeassert // else the test fails
			w.WriteJSON(tt.config, config)
			m.StartAgent(bin, env, append(slices.Clone(c.Asks), "wait for the build")...)
			m.Next()
			m.Call("terminal_wait", world.Args{"for": "text", "value": "NEVER", "timeout_ms": 15000}, "no match: timeout")
			m.Call("terminal_wait", world.Args{"for": "idle", "value": "10ms", "timeout_ms": 240000}, "matched")
			m.Finish()
		})
	}
}
