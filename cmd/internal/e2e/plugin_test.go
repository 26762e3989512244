package e2e_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

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
func TestPlugins(t *testing.T) {
	const about = "See and operate programs in terminals that the user shares with you"
	for _, p := range plugins {
		t.Run(p.agent, func(t *testing.T) {
			bin := fromNpm(t, p.agent)
			w := newWorld(t)
			shown := w.start("gateway", "run", "--", "bash", "-c", "echo SHOWN; read")
			id := w.session()
			t.Cleanup(func() { w.gateway("close", id); shown.wait() })
			w.mustGateway("wait", id, "--text", "SHOWN")
			c := codingAgents[slices.IndexFunc(codingAgents, func(c codingAgent) bool { return c.name == p.agent })]
			m, url := w.mind()
			env := c.setUp(w, url)
			w.installPlugin(p, bin, env)
			asks := c.asks
			if p.asks != nil {
				asks = p.asks
			}
			m.startAgent(bin, env, append(slices.Clone(asks), "look at my terminal")...)
			asked := m.next()
			require.True(t, strings.Contains(string(asked.Body), about), "the model hears nothing of the skill: %s", asked.Body)
			require.Equal(t, p.agent == "claude", strings.Contains(asked.Text, "untrusted\nSHOWN\n"), "the hook of the plugin is Claude Code's")
			m.call("terminal_read", nil, id+" rev ", "SHOWN")
			m.finish()
		})
	}
}

// installPlugin installs contrib's plugin for an agent.
func (w *world) installPlugin(p plugin, bin string, env []string) {
	w.t.Helper()
	contrib := mustAbs(w.t, filepath.Join(checkout, "contrib"))
	for _, line := range p.install {
		words := strings.Fields(line)
		for i := range words {
			words[i] = strings.ReplaceAll(words[i], "CONTRIB", contrib) // its path may have a blank
		}
		add := w.prepare(bin, words...)
		add.cmd.Env = append(add.cmd.Env, env...)
		add.run()
		got := add.wait()
		require.Zero(w.t, got.status, got.out+got.err)
	}
	if p.install == nil {
		w.installOpencodePlugin(filepath.Join(contrib, "opencode", "opencode.json"))
	}
}

// installOpencodePlugin puts the snippet into opencode's configuration, and the skill into
// opencode's directory of skills.
func (w *world) installOpencodePlugin(snippet string) {
	w.t.Helper()
	const dir = "home/config/opencode/"
	var config map[string]any
	require.NoError(w.t, json.Unmarshal([]byte(w.content(dir+"opencode.json")), &config))
	text, err := os.ReadFile(snippet)
	require.NoError(w.t, err)
	require.NoError(w.t, json.Unmarshal(text, &config)) // beside the existing settings
	w.writeJSON(dir+"opencode.json", config)
	require.NoError(w.t, os.MkdirAll(w.path(dir+"skills/user-terminal"), 0o700))
	w.write(dir+"skills/user-terminal/SKILL.md", w.mustGateway("skill"))
}

// The docs have the commands that the test above runs.
func TestTheDocsNameEveryPlugin(t *testing.T) {
	docs, err := os.ReadFile(filepath.Join(checkout, "docs", "agents.md"))
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
