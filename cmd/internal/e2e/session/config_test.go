package session_test

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"terminalproxy/cmd/internal/e2e/world"

	"github.com/stretchr/testify/require"
)

// The user's configuration sets sharing, what agents must not see, and the style of the proxy's own
// words, without any flag.
func TestTheUsersConfiguration(t *testing.T) {
	w := world.New(t)
	w.WriteConfig(`[proxy]
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
	s := w.Terminal(70, 16)
	s.Run("proxy bash --noprofile --rcfile bashrc -i")
	id := w.Session()
	require.True(t, strings.HasPrefix(id, "mine-"), id)
	s.Wait("$")
	token := "ghp_" + strings.Repeat("a1B2", 9)
	s.Typed("clear; echo id ACME-1234 pin 77 " + token[:10] + "'" + token[10:] + "'; echo; echo; echo; echo\n")
	s.Wait("pin 77 " + token)
	w.MustGateway("wait", id, "--text", "pin •• "+token)
	world.WaitRead(w, id, "id ••••••••• pin •• "+token)

	asking := w.Start(w.CLI, "request", id, "--reason", "to test")
	s.WaitQuestion()
	require.Contains(t, strings.Split(s.Screen(), "\n")[0], "“cli” asks to drive for 1 h")
	require.Contains(t, s.Colours(), "38;5;231")
	require.Contains(t, s.Colours(), "48;5;18")
	s.Answer("C-g")
	require.Zero(t, asking.Wait().Status)
	s.See("the sign on the first row", func(screen string) bool { return strings.Contains(strings.Split(screen, "\n")[0], "cli drives") })
	w.MustGateway("release", id)

	// A program in a shared terminal is not shared a second time.
	s.Typed("clear; proxy sh -c 'echo in''ner; read x'\n")
	s.Wait("inner")
	require.Equal(t, id, w.Session())
	s.Press("Enter")
	s.See("the prompt", func(screen string) bool { return strings.HasSuffix(strings.TrimSpace(screen), "$") })
	s.Typed("exit\n")
	require.Zero(t, s.Status())

	// A flag overrides the setting for one run.
	s.Run("proxy --agent=false sh -c 'echo pl''ain; read x'")
	s.Wait("plain")
	require.Empty(t, w.Sessions())
	s.Press("Enter")
	require.Zero(t, s.Status())
}

// What agents must not see is hidden in the programs that agents start, too.
func TestTheConfigurationOfHostedSessions(t *testing.T) {
	w := world.New(t)
	w.WriteConfig("[redact]\nadd = ['ACME-\\d+']\n[gateway.run]\nname = 'own'\n")
	hosting := w.Start(w.CLI, "run", "--", "sh", "-c", "echo id ACME-1234; read x")
	id := w.Session()
	require.True(t, strings.HasPrefix(id, "own-"), id)
	w.MustGateway("wait", id, "--text", "id •••••••••")
	w.MustGateway("send", id, "--enter")
	require.Zero(t, hosting.Wait().Status)
}

// A broken configuration never blocks work: the program runs, and a line says what is wrong.
func TestABrokenConfigurationDoesNotStopTheProgram(t *testing.T) {
	w := world.New(t)
	s := w.Terminal(300, 12)
	path := w.WriteConfig("")
	runs := func(want string) {
		t.Helper()
		screen, status := s.RunToEnd("proxy --agent sh -c 'echo ra''n; exit 7'")
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
		w.WriteConfig(text)
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
	w := world.New(t)
	for _, name := range []string{"config.toml", "proxy.toml", ".terminalproxy.toml", "terminalproxy/config.toml", ".config/terminalproxy/config.toml"} {
		require.NoError(t, os.MkdirAll(filepath.Dir(w.Path(name)), 0o700))
		w.Write(name, "[proxy]\nagent = true\nnonsense = 1\n")
	}
	s := w.Terminal(100, 12)
	s.Run("proxy sh -c 'echo he''re; read x'")
	s.Wait("here")
	require.Empty(t, w.Sessions())
	require.NotContains(t, s.Screen(), "configuration")
	s.Press("Enter")
	require.Zero(t, s.Status())
}
