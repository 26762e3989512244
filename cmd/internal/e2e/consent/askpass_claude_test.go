package consent_test

import (
	"os"
	"path/filepath"
	"testing"

	"terminalproxy/cmd/internal/e2e/world"

	"github.com/stretchr/testify/require"
)

// The real Claude Code with the plugin's hook: a git clone of its Bash tool asks the user, who
// reads that Claude Code asks, and neither the model nor the transcript has the password.
func TestClaudeCodesGitAsksTheUser_Client(t *testing.T) {
	bin := world.FromNpm(t, "claude")
	a := newTool(t, "git")
	heard := a.Overhear(a.id)
	url := gitServer(a)
	m, model := a.PlayModel()
	servers := a.WriteJSON("mcp.json", world.Args{"mcpServers": world.Args{"term": world.Args{"command": "gateway", "args": []string{"mcp"}}}})
	m.StartAgent(bin, a.ClaudeEnv(model), "-p", "clone it", "--mcp-config", servers, "--strict-mcp-config",
		"--settings", filepath.Join(contrib(t), "plugin/hooks/claude.json"), "--setting-sources", "user", "--allowedTools", "Bash,mcp__term")
	m.Next()
	m.Call("terminal_list", nil, a.id)
	m.StartCall("Bash", world.Args{"command": "git clone -q " + url + " cloned && echo cloned it", "description": "a test"})
	a.answer("“claude” wants your answer for git", "ada")
	a.answer("“claude” wants your password for git", a.canary)
	said := m.Next().Text
	require.Contains(t, said, "cloned it")
	require.NotContains(t, said, a.canary)
	a.noCanary(heard)
	m.StartCall("Bash", world.Args{"command": "git clone -q " + url + " again", "description": "a test"})
	a.press("“claude” wants your answer for git", "C-\\")
	require.Contains(t, m.Next().Text, "the user refused the answer for git. Do not try again")
	m.Finish()
	require.FileExists(t, a.Path("cloned/.git/HEAD"))
}

// contrib returns the directory with what others ship of the project.
func contrib(t *testing.T) string {
	t.Helper()
	dir, err := os.Getwd()
	require.NoError(t, err)
	return filepath.Join(dir, "../../../../contrib")
}
