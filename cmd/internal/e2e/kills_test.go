package e2e_test

import (
	"net/http"
	"os"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

// A headless agent's screen is invisible, so its last rows are printed.
func TestAHeadlessAgentSaysWhyItDidNotStart(t *testing.T) {
	w := newWorld(t)
	w.writeScript("claude", "#!/bin/sh\nprintf 'one row\\n\\033[31merror: unknown option\\033[0m\\n'\nexit 3\n")
	got := w.gateway("run", "--chat", "--", w.path("claude"), "--no-such-flag")
	got.mustFail(t, 3, "gateway: run: claude ended with exit status 3: one row / error: unknown option\n")

	r := w.start("gateway", "run", "--chat", "--", w.path("sleeps/claude"))
	require.NotZero(t, r.wait().status)
	require.NoError(t, os.Mkdir(w.path("sleeps"), 0o700))
	w.writeScript("sleeps/claude", "#!/bin/sh\nexec sleep 1000\n")
	r = w.start("gateway", "run", "--chat", "--", w.path("sleeps/claude"))
	id := w.session()
	w.mustGateway("close", id)
	require.NotContains(t, r.wait().err, "gateway: run:", "who ends it knows why it ended")
}

// A pipe, and an owner over HTTP, may send prompts to a session without a user's terminal, but not
// to a user's own terminal.
func TestPromptsWithoutATerminal(t *testing.T) {
	w := newWorld(t)
	serving := w.serve("gateway")
	w.writeScript("claude", "#!/bin/sh\nexec sleep 1000\n")
	r := w.start("gateway", "run", "--chat", "--", w.path("claude"))
	id := w.session()
	require.Contains(t, w.mustGateway("chat", "send", id, "from a pipe"), "sent; it waits: the agent is not at its prompt yet")
	owner := strings.TrimSpace(w.mustGateway("token", "create", "owner", "--role", "owner"))
	status, body := serving.postPrompt(owner, id, "over HTTP")
	require.Equal(t, http.StatusOK, status, body)
	log := w.mustGateway("chat", "log", id)
	require.Contains(t, log, "from a pipe")
	require.Contains(t, log, "over HTTP")
	w.mustGateway("close", id)
	r.wait()
	w.mustGateway("close", id)

	s := w.terminal(80, 24)
	s.run("proxy --chat " + w.path("claude"))
	id = w.session()
	w.gateway("chat", "send", id, "from a pipe").mustFail(t, 4, "not a terminal")
	status, body = serving.postPrompt(owner, id, "over HTTP")
	require.Equal(t, http.StatusForbidden, status, body)
	require.Contains(t, body, "an owner who signs it")
	require.Positive(t, w.signalLine(besideProxy, syscall.SIGTERM))
	s.status()
}

// signalLine sends a signal to the processes whose id and command line match, and returns how many
// there were.
func (w *world) signalLine(pattern string, sig syscall.Signal) (n int) {
	w.t.Helper()
	match := regexp.MustCompile(pattern)
	for _, p := range w.processes() {
		if match.MatchString(p) {
			pid, _, _ := strings.Cut(p, " ")
			w.killOne(pid, sig)
			n++
		}
	}
	return n
}

// settings returns the window's line settings, as stty prints them, while the shell waits for a
// command.
func (s *terminal) settings() string {
	s.w.t.Helper()
	screen, status := s.runToEnd("stty -a")
	require.Zero(s.w.t, status)
	return screen[:strings.LastIndex(screen, "@")]
}
