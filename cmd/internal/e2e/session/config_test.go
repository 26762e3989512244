package session_test

import (
	"strings"
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
[gateway.run]
name = "own"
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

	// What agents must not see is hidden in the programs that agents start, too.
	hosting := w.Start(w.CLI, "run", "--", "sh", "-c", "echo id ACME-1234; read x")
	id = w.Session()
	require.True(t, strings.HasPrefix(id, "own-"), id)
	w.MustGateway("wait", id, "--text", "id •••••••••")
	w.MustGateway("send", id, "--enter")
	require.Zero(t, hosting.Wait().Status)

	// A broken configuration never blocks work: the program runs, and a line says what is wrong.
	path := w.WriteConfig("[proxy]\nyied = '2s'\n")
	broken := w.Do("proxy", "--agent", "sh", "-c", "echo ran; exit 7")
	require.Equal(t, world.Result{
		Out: "ran\n", Status: 7,
		Err: "proxy: configuration: " + path + `:2: unknown setting "yied" (did you mean yield?); using the built-in defaults` + "\n",
	}, broken)
}
