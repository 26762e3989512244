package chat_test

import (
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"terminalproxy/cmd/internal/e2e/world"

	"github.com/stretchr/testify/require"
)

// A headless agent's screen is invisible, so its last rows are printed.
func TestAHeadlessAgentSaysWhyItDidNotStart(t *testing.T) {
	w := world.New(t)
	w.WriteScript("claude", "#!/bin/sh\nprintf 'one row\\n\\033[31merror: unknown option\\033[0m\\n'\nexit 3\n")
	got := w.Gateway("run", "--chat", "--", w.Path("claude"), "--no-such-flag")
	got.MustFail(t, 3, "gateway: run: claude ended with exit status 3: one row / error: unknown option\n")

	r := w.Start("gateway", "run", "--chat", "--", w.Path("sleeps/claude"))
	require.NotZero(t, r.Wait().Status)
	require.NoError(t, os.Mkdir(w.Path("sleeps"), 0o700))
	w.WriteScript("sleeps/claude", "#!/bin/sh\nexec sleep 1000\n")
	r = w.Start("gateway", "run", "--chat", "--", w.Path("sleeps/claude"))
	id := w.Session()
	w.MustGateway("close", id)
	require.NotContains(t, r.Wait().Err, "gateway: run:", "who ends it knows why it ended")
}

// A pipe, and an owner over HTTP, may send prompts to a session without a user's terminal, but not
// to a user's own terminal.
func TestPromptsWithoutATerminal(t *testing.T) {
	w := world.New(t)
	serving := w.Serve("gateway")
	w.WriteScript("claude", "#!/bin/sh\nexec sleep 1000\n")
	r := w.Start("gateway", "run", "--chat", "--", w.Path("claude"))
	id := w.Session()
	require.Contains(t, w.MustGateway("chat", "send", id, "from a pipe"), "sent; it waits: the agent is not at its prompt yet")
	owner := strings.TrimSpace(w.MustGateway("token", "create", "owner", "--role", "owner"))
	status, body := serving.PostPrompt(owner, id, "over HTTP")
	require.Equal(t, http.StatusOK, status, body)
	log := w.MustGateway("chat", "log", id)
	require.Contains(t, log, "from a pipe")
	require.Contains(t, log, "over HTTP")
	w.MustGateway("close", id)
	r.Wait()
	w.MustGateway("close", id)

	s := w.Terminal(80, 24)
	s.Run("proxy --chat " + w.Path("claude"))
	id = w.Session()
	w.Gateway("chat", "send", id, "from a pipe").MustFail(t, 4, "not a terminal")
	status, body = serving.PostPrompt(owner, id, "over HTTP")
	require.Equal(t, http.StatusForbidden, status, body)
	require.Contains(t, body, "an owner who signs it")
	require.Positive(t, signalLine(w, besideProxy, syscall.SIGTERM))
	s.Status()
}

// signalLine sends a signal to the processes whose id and command line match, and returns how many
// there were.
func signalLine(w *world.World, pattern string, sig syscall.Signal) (n int) {
	w.T.Helper()
	match := regexp.MustCompile(pattern)
	for _, p := range w.Processes() {
		if match.MatchString(p) {
			pid, _, _ := strings.Cut(p, " ")
			w.KillOne(pid, sig)
			n++
		}
	}
	return n
}

// settings returns the window's line settings, as stty prints them, while the shell waits for a
// command.
func settings(s *world.Terminal) string {
	s.W.T.Helper()
	screen, status := s.RunToEnd("stty -a")
	require.Zero(s.W.T, status)
	return screen[:strings.LastIndex(screen, "@")]
}

// A conversation that cannot begin leaves nothing in the lists.
func TestAnAgentThatIsNotInstalledLeavesNoSession(t *testing.T) {
	w := world.New(t)
	w.Serve("gateway")
	screen, status := w.Terminal(100, 24).RunToEnd("PATH=" + filepath.Join(world.Root, "bin") + " gateway chat --with codex")
	require.Equal(t, 1, status)
	require.Contains(t, screen, "chat: codex-acp is not installed")
	require.Contains(t, w.MustGateway("ls", "--json"), `"sessions": []`)
}
