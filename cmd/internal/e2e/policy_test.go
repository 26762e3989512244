package e2e_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// localToken makes an agent's token and returns its file.
func (w *world) localToken(name string) (file string) {
	w.t.Helper()
	w.mustGateway("token", "create", name, "--local")
	return filepath.Join(w.dir, "home", "config", "terminalproxy", name+".agent")
}

// refusedAnnounced has an agent ask until the user's key came during the announcement. On a loaded
// machine control may have been granted by then, and is taken back.
func (s *terminal) refusedAnnounced(ask func() *running) {
	s.w.t.Helper()
	for range 10 {
		announced := strings.Count(s.w.content(s.recording()), "by your rule at ")
		asking := ask()
		s.w.until(func() bool { return strings.Count(s.w.content(s.recording()), "by your rule at ") > announced }, s.screen)
		s.press(`C-\`)
		got := asking.wait()
		if got.status != 0 {
			require.Contains(s.w.t, got.err, "the user declined")
			return
		}
		asking = ask() // rules pause: the user has to grant it
		s.answer("C-g")
		require.Zero(s.w.t, asking.wait().status)
		s.w.mustGateway("release", s.w.session(), "--as", "helper")
	}
	require.FailNow(s.w.t, "the key never came in time")
}

// The agent that shows the token gets the keyboard, only while the program of the rule is in front.
// The grant is announced, shown by the sign, and logged. The user's key refuses it, and then the
// user is asked again.
func TestARuleGivesTheKeyboard(t *testing.T) {
	w := newWorld(t, "dash", "bash")
	w.writeConfig("[[allow]]\nagent = 'claude'\nprogram = 'dash'\nlevel = 'drive'\nfor = '5m'\n[[never]]\nprogram = 'cat'\n")
	token := w.localToken("claude")
	s := w.terminal(160, 24)
	s.run("proxy --agent --record rec.cast dash")
	s.match(`[$#] ?\n`)
	id := w.session()
	ask := func(more ...string) *running {
		return w.start(w.cli, append([]string{"request", id, "--reason", "look", "--as", "helper"}, more...)...)
	}
	asking := ask("--agent-token", token)
	got := asking.wait()
	require.Zero(t, got.status, got.err)
	require.Contains(t, got.out, "by rule config.toml:1")
	w.waitHeard(s.recording(), `“helper” \(token claude, gateway request under \S+\) drives this program in 3 s for 5 min, by your rule at config.toml:1: “look”`)
	s.waitShown("helper drives 5 min")

	// A program of a never rule gets nothing, not even a byte typed ahead.
	w.mustGateway("send", id, "--as", "helper", "--text", "echo yes > one; cat > two\n")
	w.waitHeard("one", "yes") // and cat has begun, or is about to
	got = w.gateway("send", id, "--as", "helper", "--text", "no\n", "--timeout", "300ms")
	require.Contains(t, got.err, "the user's rule (config.toml:6) keeps you out of cat")
	s.waitTitle("[helper waits: never in cat]")
	require.Contains(t, w.gateway("request", id, "--reason", "more", "--as", "other").err, "the user's rule (config.toml:6) never gives you the keyboard here")
	s.press("C-d")
	s.waitTitle("[helper drives]")
	s.press(`C-\`)
	s.waitShown("the keyboard is yours: helper is stopped")
	require.Equal(t, "yes\n", w.content("one"))
	require.Empty(t, w.content("two"))

	// The user wanted to be asked.
	asking = ask("--agent-token", token)
	s.answer("C-g")
	require.Zero(t, asking.wait().status)
	w.mustGateway("release", id, "--as", "helper")
	s.refusedAnnounced(func() *running { return ask("--agent-token", token) })
	s.openMenu()
	s.press("Enter") // dash sees it too
	s.waitGone("Ctrl+G lets")
	asking = ask()
	s.answer("C-g")
	require.Zero(t, asking.wait().status, "without a token the user is asked")
	s.press(`C-\`)
	s.quitProgram("exit\n")
	log := w.mustGateway("audit", "show", "rec.cast")
	require.Contains(t, log, "helper asks for control (drive) [token claude, gateway request, under ")
	require.Contains(t, log, "helper gets the keyboard from rule config.toml:1")
	require.Contains(t, log, "the user's rule (config.toml:6) never gives you the keyboard here")
}

// A rule without a token does not count, nor does one written while the session runs. A broken rule
// is reported, and the program runs.
func TestARuleWithoutATokenDoesNotCount(t *testing.T) {
	w := newWorld(t)
	token := w.localToken("claude")
	path := w.writeConfig("")
	s := w.terminal(160, 24)
	s.runListener("--agent")
	id := w.session()
	rule := "[[allow]]\nagent = 'claude'\nprogram = '*'\n"
	w.writeConfig(rule)
	asking := w.start(w.cli, "request", id, "--reason", "look", "--level", "type", "--agent-token", token)
	s.answer(`C-\`)
	require.Equal(t, 1, asking.wait().status)
	w.writeConfig(rule + "[[never]]\n")
	got := w.gateway("policy", "check", "claude", "sh")
	require.Equal(t, 2, got.status)
	require.Contains(t, got.err, "configuration: "+path+":4: [[never]]: the rule is empty")
	s.quitProgram("\x04")
	screen, status := s.runToEnd("proxy --agent sh -c 'echo ra''n; exit 7'")
	require.Equal(t, 7, status)
	require.Contains(t, screen, "ran\n")
	require.Contains(t, strings.ReplaceAll(screen, "\n", ""), "proxy: configuration: "+path+":4: [[never]]: the rule is empty; using the built-in defaults")
	w.writeConfig(rule)
	require.Contains(t, w.mustGateway("policy", "check", "claude", "sh", "--level", "type"), "allows: claude gets type for 10m, 3 s after it was announced; Ctrl+\\ refuses (config.toml:1)")
	require.Contains(t, w.mustGateway("policy", "check", "claude", "sh"), "asks: you decide\n  config.toml:1: allows level type, and drive is asked for\n")
	require.NoError(t, os.Chmod(token, 0o644))
	require.Contains(t, w.gateway("request", id, "--reason", "look", "--agent-token", token).err, "so other users can access the tokens: chmod 600 "+token)
}
