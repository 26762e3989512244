package e2e_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// An onlooker sees what agents see, live and in colour. At this socket, which every process of the
// user can open, there is neither a token nor a hidden screen.
func TestAnOnlookerSeesWhatAgentsSeeR28(t *testing.T) {
	w := newWorld(t)
	const token = "ghp_abcdefghijklmnopqrstuvwxyz0123456789"
	s, other := w.terminal(90, 20), w.terminal(60, 12)
	w.write("shown", "echo: \x1b[31mred\x1b[m "+token+"\n")
	s.run("proxy --agent sh -c 'cat shown; echo ready; exec cat'")
	s.wait("ready")
	id := w.session()
	other.run("gateway attach --watch " + id)
	other.wait("ready")
	require.NotContains(t, other.screen(), "ghp_")
	require.Contains(t, other.screen(), strings.Repeat("•", len(token)))
	require.Regexp(t, `\x1b\[31mred`, other.colours())
	other.waitTitle("[user]")
	other.typed("zzz\n\x04\x1c") // q, Ctrl-C and Ctrl+\\ leave, and nothing of it is typed
	require.Zero(t, other.status())
	require.Equal(t, plainModes, other.format(modes))
	require.NotContains(t, s.screen(), "zzz")

	other.run("gateway attach --watch " + id)
	other.wait("ready")
	s.openMenuWith("h hides")
	s.press("h")
	other.wait("the user hides this screen")
	require.NotContains(t, other.screen(), "ready")
	s.openMenuWith("h shows it")
	s.press("h")
	other.wait("ready")
	s.resize(50, 9)
	s.press("C-d")
	require.Zero(t, s.status())
	require.Zero(t, other.status())
	require.Contains(t, other.screen(), "ended with exit status 0")
}
