package e2e_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

// claude returns the path of the real Claude Code.
func claude(t *testing.T) string { return fromNpm(t, "claude") }

// The prompt hook tells the model what is on the screen. Once the user allows it, the model's calls
// reach vim through our MCP server.
func TestClaudeCodeSeesAndDrivesVim(t *testing.T) {
	bin := claude(t)
	w := newWorld(t, "vim")
	w.write("notes.txt", "bread\n")
	s := w.terminal(100, 24)
	s.run("proxy --agent vim -u NONE -n notes.txt")
	s.wait("bread") // vim shows the file's name before it has read the file
	id := w.session()

	m := w.claude(bin, args{"command": "gateway", "args": []string{"mcp"}}, "put apples on my list")
	text := m.next().Text
	for _, want := range []string{
		"put apples on my list", id + " rev ", `"vim -u NONE -n notes.txt" 100x24`, " screen, untrusted\nbread\n~\n",
	} {
		require.True(t, strings.Contains(text, want), "the first prompt, with what the hook says, has no %q", want)
	}
	m.driveVim(s, id, "Claude Code")
	m.call("terminal_release", args{"note": "apples are on your list"}, "released: the user has the keyboard")
	s.wait("apples are on your list")
	m.finish()
	s.quitProgram(":q\n")
}

// The same agent, connected to gateway serve with its own token.
func TestClaudeCodeOverHTTP(t *testing.T) {
	bin := claude(t)
	w := newWorld(t, "vim")
	token := strings.TrimSpace(w.mustGateway("token", "create", "claude", "--role", "agent"))
	serving := w.serve("gateway")
	w.write("notes.txt", "bread\n")
	s := w.terminal(100, 24)
	s.run("proxy --agent vim -u NONE -n notes.txt")
	s.wait("bread") // vim shows the file's name before it has read the file
	id := w.session()

	m := w.claude(bin, args{
		"type": "http", "url": strings.Replace(serving.url, "ws", "http", 1) + "/mcp", "headers": args{"Authorization": "Bearer " + token},
	}, "what is on my list?")
	require.Equal(t, 1, strings.Count(m.next().Text, id+" rev "), "the hook tells the model of the terminal")
	m.call("terminal_read", nil, id+" rev ", `"vim -u NONE -n notes.txt" 100x24`, "\nbread\n~\n")
	m.finish()

	s.quitProgram(":q\n")
	require.NoError(t, serving.cmd.Process.Signal(syscall.SIGTERM))
	require.Zero(t, serving.wait().status)
}

// claude runs a prompt with this MCP server and our prompt hook.
func (w *world) claude(bin string, server args, prompt string) *mind {
	w.t.Helper()
	m, url := w.mind()
	servers := w.writeJSON("mcp.json", args{"mcpServers": args{"term": server}})
	settings := w.writeJSON("settings.json", args{"hooks": args{"UserPromptSubmit": []args{
		{"hooks": []args{{"type": "command", "command": "gateway context || true"}}},
	}}})
	m.startAgent(bin, w.claudeEnv(url), "-p", prompt, "--mcp-config", servers, "--strict-mcp-config", "--settings", settings,
		"--setting-sources", "user", "--allowedTools", "mcp__term")
	return m
}

// claudeEnv makes a home in which Claude Code is already set up, and returns the environment for
// it.
func (w *world) claudeEnv(model string) []string {
	w.t.Helper()
	config := w.path("claude")
	require.NoError(w.t, os.Mkdir(config, 0o700))
	const key = "sk-ant-dummy-0123456789-0123456789"
	w.writeJSON(filepath.Join("claude", ".claude.json"), args{
		"hasCompletedOnboarding": true, "theme": "dark", "customApiKeyResponses": args{"approved": []string{key[len(key)-20:]}},
		"projects": args{w.dir: args{"hasTrustDialogAccepted": true}},
	})
	return []string{
		"ANTHROPIC_BASE_URL=" + model, "ANTHROPIC_API_KEY=" + key, "CLAUDE_CONFIG_DIR=" + config,
		"DISABLE_AUTOUPDATER=1", "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1", "DISABLE_TELEMETRY=1", "DISABLE_ERROR_REPORTING=1",
		"TMPDIR=" + w.dir,
	}
}

func (w *world) writeJSON(name string, v any) string {
	w.t.Helper()
	text, err := json.Marshal(v)
	require.NoError(w.t, err)
	return w.write(name, string(text))
}

// claude -p, which has no interface, does what a session's conversation allows. It does nothing
// that the conversation refuses, or that no one could be asked about.
func TestClaudeCodeAsksForPermissionInAConversation(t *testing.T) {
	bin := claude(t)
	w, s, o, id := startTalk(t)
	m, url := w.mind()
	server := args{"command": "gateway", "args": []string{"mcp", "--permission", "--session", id}}
	m.startAgent(bin, w.claudeEnv(url), "-p", "make files", "--mcp-config", w.writeJSON("mcp.json", args{"mcpServers": args{"ask": server}}),
		"--strict-mcp-config", "--setting-sources", "user", "--permission-mode", "default", "--permission-prompt-tool", "mcp__ask__approval_prompt")
	m.next()
	m.startCall("Bash", args{"command": "touch allowed", "description": "a test"})
	w.waitForApproval(id, "touch allowed")
	o.run("gateway chat answer " + id + " once")
	o.wait("allow once? [y/N]")
	o.typed("y\n")
	require.Zero(t, o.status())
	m.next()
	require.FileExists(t, w.path("allowed"))
	m.startCall("Bash", args{"command": "touch refused", "description": "a test"})
	w.waitForApproval(id, "touch refused")
	w.mustGateway("chat", "answer", id, "refuse", "--words", "not that one")
	require.Contains(t, m.next().Text, "not that one")
	s.press("C-d")
	require.Zero(t, s.status())
	m.startCall("Bash", args{"command": "touch unasked", "description": "a test"})
	require.Contains(t, m.next().Text, "No answer came, so this is refused")
	require.NoFileExists(t, w.path("refused"))
	require.NoFileExists(t, w.path("unasked"))
	m.finish()
}
