package e2e_test

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

// writeConfig writes the user's configuration file.
func (w *world) writeConfig(text string) (path string) {
	w.t.Helper()
	dir := filepath.Join(w.dir, "home", "config", "terminalproxy")
	require.NoError(w.t, os.MkdirAll(dir, 0o700))
	path = filepath.Join(dir, "config.toml")
	require.NoError(w.t, os.WriteFile(path, []byte(text), 0o600))
	return path
}

// The user's configuration sets sharing, what agents must not see, and the style of the proxy's own
// words, without any flag.
func TestTheUsersConfiguration(t *testing.T) {
	w := newWorld(t)
	w.writeConfig(`[proxy]
agent = true
name = "mine"
for = "1h"
[look]
question = "top"
sign = "top"
text = 231
background = 18
[redact]
add = ['ACME-\d+', 'pin (\d+)']
allow = ['ghp_a1B2.*']
`)
	s := w.terminal(70, 16)
	s.run("proxy bash --noprofile --rcfile bashrc -i")
	id := w.session()
	require.True(t, strings.HasPrefix(id, "mine-"), id)
	s.wait("$")
	token := "ghp_" + strings.Repeat("a1B2", 9)
	s.typed("clear; echo id ACME-1234 pin 77 " + token[:10] + "'" + token[10:] + "'; echo; echo; echo; echo\n")
	s.wait("pin 77 " + token)
	w.mustGateway("wait", id, "--text", "pin •• "+token)
	require.Contains(t, w.mustGateway("read", id), "id ••••••••• pin •• "+token)

	asking := w.start(w.cli, "request", id, "--reason", "to test")
	s.waitQuestion()
	require.Contains(t, strings.Split(s.screen(), "\n")[0], "“cli” asks to drive for 1 h")
	require.Contains(t, s.colours(), "38;5;231")
	require.Contains(t, s.colours(), "48;5;18")
	s.answer("C-g")
	require.Zero(t, asking.wait().status)
	s.see("the sign on the first row", func(screen string) bool { return strings.Contains(strings.Split(screen, "\n")[0], "cli drives") })
	w.mustGateway("release", id)

	// A program in a shared terminal is not shared a second time.
	s.typed("clear; proxy sh -c 'echo in''ner; read x'\n")
	s.wait("inner")
	require.Equal(t, id, w.session())
	s.press("Enter")
	s.see("the prompt", func(screen string) bool { return strings.HasSuffix(strings.TrimSpace(screen), "$") })
	s.typed("exit\n")
	require.Zero(t, s.status())

	// A flag overrides the setting for one run.
	s.run("proxy --agent=false sh -c 'echo pl''ain; read x'")
	s.wait("plain")
	require.Empty(t, w.sessions())
	s.press("Enter")
	require.Zero(t, s.status())
}

// What agents must not see is hidden in the programs that agents start, too.
func TestTheConfigurationOfHostedSessions(t *testing.T) {
	w := newWorld(t)
	w.writeConfig("[redact]\nadd = ['ACME-\\d+']\n[gateway.run]\nname = 'own'\n")
	hosting := w.start(w.cli, "run", "--", "sh", "-c", "echo id ACME-1234; read x")
	id := w.session()
	require.True(t, strings.HasPrefix(id, "own-"), id)
	w.mustGateway("wait", id, "--text", "id •••••••••")
	w.mustGateway("send", id, "--enter")
	require.Zero(t, hosting.wait().status)
}

// A broken configuration never blocks work: the program runs, and a line says what is wrong.
func TestABrokenConfigurationDoesNotStopTheProgram(t *testing.T) {
	w := newWorld(t)
	s := w.terminal(300, 12)
	path := w.writeConfig("")
	runs := func(want string) {
		t.Helper()
		screen, status := s.runToEnd("proxy --agent sh -c 'echo ra''n; exit 7'")
		require.Contains(t, screen, "ran\n")
		require.Contains(t, screen, "proxy: configuration: "+path+want)
		require.Contains(t, screen, "; using the built-in defaults\n")
		require.Equal(t, 7, status)
	}
	for text, want := range map[string]string{
		"[proxy]\nyied = '2s'\n":                                `:2: unknown setting "yied" (did you mean yield?)`,
		"[proxy]\nagent = true\nyield = '5h'":                   ":3: yield 5h0m0s: must be 0s to 1h",
		"[proxy]\nreclaim-key = 'ctrl-c'":                       ":2: reclaim-key: ",
		"[proxy]\ngrant-key = 'ctrl-c'":                         ":2: grant-key: ",
		"[proxy]\ngrant-key = 'ctrl-x'\nreclaim-key = 'ctrl-x'": ":2: grant-key: ctrl-x takes the keyboard back already",
		"[proxy]\ngateway = 'ftp://x'":                          ":2: gateway: ",
		"[proxy]\ntoken-file = '/none'":                         ":2: token-file: ",
		"[proxy]\nlog = '/none/x'":                              ":2: log: ",
		"[proxy]\nnotify = ['nonsense']":                        ":2: notify: ",
		"[proxy\n":                                              ":",
	} {
		w.writeConfig(text)
		runs(want)
	}
	require.NoError(t, os.Remove(path))
	require.NoError(t, syscall.Mkfifo(path, 0o600))
	runs(": not a regular file")
	require.NoError(t, os.Remove(path))
	require.NoError(t, os.WriteFile(path, nil, 0o600))
	require.NoError(t, os.Truncate(path, 100<<20))
	runs(": too long")
	require.NoError(t, os.Truncate(path, 0))
	require.NoError(t, os.Chmod(path, 0o606))
	runs(": " + path + " has mode 0606")
}

// The author of a repository has no say over the user's settings.
func TestAProjectsFileIsNotConfiguration(t *testing.T) {
	w := newWorld(t)
	for _, name := range []string{"config.toml", "proxy.toml", ".terminalproxy.toml", "terminalproxy/config.toml", ".config/terminalproxy/config.toml"} {
		require.NoError(t, os.MkdirAll(filepath.Dir(w.path(name)), 0o700))
		w.write(name, "[proxy]\nagent = true\nnonsense = 1\n")
	}
	s := w.terminal(100, 12)
	s.run("proxy sh -c 'echo he''re; read x'")
	s.wait("here")
	require.Empty(t, w.sessions())
	require.NotContains(t, s.screen(), "configuration")
	s.press("Enter")
	require.Zero(t, s.status())
}
