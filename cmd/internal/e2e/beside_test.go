package e2e_test

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// TestChatGoesWithCodingAgents: a program that is none is refused before anything runs, and so is a second writer of a conversation.
func TestChatGoesWithCodingAgents(t *testing.T) {
	w := newWorld(t)
	for _, cmd := range [][]string{{"run", "--chat", "--", "vim"}} {
		got := w.gateway(cmd...)
		require.Equal(t, 2, got.status)
		require.Contains(t, got.err, "--chat: vim is no coding agent whose conversation is known here: it goes with claude")
	}
	s := w.terminal(80, 24)
	screen, status := s.does("proxy --chat vim")
	require.Equal(t, 2, status)
	require.Contains(t, screen, "is no coding agent")
	screen, status = s.does("proxy --chat claude -p hello")
	require.Equal(t, 125, status)
	require.Contains(t, screen, "-p leaves out")
}
