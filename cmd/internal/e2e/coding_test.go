package e2e_test

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// codingAgent is an agent from npm, set up to use a model that the test serves.
type codingAgent struct {
	name   string // the program's name
	called string // its name in the README, and in the question to the user
	// setUp configures the agent to ask only the model at this URL.
	setUp  func(w *world, model string) (env []string)
	asks   []string // its command line up to a prompt
	prompt []string // its command line that waits for a prompt
	ready  string   // what the screen then shows
	adds   string   // what it adds to typed text, as a regular expression
	// more is what the test adds to the README's command after "mcp add".
	more func(w *world) []string
}

var codingAgents = []codingAgent{
	{
		name: "claude", called: "Claude Code", setUp: (*world).claudeEnv,
		asks: []string{"--allowedTools", "mcp__term", "-p"}, ready: `^❯`,
	},
	{
		name: "codex", called: "Codex", setUp: (*world).codexEnv,
		// Codex knows that this model can search for tools.
		asks:   []string{"exec", "--skip-git-repo-check", "--model", "gpt-5.5", "-c", `mcp_servers.term.default_tools_approval_mode="approve"`},
		prompt: []string{"--disable", "daemon_auto_start"}, ready: `^› Ask Codex`,
		more: func(w *world) []string { return []string{"--env", "TERMINALPROXY_DIR=" + w.run()} }, // its servers get few variables
	},
	{
		name: "gemini", called: "Gemini CLI", setUp: (*world).geminiEnv,
		asks: []string{"--model", "gemini-2.5-flash", "--prompt"}, prompt: []string{"--model", "gemini-2.5-flash"}, ready: `Type your message`,
		more: func(*world) []string { return []string{"--trust"} }, // without a user it offers no other tools
	},
	{
		name: "opencode", called: "opencode", setUp: (*world).opencodeEnv,
		asks: []string{"run"}, ready: `Ask anything`, adds: ` $`, // after a paste
	},
	{
		name: "copilot", called: "Copilot CLI", setUp: (*world).copilotEnv,
		asks: []string{"--allow-tool=term", "--prompt"}, ready: `Interactive ·`, adds: `^<current_datetime>.*\n\n`,
	},
}

// Real agents, connected with the README's commands, see a terminal, ask for its keyboard, type,
// wait, lose the keyboard and use a terminal of their own. Their models read in plain words what
// happened.
func TestCodingAgents(t *testing.T) {
	for _, c := range codingAgents {
		t.Run(c.name, func(t *testing.T) {
			bin := fromNpm(t, c.name)
			w := newWorld(t, "vim")
			w.write("notes.txt", "bread\n")
			s := w.terminal(100, 24)
			s.run("proxy --agent vim -u NONE -n notes.txt")
			s.wait("bread") // vim shows the file's name before it has read the file
			m, url := w.mind()
			env := c.setUp(w, url)
			w.connectMCP(c, bin, env)
			m.startAgent(bin, env, append(slices.Clone(c.asks), "put apples on my list")...)
			require.Contains(t, m.next().Prompt, "put apples on my list")
			m.driveVim(s, w.session(), c.called)
			m.loseKeyboard(s)
			m.runOwnTerminal()
			m.finish()
			s.press("Escape")
			s.quitProgram(":q!\n")
		})
	}
}

// inReadme returns the words after an agent's name in the README's command that connects it.
func (c codingAgent) inReadme(t *testing.T) (words []string) {
	t.Helper()
	readme, err := os.ReadFile(filepath.Join("..", "..", "..", "README.md"))
	require.NoError(t, err)
	row := regexp.MustCompile("(?m)^\\| " + c.called + " \\| `" + c.name + " (mcp add [^`]+)` \\|$").FindSubmatch(readme)
	require.NotNil(t, row, "the README does not say how to connect %s", c.called)
	return strings.Fields(string(row[1]))
}

// The README names every agent; this needs none of the agents themselves.
func TestTheReadmeNamesEveryAgent(t *testing.T) {
	for _, c := range codingAgents {
		require.Contains(t, strings.Join(c.inReadme(t), " "), "gateway mcp")
	}
}

// connectMCP adds gateway mcp to an agent as the README says.
func (w *world) connectMCP(c codingAgent, bin string, env []string) {
	w.t.Helper()
	words := c.inReadme(w.t)
	if c.more != nil {
		words = slices.Insert(words, 2, c.more(w)...)
	}
	add := w.prepare(bin, words...)
	add.cmd.Env = append(add.cmd.Env, env...)
	add.run()
	got := add.wait()
	require.Zero(w.t, got.status, got.out+got.err)
}

// driveVim lets the agent see a list in vim, ask for the keyboard as called, and write to the list.
func (m *mind) driveVim(s *terminal, id, called string) {
	m.w.t.Helper()
	m.call("terminal_list", nil, id, "vim -u NONE -n notes.txt", "keyboard: user")
	m.call("terminal_read", nil, id+" rev ", "bread\n")
	m.startCall("terminal_request_control", args{"reason": "add apples to your list"})
	s.waitQuestion()
	require.Contains(m.w.t, s.bottom(), "“"+called+"” asks to drive for 10 min: “add apples to your list”")
	s.answer("C-g")
	m.waitForResult("granted: you have the keyboard of " + id)
	m.call("terminal_send", args{"text": "oapples", "keys": []string{"esc"}}, "apples")
	m.call("terminal_send", args{"text": ":w", "enter": true})
	m.call("terminal_wait", args{"for": "text", "value": "written"}, "matched") // the answer to :w has shown it
	require.Equal(m.w.t, "bread\napples\n", m.w.content("notes.txt"))
}

// loseKeyboard lets the user take the keyboard back while the agent drives.
func (m *mind) loseKeyboard(s *terminal) {
	m.w.t.Helper()
	m.startCall("terminal_send", args{"text": "opears", "wait_for": "text", "value": "plums", "timeout_ms": 50_000})
	s.wait("pears")
	s.press(`C-\`)
	m.waitForResult("no match: the user took the keyboard back", "pears", "keyboard: user")
	m.call("terminal_send", args{"text": ", plums"}, "error: the user took the keyboard back", "\nnot typed: text (7 bytes)")
	require.NotContains(m.w.t, s.screen(), "plums")
}

// runOwnTerminal lets the agent use its own terminal, which needs no permission.
func (m *mind) runOwnTerminal() {
	m.w.t.Helper()
	got := m.call("terminal_run", args{
		"program": "bash", "args": []string{"-c", `read -p "your name? " name; echo "hello $name"`}, "wait_for": "waiting",
	}, "your name?")
	own := regexp.MustCompile(`\S+ rev `).FindString(got)
	m.call("terminal_send", args{"terminal": strings.TrimSuffix(own, " rev "), "text": "Ada", "enter": true, "wait_for": "exit"}, "hello Ada", "exited 0")
}

func (w *world) codexEnv(model string) []string {
	w.t.Helper()
	require.NoError(w.t, os.Mkdir(w.path("codex"), 0o700))
	w.write(filepath.Join("codex", "config.toml"), `
model = "fake-model"
model_provider = "fake"
approval_policy = "never"
sandbox_mode = "read-only"
check_for_update_on_startup = false
[model_providers.fake]
name = "fake"
base_url = "`+model+`/v1"
env_key = "FAKE_KEY"
wire_api = "responses"
supports_websockets = false
[projects."`+w.dir+`"]
trust_level = "trusted"
`)
	return []string{"FAKE_KEY=dummy", "CODEX_HOME=" + w.path("codex"), "TMPDIR=" + w.dir}
}

// codexAsksEnv lets Codex's model ask the user, which no mode of Codex's adapter does by itself.
func (w *world) codexAsksEnv(model string) []string {
	w.t.Helper()
	env := w.codexEnv(model)
	config, err := os.ReadFile(w.path("codex/config.toml"))
	require.NoError(w.t, err)
	w.write(filepath.Join("codex", "config.toml"), string(config)+"[features]\ndefault_mode_request_user_input = true\n")
	return env
}

func (w *world) geminiEnv(model string) []string {
	w.t.Helper()
	require.NoError(w.t, os.MkdirAll(w.path("gemini/.gemini"), 0o700))
	w.writeJSON("gemini/.gemini/settings.json", args{
		"security":  args{"auth": args{"selectedType": "gemini-api-key"}, "folderTrust": args{"enabled": false}},
		"general":   args{"enableAutoUpdate": false, "enableAutoUpdateNotification": false},
		"privacy":   args{"usageStatisticsEnabled": false},
		"telemetry": args{"enabled": false},
	})
	return []string{
		"GEMINI_API_KEY=dummy", "GOOGLE_GEMINI_BASE_URL=" + model, "GEMINI_CLI_HOME=" + w.path("gemini"), "TMPDIR=" + w.dir,
	}
}

func (w *world) opencodeEnv(model string) []string {
	w.t.Helper()
	require.NoError(w.t, os.MkdirAll(w.path("home/config/opencode"), 0o700))
	w.writeJSON("home/config/opencode/opencode.json", args{
		"model": "fake/fake", "small_model": "fake/fake", "share": "disabled", "autoupdate": false,
		"provider": args{"fake": args{
			"npm": "@ai-sdk/openai-compatible", "options": args{"baseURL": model + "/v1"}, "models": args{"fake": args{"attachment": true, "modalities": args{"input": []string{"text", "image"}, "output": []string{"text"}}}},
		}},
	})
	return []string{
		"OPENCODE_DISABLE_MODELS_FETCH=1", "OPENCODE_DISABLE_LSP_DOWNLOAD=1", "TMPDIR=" + w.dir,
		"npm_config_offline=true", // otherwise it installs a package for plugins when it starts
	}
}

func (w *world) copilotEnv(model string) []string {
	w.t.Helper()
	require.NoError(w.t, os.Mkdir(w.path("copilot"), 0o700))
	w.writeJSON("copilot/config.json", args{"trustedFolders": []string{w.dir}, "firstLaunchAt": "2026-01-01T00:00:00.000Z"})
	return []string{
		"COPILOT_OFFLINE=true", "COPILOT_PROVIDER_BASE_URL=" + model + "/v1", "COPILOT_MODEL=fake",
		"COPILOT_HOME=" + w.path("copilot"), "TMPDIR=" + w.dir,
	}
}
