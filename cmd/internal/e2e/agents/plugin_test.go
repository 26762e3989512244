package agents_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"terminalproxy/cmd/internal/e2e/world"

	"github.com/stretchr/testify/require"
)

// plugin says how an agent gets contrib's plugin, following docs/agents.md.
type plugin struct {
	agent   string // its program
	install []string
	asks    []string // its command line before a prompt, nil for the usual one
}

// plugins are those of the agents that have plugins; opencode has skills only.
var plugins = []plugin{
	{
		agent: "claude", install: []string{"plugin marketplace add CONTRIB/plugin", "plugin install terminalproxy@terminalproxy"},
		asks: []string{"--allowedTools", "mcp__plugin_terminalproxy_term", "-p"},
	},
	{
		agent: "codex", install: []string{"plugin marketplace add CONTRIB/plugin", "plugin add terminalproxy@terminalproxy"},
		asks: []string{"exec", "--skip-git-repo-check", "--model", "gpt-5.5"},
	},
	{
		agent: "gemini", install: []string{"extensions install --consent CONTRIB/plugin"},
		asks: []string{"--yolo", "--model", "gemini-2.5-flash", "--prompt"},
	},
	{agent: "copilot", install: []string{"plugin marketplace add CONTRIB/plugin", "plugin install terminalproxy@terminalproxy"}},
	{agent: "opencode"},
}

// Real agents load the plugin from the checkout. Their models learn of the skill and call the
// tools.
func TestPlugins_Client(t *testing.T) {
	const about = "See and operate programs in terminals that the user shares with you"
	for _, p := range plugins {
		t.Run(p.agent, func(t *testing.T) {
			bin := world.FromNpm(t, p.agent)
			w := world.New(t)
			shown := w.Start("gateway", "run", "--", "bash", "-c", "echo SHOWN; read")
			id := w.Session()
			t.Cleanup(func() { w.Gateway("close", id); shown.Wait() })
			w.MustGateway("wait", id, "--text", "SHOWN")
			c := world.CodingAgents[slices.IndexFunc(world.CodingAgents, func(c world.CodingAgent) bool { return c.Name == p.agent })]
			m, url := w.PlayModel()
			env := c.SetUp(w, url)
			installPlugin(w, p, bin, env)
			asks := c.Asks
			if p.asks != nil {
				asks = p.asks
			}
			m.StartAgent(bin, env, append(slices.Clone(asks), "look at my terminal")...)
			asked := m.Next()
			require.True(t, strings.Contains(string(asked.Body), about), "the model hears nothing of the skill: %s", asked.Body)
			require.Equal(t, p.agent == "claude", strings.Contains(asked.Text, "untrusted\nSHOWN\n"), "the hook of the plugin is Claude Code's")
			m.Call("terminal_read", nil, id+" rev ", "SHOWN")
			m.Finish()
		})
	}
}

// installPlugin installs contrib's plugin for an agent.
func installPlugin(w *world.World, p plugin, bin string, env []string) {
	w.T.Helper()
	contrib := world.MustAbs(w.T, filepath.Join(world.Checkout, "contrib"))
	for _, line := range p.install {
		words := strings.Fields(line)
		for i := range words {
			words[i] = strings.ReplaceAll(words[i], "CONTRIB", contrib) // its path may have a blank
		}
		add := w.Prepare(bin, words...)
		add.Cmd.Env = append(add.Cmd.Env, env...)
		add.Run()
		got := add.Wait()
		require.Zero(w.T, got.Status, got.Out+got.Err)
	}
	if p.install == nil {
		installOpencodePlugin(w, filepath.Join(contrib, "opencode", "opencode.json"))
	}
}

// installOpencodePlugin puts the snippet into opencode's configuration, and the skill into
// opencode's directory of skills.
func installOpencodePlugin(w *world.World, snippet string) {
	w.T.Helper()
	const dir = "home/config/opencode/"
	var config map[string]any
	require.NoError(w.T, json.Unmarshal([]byte(w.Content(dir+"opencode.json")), &config))
	text, err := os.ReadFile(snippet)
	require.NoError(w.T, err)
	require.NoError(w.T, json.Unmarshal(text, &config)) // beside the existing settings
	w.WriteJSON(dir+"opencode.json", config)
	require.NoError(w.T, os.MkdirAll(w.Path(dir+"skills/user-terminal"), 0o700))
	w.Write(dir+"skills/user-terminal/SKILL.md", w.MustGateway("skill"))
}

// The docs have the commands that the test above runs.
func TestTheDocsNameEveryPlugin(t *testing.T) {
	docs, err := os.ReadFile(filepath.Join(world.Checkout, "docs", "agents.md"))
	require.NoError(t, err)
	for _, p := range plugins {
		var lines []string
		for _, line := range p.install {
			line = strings.NewReplacer("CONTRIB", "./contrib", "--consent ", "").Replace(line) // no one is there to be asked
			lines = append(lines, p.agent+" "+line)
		}
		require.Contains(t, string(docs), strings.Join(lines, " && "))
	}
}
