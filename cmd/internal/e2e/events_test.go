package e2e_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// The programs that the user configured run for each event, in order, with its details, and their
// output never reaches the terminal. A program that hangs delays neither the user nor the other
// programs.
func TestProgramsForEvents(t *testing.T) {
	w := newWorld(t)
	w.writeConfig(`[[on]]
event = ["asked", "granted", "waiting", "ended", "exit"]
run = ["sh", "-c", 'echo SPILT; echo SPILT >&2; echo "$TERMINALPROXY_EVENT $TERMINALPROXY_SESSION [$TERMINALPROXY_AGENT] $TERMINALPROXY_REASON$TERMINALPROXY_STATUS" >> ` + w.path("told") + `']

[[on]]
event = ["asked", "exit"]
run = ["sh", "-c", 'while [ ! -e ` + w.path("over") + ` ]; do sleep 0.1; done']
`)
	require.Contains(t, w.mustGateway("config"), "\n[[on]]\nevent = [\"asked\", \"exit\"]")
	s := w.terminal(100, 16)
	id := s.runBash("")
	told := func(lines ...string) {
		t.Helper()
		want := strings.Join(lines, "\n") + "\n"
		w.until(func() bool { return w.content("told") == want }, func() string { return w.content("told") + "\nis not\n" + want + w.content("log") })
	}
	asking := w.start("gateway", "request", id, "--level", "type", "--reason", "$(touch bad)", "--as", "codex")
	s.waitQuestion()
	lines := []string{"asked " + id + " [codex] "}
	told(lines...)
	s.answer("C-g")
	require.Zero(t, asking.wait().status)
	lines = append(lines, "granted "+id+" [codex] ")
	told(lines...)
	sending := w.start("gateway", "send", id, "--as", "codex", "--text", "echo hi", "--enter")
	s.wait(heldKeys)
	lines = append(lines, "waiting "+id+" [codex] ")
	told(lines...)
	s.releaseHeld("C-g")
	require.Zero(t, sending.wait().status)
	w.mustGateway("release", id, "--as", "codex")
	lines = append(lines, "ended "+id+" [codex] released")
	told(lines...)
	refused := w.start("gateway", "request", id, "--reason", "once more", "--as", "codex")
	s.waitQuestion()
	lines = append(lines, "asked "+id+" [codex] ")
	told(lines...)
	s.answer(`C-\`)
	require.Equal(t, 1, refused.wait().status)
	require.NotContains(t, s.screen(), "SPILT")
	s.typed("exit 7\n")
	require.Equal(t, 7, s.status(), "while the other program hangs")
	told(append(lines, "exit "+id+" [] 7")...)
	w.write("over", "")
	require.NoFileExists(t, w.path("bad"))
}

// A file in the directory where proxy runs is not read, and a mistake in the user's own
// configuration runs nothing.
func TestAProjectsFileRunsNoPrograms(t *testing.T) {
	w := newWorld(t)
	w.write("config.toml", "[[on]]\nevent = 'exit'\nrun = ['touch', '"+w.path("bad")+"']\n")
	got := w.do("proxy", "--agent", "true")
	require.Equal(t, result{}, got)
	w.writeConfig("[[on]]\nevent = 'exit'\nrun = ['touch', '" + w.path("bad") + "']\n[[on]]\nevent = 'exit'\nrun = ['./x']\n")
	got = w.do("proxy", "--agent", "true")
	require.Zero(t, got.status)
	require.Contains(t, got.err, `config.toml:6: [[on]] run: "./x" depends on the directory; using the built-in defaults`)
	require.NoFileExists(t, w.path("bad"))
}
