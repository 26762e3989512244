package consent_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"terminalproxy/cmd/internal/e2e/world"

	"github.com/stretchr/testify/require"
)

// localToken makes an agent's token and returns its file.
func localToken(w *world.World, name string) (file string) {
	w.T.Helper()
	w.MustGateway("token", "create", name, "--local")
	return filepath.Join(w.Dir, "home", "config", "terminalproxy", name+".agent")
}

// The agent that shows the token gets the keyboard, only while the program of the rule is in front.
// The grant is announced, shown by the sign, and logged. After the user's key the user is asked
// again.
func TestARuleGivesTheKeyboard(t *testing.T) {
	w := world.New(t, "dash", "bash")
	w.WriteConfig("[[allow]]\nagent = 'claude'\nprogram = 'dash'\nlevel = 'drive'\nfor = '5m'\n[[never]]\nprogram = 'cat'\n")
	token := localToken(w, "claude")
	s := w.Terminal(160, 24)
	s.Run("proxy --agent --record rec.cast dash")
	s.Match(`[$#] ?\n`)
	id := w.Session()
	ask := func(more ...string) *world.Running {
		return w.Start(w.CLI, append([]string{"request", id, "--reason", "look", "--as", "helper"}, more...)...)
	}
	asking := ask("--agent-token", token)
	got := asking.Wait()
	require.Zero(t, got.Status, got.Err)
	require.Contains(t, got.Out, "by rule config.toml:1")
	w.WaitHeard(s.Recording(), `“helper” \(token claude, gateway request under \S+\) drives this program in 3 s for 5 min, by your rule at config.toml:1: “look”`)
	s.WaitShown("helper drives 5 min")

	// A program of a never rule gets nothing, not even a byte typed ahead.
	w.MustGateway("send", id, "--as", "helper", "--text", "echo yes > one; cat > two\n")
	w.WaitHeard("one", "yes") // and cat has begun, or is about to
	got = w.Gateway("send", id, "--as", "helper", "--text", "no\n", "--timeout", "300ms")
	require.Contains(t, got.Err, "the user's rule (config.toml:6) keeps you out of \"cat\"")
	s.WaitTitle("[helper waits: never in cat]")
	require.Contains(t, w.Gateway("request", id, "--reason", "more", "--as", "other").Err, "the user's rule (config.toml:6) never gives you the keyboard here")
	s.Press("C-d")
	s.WaitTitle("[helper drives]")
	s.Press(`C-\`)
	s.WaitShown("the keyboard is yours: helper is stopped")
	require.Equal(t, "yes\n", w.Content("one"))
	require.Empty(t, w.Content("two"))

	// The user wanted to be asked.
	asking = ask("--agent-token", token)
	s.Answer("C-g")
	require.Zero(t, asking.Wait().Status)
	w.MustGateway("release", id, "--as", "helper")
	asking = ask()
	s.Answer("C-g")
	require.Zero(t, asking.Wait().Status, "without a token the user is asked")
	s.Press(`C-\`)
	s.QuitProgram("exit\n")
	log := w.MustGateway("audit", "show", "rec.cast")
	require.Contains(t, log, "helper asks for control (drive) [token claude, gateway request, under ")
	require.Contains(t, log, "helper gets the keyboard from rule config.toml:1")
	require.Contains(t, log, "the user's rule (config.toml:6) never gives you the keyboard here")
}

// A rule without a token does not count, nor does one written while the session runs. A broken rule
// is reported, and the program runs.
func TestARuleWithoutATokenDoesNotCount(t *testing.T) {
	w := world.New(t)
	token := localToken(w, "claude")
	path := w.WriteConfig("")
	s := w.Terminal(160, 24)
	s.RunListener("--agent")
	id := w.Session()
	rule := "[[allow]]\nagent = 'claude'\nprogram = '*'\n"
	w.WriteConfig(rule)
	asking := w.Start(w.CLI, "request", id, "--reason", "look", "--level", "type", "--agent-token", token)
	s.Answer(`C-\`)
	require.Equal(t, 1, asking.Wait().Status)
	w.WriteConfig(rule + "[[never]]\n")
	got := w.Gateway("policy", "check", "claude", "sh")
	require.Equal(t, 2, got.Status)
	require.Contains(t, got.Err, "configuration: "+path+":4: [[never]]: the rule is empty")
	s.QuitProgram("\x04")
	screen, status := s.RunToEnd("proxy --agent sh -c 'echo ra''n; exit 7'")
	require.Equal(t, 7, status)
	require.Contains(t, screen, "ran\n")
	require.Contains(t, strings.ReplaceAll(screen, "\n", ""), "proxy: configuration: "+path+":4: [[never]]: the rule is empty; using the built-in defaults")
	w.WriteConfig(rule)
	require.Contains(t, w.MustGateway("policy", "check", "claude", "sh", "--level", "type"), "allows: claude gets type for 10m, 3 s after it was announced; Ctrl+\\ refuses (config.toml:1)")
	require.Contains(t, w.MustGateway("policy", "check", "claude", "sh"), "asks: you decide\n  config.toml:1: allows level type, and drive is asked for\n")
	require.NoError(t, os.Chmod(token, 0o644))
	require.Contains(t, w.Gateway("request", id, "--reason", "look", "--agent-token", token).Err, "so other users can access the tokens: chmod 600 "+token)
}
