package session_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"terminalproxy/cmd/internal/e2e/world"
)

// The gateway of the only session ends with it. The answer to a wait for that session has all that
// the program printed until then: a later read may find no gateway.
func TestAWaitShowsTheEndOfTheOnlySession(t *testing.T) {
	w := world.New(t)
	s := w.Terminal(100, 24)
	for range 4 { // a read after the answer would be in time now and then
		s.RunAnew(`proxy --agent sh -c 'echo asks; read x; seq 60; exit 3'`)
		s.Wait("asks")
		waiting := w.Start("gateway", "wait", w.Session(), "--text", "NEVER", "--timeout", "2m")
		w.Caller().WaitPending(1)
		s.Typed("go\n")
		got := waiting.Wait()
		require.Equal(t, 3, s.Status())
		got.MustFail(t, 1, "the program ended first, with exit status 3")
		require.Contains(t, got.Out, "\n1\n2\n3\n")
		require.True(t, strings.HasSuffix(got.Out, "\n60\n"), got.Out)
	}
}
