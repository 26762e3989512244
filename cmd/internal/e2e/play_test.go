package e2e_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// A person plays a recording in their terminal, which is restored, however playing ends.
func TestAPersonPlaysARecording(t *testing.T) {
	w := newWorld(t)
	w.recordShell()
	p := w.terminal(120, 30)
	p.run("gateway play s.cast")
	p.wait("exit 7")
	p.wait("■")
	p.press("Home") // it has paused at the end
	p.wait("‖ 0:00")
	p.press("]")
	p.wait("codex: echo one two⏎")
	p.press("q")
	require.Zero(t, p.status())
	require.Equal(t, plainModes, p.format(modes))
	require.NotContains(t, p.screen(), "codex:")

	p.run("gateway play --speed 64 s.cast")
	p.wait("■")
	p.press("C-c")
	require.Zero(t, p.status())
	require.Equal(t, plainModes, p.format(modes))

	p.run("sh -c 'echo $$ > pid; exec gateway play s.cast'")
	p.wait("■")
	require.Zero(t, w.do("kill", strings.TrimSpace(w.content("pid"))).status)
	require.Zero(t, p.status())
	require.Equal(t, plainModes, p.format(modes))

	p.run("gateway play bashrc")
	p.wait("it is not an asciicast v2 or v3")
	require.Equal(t, 1, p.status())
}
