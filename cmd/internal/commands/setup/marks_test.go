package setup

import (
	"testing"

	"github.com/stretchr/testify/require"

	"terminalproxy/cmd/internal/cli/marks"
	"terminalproxy/protocol"
)

// Only a bash that talks to its terminal is marked without its user's doing.
func TestMarkedEnv(t *testing.T) {
	t.Setenv("PROMPT_COMMAND", "hook;")
	for _, flags := range [][]string{nil, {"-i"}, {"--norc", "--login"}} {
		env := marks.Env(&protocol.ProxyStart{Command: "/bin/bash", Args: flags})
		require.Len(t, env, 2)
		require.Equal(t, "PROMPT_COMMAND=hook;\n"+marks.MarkStart, env[0])
		require.Contains(t, env[1], "133;C")
	}
	for _, m := range []protocol.ProxyStart{
		{Command: "bash", Args: []string{"-c", "ls"}},
		{Command: "bash", Args: []string{"script"}},
		{Command: "vim"},
		{Command: "sh"},
		{Command: "bash", Env: []string{"PROMPT_COMMAND=mine"}},
	} {
		require.Nil(t, marks.Env(&m), m)
	}
	t.Setenv("PROMPT_COMMAND", marks.MarkStart) // one of our shells within another
	require.Nil(t, marks.Env(&protocol.ProxyStart{Command: "bash"}))
}
