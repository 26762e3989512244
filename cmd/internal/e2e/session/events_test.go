package session_test

import (
	"strings"
	"testing"

	"terminalproxy/cmd/internal/e2e/world"

	"github.com/stretchr/testify/require"
)

// The programs that the user configured run for each event, in order, with its details, and their
// output never reaches the terminal. A program that hangs delays neither the user nor the other
// programs.
func TestProgramsForEvents(t *testing.T) {
	w := world.New(t)
	w.WriteConfig(`[[on]]
event = ["asked", "granted", "waiting", "ended", "exit"]
run = ["sh", "-c", 'echo SPILT; echo SPILT >&2; echo "$TERMINALPROXY_EVENT $TERMINALPROXY_SESSION [$TERMINALPROXY_AGENT] $TERMINALPROXY_REASON$TERMINALPROXY_STATUS" >> ` + w.Path("told") + `']

[[on]]
event = ["asked", "exit"]
run = ["sh", "-c", 'while [ ! -e ` + w.Path("over") + ` ]; do sleep 0.1; done']
`)
	require.Contains(t, w.MustGateway("config"), "\n[[on]]\nevent = [\"asked\", \"exit\"]")
	s := w.Terminal(100, 16)
	id := s.RunBash("")
	told := func(lines ...string) {
		t.Helper()
		want := strings.Join(lines, "\n") + "\n"
		w.WaitContent("told", want)
	}
	asking := w.Start("gateway", "request", id, "--level", "type", "--reason", "$(touch bad)", "--as", "codex")
	s.WaitQuestion()
	lines := []string{"asked " + id + " [codex] "}
	told(lines...)
	s.Answer("C-g")
	require.Zero(t, asking.Wait().Status)
	lines = append(lines, "granted "+id+" [codex] ")
	told(lines...)
	sending := w.Start("gateway", "send", id, "--as", "codex", "--text", "echo hi", "--enter")
	s.Wait(world.HeldKeys)
	lines = append(lines, "waiting "+id+" [codex] ")
	told(lines...)
	s.ReleaseHeld("C-g")
	require.Zero(t, sending.Wait().Status)
	w.MustGateway("release", id, "--as", "codex")
	lines = append(lines, "ended "+id+" [codex] released")
	told(lines...)
	refused := w.Start("gateway", "request", id, "--reason", "once more", "--as", "codex")
	s.WaitQuestion()
	lines = append(lines, "asked "+id+" [codex] ")
	told(lines...)
	s.Answer(`C-\`)
	require.Equal(t, 1, refused.Wait().Status)
	require.NotContains(t, s.Screen(), "SPILT")
	s.Typed("exit 7\n")
	require.Equal(t, 7, s.Status(), "while the other program hangs")
	told(append(lines, "exit "+id+" [] 7")...)
	w.Write("over", "")
	require.NoFileExists(t, w.Path("bad"))
}
