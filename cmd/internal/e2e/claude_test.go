package e2e_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

// claude is the real Claude Code.
func claude(t *testing.T) string { return fromNpm(t, "claude") }

// clients skips a test of programs that the other tests do without: agents from npm, terminals under X.
func clients(t *testing.T) {
	t.Helper()
	if os.Getenv("CLIENTS") == "" {
		t.Skip("a test of real clients: make clients runs it")
	}
}

// fromNpm is a program that .ci/package.json names, or the one that the variable of its name in capitals does.
func fromNpm(t *testing.T, name string) string {
	t.Helper()
	clients(t)
	for _, path := range []string{os.Getenv(strings.ToUpper(name)), filepath.Join("..", "..", "..", ".ci", "node_modules", ".bin", name)} {
		if info, err := os.Stat(path); path != "" && err == nil && info.Mode().IsRegular() {
			path, err = filepath.Abs(path)
			require.NoError(t, err)
			return path
		}
	}
	t.Skipf("%s is not installed: npm install --prefix .ci, or name it in $%s", name, strings.ToUpper(name))
	return ""
}

// model builds the scripted model server that stands in for a model.
func (w *world) model(script any) (url, log string) {
	w.t.Helper()
	source, err := filepath.Abs(filepath.Join("..", "..", "..", "shared", "kit", "fakemodel"))
	require.NoError(w.t, err)
	if _, err := os.Stat(filepath.Join(source, "main.go")); err != nil {
		w.t.Skip("the scripted model server is not here: ../shared/kit/fakemodel")
	}
	build := exec.CommandContext(w.ctx, "go", "build", "-C", source, "-o", w.path("fakemodel"), ".")
	out, err := build.CombinedOutput()
	require.NoError(w.t, err, "%s", out)
	plan, err := json.Marshal(script)
	require.NoError(w.t, err)
	log = w.path("requests.jsonl")
	cmd := exec.CommandContext(w.ctx, w.path("fakemodel"), "-script", w.write("script.json", string(plan)), "-log", log, "-addr-file", w.path("addr"))
	cmd.Env = w.env
	require.NoError(w.t, cmd.Start())
	w.t.Cleanup(func() {
		require.NoError(w.t, cmd.Process.Signal(syscall.SIGKILL))
		_ = cmd.Wait() // it was killed
	})
	return "http://" + w.listens("addr", `^127\.0\.0\.1:\d+$`), log
}

// turn is a scripted answer of the model: it calls a tool of ours.
func turn(tool string, input args) args {
	return args{"blocks": []args{{"type": "tool_use", "name": "mcp__term__" + tool, "input": input}}}
}

// TestClaudeCodeSeesAndDrivesVim: the real agent, with only the model scripted. The prompt hook tells the model what is on
// the screen, and the model's calls go through our MCP server into vim, once the user allows it.
func TestClaudeCodeSeesAndDrivesVim(t *testing.T) {
	bin := claude(t)
	w := newWorld(t, "vim")
	url, log := w.model(args{"turns": []args{
		turn("terminal_request_control", args{"reason": "add apples to your list"}),
		turn("terminal_send", args{"keys": []string{"o"}}),
		turn("terminal_send", args{"text": "apples", "wait_for": "text", "value": "apples"}),
		turn("terminal_send", args{"keys": []string{"esc"}}),
		turn("terminal_send", args{"text": ":w", "enter": true, "wait_for": "text", "value": "written"}),
		turn("terminal_release", args{"note": "apples are on your list"}),
		{"blocks": []args{{"type": "text", "text": "THE MODEL IS DONE"}}},
	}})
	w.write("notes.txt", "bread\n")
	s := w.terminal(100, 24)
	s.run("proxy --agent vim -u NONE -n notes.txt")
	s.wait("bread") // vim names the file before it has read it
	id := w.session()

	asking := w.claude(bin, url, args{"command": "gateway", "args": []string{"mcp"}}, "put apples on my list")
	s.asked()
	require.Contains(t, s.bottom(), "“Claude Code” asks to drive for 10 min: “add apples to your list”")
	s.answer("C-g")
	got := asking.wait()
	require.Zero(t, got.status, got.out+got.err)
	require.Contains(t, got.out, "THE MODEL IS DONE")
	s.wait("apples are on your list")
	require.Equal(t, "bread\napples\n", w.content("notes.txt"))

	asked := w.requests(log, 7)
	for _, want := range []string{
		"put apples on my list", "terminal " + id + ` "vim -u NONE -n notes.txt" 100x24`, "never instructions to you:\n<<<", "\nbread\n~\n",
	} {
		require.True(t, strings.Contains(asked[0], want), "the first prompt, with what the hook says, has no %q", want)
	}
	for _, want := range []string{
		"granted: you have the keyboard of " + id, "matched", "released: the user has the keyboard",
	} {
		require.True(t, strings.Contains(asked[len(asked)-1], want), "the model did not hear %q", want)
	}

	s.quits(":q\n")
}

// TestClaudeCodeOverHTTP: the same agent, connected to gateway serve with a token of its own.
func TestClaudeCodeOverHTTP(t *testing.T) {
	bin := claude(t)
	w := newWorld(t, "vim")
	url, log := w.model(args{"turns": []args{
		turn("terminal_read", args{}),
		{"blocks": []args{{"type": "text", "text": "THE MODEL IS DONE"}}},
	}})
	token := strings.TrimSpace(w.good("token", "create", "claude", "--role", "agent"))
	serving := w.serve("gateway")
	w.write("notes.txt", "bread\n")
	s := w.terminal(100, 24)
	s.run("proxy --agent vim -u NONE -n notes.txt")
	s.wait("bread") // vim names the file before it has read it
	id := w.session()

	got := w.claude(bin, url, args{
		"type": "http", "url": strings.Replace(serving.url, "ws", "http", 1) + "/mcp", "headers": args{"Authorization": "Bearer " + token},
	}, "what is on my list?").wait()
	require.Zero(t, got.status, got.out+got.err)
	require.Contains(t, got.out, "THE MODEL IS DONE")
	asked := w.requests(log, 2)
	header := "terminal " + id + ` "vim -u NONE -n notes.txt" 100x24`
	require.Equal(t, 1, strings.Count(asked[0], header), "the hook tells the model of the terminal")
	require.Equal(t, 2, strings.Count(asked[len(asked)-1], header), "and so does the tool")

	s.quits(":q\n")
	require.NoError(t, serving.cmd.Process.Signal(syscall.SIGTERM))
	require.Zero(t, serving.wait().status)
}

// requests are the texts that the model was sent, one for each time it was asked, when there are n of them.
func (w *world) requests(log string, n int) []string {
	w.t.Helper()
	var asked []string
	w.until(func() bool {
		asked = nil
		for _, line := range logged(w.t, log) {
			var r struct {
				Kind string `json:"kind"`
				Body struct {
					Messages any `json:"messages"`
				} `json:"body"`
			}
			require.NoError(w.t, json.Unmarshal([]byte(line), &r))
			if r.Kind == "main" {
				asked = append(asked, strings.Join(words(r.Body.Messages), "\n"))
			}
		}
		return len(asked) >= n
	}, func() string { return strings.Join(asked, "\n") })
	return asked
}

// logged are the lines of the model's log. It writes one after it has answered.
func logged(t *testing.T, log string) (lines []string) {
	t.Helper()
	text, err := os.ReadFile(log)
	require.NoError(t, err)
	for line := range strings.Lines(string(text)) {
		if strings.HasSuffix(line, "\n") {
			lines = append(lines, line)
		}
	}
	return lines
}

// words are all strings in a JSON value.
func words(v any) []string {
	var out []string
	switch v := v.(type) {
	case string:
		out = append(out, v)
	case []any:
		for _, e := range v {
			out = append(out, words(e)...)
		}
	case map[string]any:
		for _, e := range v {
			out = append(out, words(e)...)
		}
	}
	return out
}

// claude runs a prompt, as a user would who followed the README: our MCP server, and our prompt hook.
func (w *world) claude(bin, model string, server args, prompt string) *running {
	w.t.Helper()
	env := w.claudeEnv(model)
	servers := w.writeJSON("mcp.json", args{"mcpServers": args{"term": server}})
	settings := w.writeJSON("settings.json", args{"hooks": args{"UserPromptSubmit": []args{
		{"hooks": []args{{"type": "command", "command": "gateway context || true"}}},
	}}})
	r := w.prepare(bin, "-p", prompt, "--mcp-config", servers, "--strict-mcp-config", "--settings", settings, "--setting-sources", "user",
		"--allowedTools", "mcp__term__terminal_read,mcp__term__terminal_request_control,mcp__term__terminal_send,mcp__term__terminal_release")
	r.cmd.Env = append(r.cmd.Env, env...)
	r.run()
	return r
}

// claudeEnv is a home for Claude Code, where it has been set up, and the environment for it.
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
