package agents_test

import (
	"encoding/json"
	"os"
	"testing"

	"terminalproxy/cmd/internal/dev/fakemodel"
	"terminalproxy/cmd/internal/e2e/world"

	"github.com/stretchr/testify/require"
)

// Claude Code with channels allowed asks its model when something happens in a terminal that it
// used. The cache of flags stands for what an account of Anthropic's gets.
func TestClaudeCodeIsWokenByAChannel_Client(t *testing.T) {
	w := world.New(t)
	c := w.NewChat(world.ChatAgentNamed("claude"))
	config := w.Path("claude/.claude.json")
	text, err := os.ReadFile(config)
	require.NoError(t, err)
	var settings world.Args
	require.NoError(t, json.Unmarshal(text, &settings))
	settings["cachedGrowthBookFeatures"] = world.Args{"tengu_harbor": true}
	w.WriteJSON("claude/.claude.json", settings)
	user := w.Terminal(100, 24)
	user.Run("proxy --agent bash -c 'read; echo BUILD ENDED; exit 2'")
	id := w.Session()
	servers := w.WriteJSON("mcp.json", world.Args{"mcpServers": world.Args{"term": world.Args{
		"command": "gateway", "args": []string{"mcp", "--channel"}, "alwaysLoad": true,
	}}})
	c.S.Run(c.Env + "CLAUDE_CODE_GB_DISK_CACHE_WHEN_TELEMETRY_OFF=1 claude --mcp-config " + servers + " --strict-mcp-config " +
		"--setting-sources user --permission-mode default --allowedTools mcp__term --dangerously-load-development-channels server:term")
	c.S.Wait("development channels")
	c.S.Press("Enter")
	c.S.Match(`(?m)^❯`)
	for {
		c.Say("look at my terminal")
		if q := c.Next(); hasTool(q, "terminal_read") {
			break
		}
		c.Reply(fakemodel.Turn{Say: "NOT YET"})
		c.S.Wait("NOT YET")
	}
	c.StartCall("terminal_wait", world.Args{"for": "text", "value": "BUILD ENDED", "timeout_ms": 100})
	require.Contains(t, c.Next().Result, "no match: timeout")
	c.Reply(fakemodel.Turn{Say: "I AM IDLE"})
	c.S.Wait("I AM IDLE")
	user.Press("Enter")
	require.Regexp(t, `<channel source="term" terminal="`+id+`">\s*`+id+`: (your terminal_wait is met|the program ended with status 2)`, c.Next().Text)
	c.Reply(fakemodel.Turn{Say: "ALL DONE"})
	c.S.Wait("ALL DONE")
}

// hasTool reports whether the model is offered a tool, under any name of its server.
func hasTool(q fakemodel.Request, name string) bool {
	for _, t := range q.Tools {
		if len(t.Name) >= len(name) && t.Name[len(t.Name)-len(name):] == name {
			return true
		}
	}
	return false
}
