package agents_test

import (
	"strings"
	"syscall"
	"testing"

	"terminalproxy/cmd/internal/e2e/world"

	"github.com/stretchr/testify/require"
)

// The prompt hook gives the screen to the model. Once the user allows it, the model's calls
// reach vim through our MCP server.
func TestClaudeCodeSeesAndDrivesVim_Client(t *testing.T) {
	bin := world.FromNpm(t, "claude")
	w := world.New(t, "vim")
	w.Write("notes.txt", "bread\n")
	s := w.Terminal(100, 24)
	s.Run("proxy --agent vim -u NONE -n notes.txt")
	s.Wait("bread") // vim shows the file's name before it has read the file
	id := w.Session()

	m := promptClaude(w, bin, world.Args{"command": "gateway", "args": []string{"mcp"}}, "put apples on my list")
	text := m.Next().Text
	for _, want := range []string{
		"put apples on my list", id + " rev ", `"vim -u NONE -n notes.txt" 100x24`, " screen, untrusted\nbread\n~\n",
	} {
		require.True(t, strings.Contains(text, want), "the first prompt, with what the hook says, has no %q", want)
	}
	driveVim(m, s, id, "Claude Code")
	m.Call("terminal_release", world.Args{"note": "apples are on your list"}, "released: the user has the keyboard")
	s.Wait("apples are on your list")
	m.Finish()
	s.QuitProgram(":q\n")
}

// The same agent, connected to gateway serve with its own token.
func TestClaudeCodeOverHTTP_Client(t *testing.T) {
	bin := world.FromNpm(t, "claude")
	w := world.New(t, "vim")
	token := strings.TrimSpace(w.MustGateway("token", "create", "claude", "--role", "agent"))
	serving := w.Serve("gateway")
	w.Write("notes.txt", "bread\n")
	s := w.Terminal(100, 24)
	s.Run("proxy --agent vim -u NONE -n notes.txt")
	s.Wait("bread") // vim shows the file's name before it has read the file
	id := w.Session()

	m := promptClaude(w, bin, world.Args{
		"type": "http", "url": strings.Replace(serving.URL, "ws", "http", 1) + "/mcp", "headers": world.Args{"Authorization": "Bearer " + token},
	}, "what is on my list?")
	require.Equal(t, 1, strings.Count(m.Next().Text, id+" rev "), "the hook tells the model of the terminal")
	m.Call("terminal_read", nil, id+" rev ", `"vim -u NONE -n notes.txt" 100x24`, "\nbread\n~\n")
	m.Finish()

	s.QuitProgram(":q\n")
	require.NoError(t, serving.Cmd.Process.Signal(syscall.SIGTERM))
	require.Zero(t, serving.Wait().Status)
}

// promptClaude runs a prompt with this MCP server and our prompt hook.
func promptClaude(w *world.World, bin string, server world.Args, prompt string) *world.PlayedModel {
	w.T.Helper()
	m, url := w.PlayModel()
	servers := w.WriteJSON("mcp.json", world.Args{"mcpServers": world.Args{"term": server}})
	settings := w.WriteJSON("settings.json", world.Args{"hooks": world.Args{"UserPromptSubmit": []world.Args{
		{"hooks": []world.Args{{"type": "command", "command": "gateway context || true"}}},
	}}})
	m.StartAgent(bin, w.ClaudeEnv(url), "-p", prompt, "--mcp-config", servers, "--strict-mcp-config", "--settings", settings,
		"--setting-sources", "user", "--allowedTools", "mcp__term")
	return m
}

// claude -p, which has no interface, does what a session's conversation allows. It does nothing
// that the conversation refuses, or that no one could be asked about.
func TestClaudeCodeAsksForPermissionInAConversation_Client(t *testing.T) {
	bin := world.FromNpm(t, "claude")
	w, s, o, id := world.StartTalk(t)
	m, url := w.PlayModel()
	server := world.Args{"command": "gateway", "args": []string{"mcp", "--permission", "--session", id}}
	m.StartAgent(bin, w.ClaudeEnv(url), "-p", "make files", "--mcp-config", w.WriteJSON("mcp.json", world.Args{"mcpServers": world.Args{"ask": server}}),
		"--strict-mcp-config", "--setting-sources", "user", "--permission-mode", "default", "--permission-prompt-tool", "mcp__ask__approval_prompt")
	m.Next()
	m.StartCall("Bash", world.Args{"command": "touch allowed", "description": "a test"})
	w.WaitForApproval(id, "touch allowed")
	o.Run("gateway chat answer " + id + " once")
	o.Wait("allow once? [y/N]")
	o.Typed("y\n")
	require.Zero(t, o.Status())
	m.Next()
	require.FileExists(t, w.Path("allowed"))
	m.StartCall("Bash", world.Args{"command": "touch refused", "description": "a test"})
	w.WaitForApproval(id, "touch refused")
	w.MustGateway("chat", "answer", id, "refuse", "--words", "not that one")
	require.Contains(t, m.Next().Text, "not that one")
	s.Press("C-d")
	require.Zero(t, s.Status())
	m.StartCall("Bash", world.Args{"command": "touch unasked", "description": "a test"})
	require.Contains(t, m.Next().Text, "No answer came, so this is refused")
	require.NoFileExists(t, w.Path("refused"))
	require.NoFileExists(t, w.Path("unasked"))
	m.Finish()
}
