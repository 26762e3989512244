package session_test

import (
	"strings"
	"testing"

	"terminalproxy/cmd/internal/e2e/world"

	"github.com/stretchr/testify/require"
)

// A person plays a recording in their terminal, which is restored, however playing ends.
func TestAPersonPlaysARecording(t *testing.T) {
	w := world.New(t)
	recordShell(w)
	p := w.Terminal(120, 30)
	p.Run("gateway play s.cast")
	p.Wait("exit 7")
	p.Wait("■")
	p.Press("Home") // it has paused at the end
	p.Wait("‖ 0:00")
	p.Press("]")
	p.Wait("codex: echo one two⏎")
	p.Press("q")
	require.Zero(t, p.Status())
	require.Equal(t, world.PlainModes, p.Format(world.Modes))
	require.NotContains(t, p.Screen(), "codex:")

	p.Run("gateway play --speed 64 s.cast")
	p.Wait("■")
	p.Press("C-c")
	require.Zero(t, p.Status())
	require.Equal(t, world.PlainModes, p.Format(world.Modes))

	p.Run("sh -c 'echo $$ > pid; exec gateway play s.cast'")
	p.Wait("■")
	require.Zero(t, w.Do("kill", strings.TrimSpace(w.Content("pid"))).Status)
	require.Zero(t, p.Status())
	require.Equal(t, world.PlainModes, p.Format(world.Modes))

	p.Run("gateway play bashrc")
	p.Wait("it is not an asciicast v2 or v3")
	require.Equal(t, 1, p.Status())
}
