package e2e_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// agentPrompts are agents with a prompt of their own, each set up to talk to the scripted model.
var agentPrompts = []struct {
	name  string
	args  []string
	setUp func(w *world, model string) (env []string)
	ready string
}{
	{name: "claude", setUp: (*world).claudeEnv, ready: `^❯`},
	{name: "codex", args: []string{"--disable", "daemon_auto_start"}, setUp: (*world).codexEnv, ready: `^› Ask Codex`},
	{name: "gemini", args: []string{"--model", "gemini-2.5-flash"}, setUp: (*world).geminiEnv, ready: `Type your message`},
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

// TestTypingLandsInTheAgentsPrompts: in Claude Code, Codex and Gemini CLI, each in a terminal without a user. The model gets
// exactly what was typed, and each once.
func TestTypingLandsInTheAgentsPrompts(t *testing.T) {
	for _, p := range agentPrompts {
		t.Run(p.name, func(t *testing.T) {
			bin := fromNpm(t, p.name)
			w := newWorld(t)
			var turns []args
			for _, word := range []string{"ONE", "TWO", "THREE", "FOUR", "FIVE", "SIX"} {
				turns = append(turns, args{"blocks": []args{{"type": "text", "text": "ANSWER " + word}}})
			}
			url, log := w.model(args{"turns": turns})
			r := w.prepare("gateway", append([]string{"run", "--cols", "100", "--rows", "40", "--", bin}, p.args...)...)
			r.cmd.Env = append(r.cmd.Env, p.setUp(w, url)...)
			r.run()
			id := w.session()
			t.Cleanup(func() { w.gateway("close", id); r.wait() })
			w.good("wait", id, "--regex", p.ready, "--timeout", "50s")
			w.good("wait", id, "--idle", "500ms", "--timeout", "50s")
			send := func(args ...string) {
				t.Helper()
				got := w.gateway(append([]string{"send", id, "--timeout", "50s"}, args...)...)
				require.Zero(t, got.status, "%s\n%s%s", strings.Join(args, " "), got.err, w.gateway("read", id).out)
			}
			const lines = "first line\n  second: “世界”\nthird ä" // of more, Claude Code makes an attachment
			send("--text", "say hello: "+strange, "--enter", "--until", "text=ANSWER ONE")
			send("--text", lines, "--enter", "--until", "text=ANSWER TWO")
			send("--text", "not this", "ctrl-u")
			send("--text", "one", "shift-enter")
			send("--text", "two!", "backspace", "alt-enter")
			send("--text", "three", "--enter", "--until", "text=ANSWER THREE")
			send("--text", "/")
			send("esc")
			send("backspace")
			send("--paste", w.write("pasted", "the last\nof all"), "--enter", "--until", "text=ANSWER FOUR")
			// A burst of keys, and a line that takes some programs seconds to draw: Enter is not taken for a part of either.
			send("k", "e", "y", "s", "enter", "--until", "text=ANSWER FIVE")
			long := strings.Repeat("more ", 140) + "end"
			send("--text", long, "--enter", "--until", "text=ANSWER SIX")
			want := []string{"say hello: " + strange, lines, "one\ntwo\nthree", "the last\nof all", "keys", long}
			var got []string // the model writes its log after the answer
			w.until(func() bool { got = promptsIn(t, log); return len(got) >= len(want) }, func() string { return strings.Join(got, "\n") })
			require.Equal(t, want, got)
		})
	}
}

// promptsIn are the user's last words in each request that is a turn of the conversation, in the shapes of three vendors.
func promptsIn(t *testing.T, log string) []string {
	t.Helper()
	var prompts []string
	for _, line := range logged(t, log) {
		var r struct {
			Kind string `json:"kind"`
			Body struct {
				Messages, Input, Contents []struct {
					Role    string          `json:"role"`
					Content json.RawMessage `json:"content"`
					Parts   json.RawMessage `json:"parts"`
				}
			} `json:"body"`
		}
		require.NoError(t, json.Unmarshal([]byte(line), &r))
		if r.Kind != "main" {
			continue
		}
		last := ""
		for _, m := range append(append(r.Body.Messages, r.Body.Input...), r.Body.Contents...) {
			if m.Role == "user" {
				last = lastText(t, append(m.Content, m.Parts...))
			}
		}
		prompts = append(prompts, last)
	}
	return prompts
}

// lastText is a text, or that of the last of several blocks.
func lastText(t *testing.T, content json.RawMessage) string {
	t.Helper()
	var text string
	if json.Unmarshal(content, &text) == nil {
		return text
	}
	var blocks []struct {
		Text string `json:"text"`
	}
	require.NoError(t, json.Unmarshal(content, &blocks))
	if len(blocks) == 0 {
		return ""
	}
	return blocks[len(blocks)-1].Text
}
