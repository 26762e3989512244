package world

import (
	"os"
	"path/filepath"

	"github.com/stretchr/testify/require"
)

// CodingAgent is an agent from npm, set up to use a model that the test serves.
type CodingAgent struct {
	Name   string // the program's name
	Called string // its name in the README, and in the question to the user
	// SetUp configures the agent to ask only the model at this URL.
	SetUp  func(w *World, model string) (env []string)
	Asks   []string // its command line up to a prompt
	Prompt []string // its command line that waits for a prompt
	Ready  string   // what the screen then shows
	Adds   string   // what it adds to typed text, as a regular expression
	// More returns what the test adds to the README's command after "mcp add".
	More func(w *World) []string
}

var CodingAgents = []CodingAgent{
	{
		Name: "claude", Called: "Claude Code", SetUp: (*World).ClaudeEnv,
		Asks: []string{"--allowedTools", "mcp__term", "-p"}, Ready: `^❯`,
	},
	{
		Name: "codex", Called: "Codex", SetUp: (*World).codexEnv,
		// Codex knows that this model can search for tools.
		Asks:   []string{"exec", "--skip-git-repo-check", "--model", "gpt-5.5", "-c", `mcp_servers.term.default_tools_approval_mode="approve"`},
		Prompt: []string{"--disable", "daemon_auto_start"}, Ready: `^› Ask Codex`,
		More: func(w *World) []string { return []string{"--env", "TERMINALPROXY_DIR=" + w.Run()} }, // its servers get few variables
	},
	{
		Name: "gemini", Called: "Gemini CLI", SetUp: (*World).geminiEnv,
		Asks: []string{"--model", "gemini-2.5-flash", "--prompt"}, Prompt: []string{"--model", "gemini-2.5-flash"}, Ready: `Type your message`,
		More: func(*World) []string { return []string{"--trust"} }, // without a user it offers no other tools
	},
	{
		Name: "opencode", Called: "opencode", SetUp: (*World).OpencodeEnv,
		Asks: []string{"run"}, Ready: `Ask anything`, Adds: ` $`, // after a paste
	},
	{
		Name: "copilot", Called: "Copilot CLI", SetUp: (*World).copilotEnv,
		Asks: []string{"--allow-tool=term", "--prompt"}, Ready: `Interactive ·`, Adds: `^<current_datetime>.*\n\n`,
	},
}

func (a *account) codexEnv(model string) []string {
	a.T.Helper()
	require.NoError(a.T, os.Mkdir(a.Path("codex"), 0o700))
	a.Write(filepath.Join("codex", "config.toml"), `
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
[projects."`+a.Dir+`"]
trust_level = "trusted"
`)
	return []string{"FAKE_KEY=dummy", "CODEX_HOME=" + a.Path("codex"), "TMPDIR=" + a.Dir}
}

// codexAsksEnv lets Codex's model ask the user, which no mode of Codex's adapter does by itself.
func (a *account) codexAsksEnv(model string) []string {
	a.T.Helper()
	env := a.codexEnv(model)
	config, err := os.ReadFile(a.Path("codex/config.toml"))
	require.NoError(a.T, err)
	a.Write(filepath.Join("codex", "config.toml"), string(config)+"[features]\ndefault_mode_request_user_input = true\n")
	return env
}

func (a *account) geminiEnv(model string) []string {
	a.T.Helper()
	require.NoError(a.T, os.MkdirAll(a.Path("gemini/.gemini"), 0o700))
	a.WriteJSON("gemini/.gemini/settings.json", Args{
		"security":  Args{"auth": Args{"selectedType": "gemini-api-key"}, "folderTrust": Args{"enabled": false}},
		"general":   Args{"enableAutoUpdate": false, "enableAutoUpdateNotification": false},
		"privacy":   Args{"usageStatisticsEnabled": false},
		"telemetry": Args{"enabled": false},
	})
	return []string{
		"GEMINI_API_KEY=dummy", "GOOGLE_GEMINI_BASE_URL=" + model, "GEMINI_CLI_HOME=" + a.Path("gemini"), "TMPDIR=" + a.Dir,
	}
}

func (a *account) OpencodeEnv(model string) []string {
	a.T.Helper()
	require.NoError(a.T, os.MkdirAll(a.Path("home/config/opencode"), 0o700))
	a.WriteJSON("home/config/opencode/opencode.json", Args{
		"model": "fake/fake", "small_model": "fake/fake", "share": "disabled", "autoupdate": false,
		"provider": Args{"fake": Args{
			"npm": "@ai-sdk/openai-compatible", "options": Args{"baseURL": model + "/v1"}, "models": Args{"fake": Args{"attachment": true, "modalities": Args{"input": []string{"text", "image"}, "output": []string{"text"}}}},
		}},
	})
	return []string{
		"OPENCODE_DISABLE_MODELS_FETCH=1", "OPENCODE_DISABLE_LSP_DOWNLOAD=1", "TMPDIR=" + a.Dir,
		"npm_config_offline=true", // otherwise it installs a package for plugins when it starts
	}
}

func (a *account) copilotEnv(model string) []string {
	a.T.Helper()
	require.NoError(a.T, os.Mkdir(a.Path("copilot"), 0o700))
	a.WriteJSON("copilot/config.json", Args{"trustedFolders": []string{a.Dir}, "firstLaunchAt": "2026-01-01T00:00:00.000Z"})
	return []string{
		"COPILOT_OFFLINE=true", "COPILOT_PROVIDER_BASE_URL=" + model + "/v1", "COPILOT_MODEL=fake",
		"COPILOT_HOME=" + a.Path("copilot"), "TMPDIR=" + a.Dir,
	}
}
