package consent_test

import (
	"strings"
	"testing"

	"terminalproxy/cmd/internal/e2e/world"

	"github.com/stretchr/testify/require"
)

// An onlooker sees what agents see, live and in colour. At this socket, which every process of the
// user can open, there is neither a token nor a hidden screen.
func TestAnOnlookerSeesWhatAgentsSeeR28(t *testing.T) {
	w := world.New(t)
	const token = "ghp_abcdefghijklmnopqrstuvwxyz0123456789"
	s, other := w.Terminal(90, 20), w.Terminal(60, 12)
	w.Write("shown", "echo: \x1b[31mred\x1b[m "+token+"\n")
	s.Run("proxy --agent sh -c 'cat shown; echo ready; exec cat'")
	s.Wait("ready")
	id := w.Session()
	other.Run("gateway attach --watch " + id)
	other.Wait("ready")
	require.NotContains(t, other.Screen(), "ghp_")
	other.Wait(strings.Repeat("•", len(token)))
	require.Regexp(t, `\x1b\[31mred`, other.Colours())
	other.WaitTitle("[user]")
	other.Typed("zzz\n\x04\x1c") // q, Ctrl-C and Ctrl+\\ leave, and nothing of it is typed
	require.Zero(t, other.Status())
	require.Equal(t, world.PlainModes, other.Format(world.Modes))
	require.NotContains(t, s.Screen(), "zzz")

	other.Run("gateway attach --watch " + id)
	other.Wait("ready")
	s.OpenMenu("h hides")
	s.Press("h")
	other.Wait("the user hides this screen")
	require.NotContains(t, other.Screen(), "ready")
	s.OpenMenu("h shows it")
	s.Press("h")
	other.Wait("ready")
	s.Resize(50, 9)
	s.Press("C-d")
	require.Zero(t, s.Status())
	require.Zero(t, other.Status())
	other.Wait("ended with exit status 0")
}
