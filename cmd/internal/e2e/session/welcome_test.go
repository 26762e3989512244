package session_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"terminalproxy/cmd/internal/e2e/world"
)

const welcome = "shared: agents see this, and type only if you allow it. List: gateway top"

// The first three sessions say that they are shared. The line goes by itself, and neither the
// program nor an agent gets it.
func TestTheFirstSessionsSayThatTheyAreShared(t *testing.T) {
	w := world.New(t)
	w.SetStarts("")
	s := w.Terminal(80, 12)
	// The line is one of those that --no-notice turns off: such a session is not counted.
	s.Run("proxy --agent --no-notice sh -c 'echo here; cat'")
	w.Session()
	s.WaitTitle("[observed]")
	s.Press("C-d")
	require.Zero(t, s.Status())
	require.Empty(t, w.Content("home/state/terminalproxy/starts"))
	require.NotContains(t, w.Content(s.Recording()), "shared:")
	for range 3 {
		s.Run("proxy --agent sh -c 'echo here; cat > got'")
		id := w.Session()
		s.SeeShown(welcome, func(screen string) bool {
			return strings.Contains(screen, "here\n") && strings.Contains(screen, welcome)
		})
		require.NotContains(t, w.MustGateway("read", id), "shared:")
		s.WaitGone(welcome)
		s.Press("C-d")
		require.Zero(t, s.Status())
		require.Empty(t, w.Content("got"))
	}
	before := len(w.Content(s.Recording()))
	s.Run("proxy --agent sh -c 'echo later; cat'")
	w.Session()
	s.Wait("later")
	s.Press("C-d")
	require.Zero(t, s.Status())
	require.NotContains(t, w.Content(s.Recording())[before:], "shared:")
}

// A terminal of which nothing is known gets no bytes of proxy that it might print.
func TestADumbTerminalGetsNoSequences(t *testing.T) {
	w := world.New(t)
	s := w.Terminal(80, 12)
	for _, term := range []string{"TERM=dumb", "TERM=", "-u TERM"} {
		before := len(w.Content(s.Recording()))
		s.RunAnew("env " + term + " proxy --agent sh -c 'printf \"<ra\"; echo \"n>\"'")
		s.Wait("<ran>")
		require.Zero(t, s.Status())
		shown, _, found := strings.Cut(w.Content(s.Recording())[before:], "<ran>")
		require.True(t, found)
		cleared := shown[strings.LastIndex(shown, "J")+1:] // ends what clear(1) prints
		require.Empty(t, cleared, "%s: %q", term, shown)
	}
}
