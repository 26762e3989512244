package main

import (
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"terminalproxy/gateway/userdirs"
)

// TestAForeignDirectoryKeepsNoProgramFromRunning puts a link where the local gateway's directory
// belongs, as another user could do in /tmp.
func TestAForeignDirectoryKeepsNoProgramFromRunning(t *testing.T) {
	if _, err := os.Stat("/run/user/" + strconv.Itoa(os.Getuid())); err == nil {
		t.Skip("this user's runtime directory comes first, and belongs to no test")
	}
	run := t.TempDir()
	t.Setenv("HOME", t.TempDir())
	t.Setenv("XDG_RUNTIME_DIR", run)
	t.Setenv(userdirs.EnvDir, "")
	require.NoError(t, os.Symlink(t.TempDir(), filepath.Join(run, "terminalproxy")))
	for flag, needsAgents := range map[string]bool{"--agent": false, "--chat": true} {
		flags, err := parseFlags([]string{flag, "claude"})
		require.NoError(t, err)
		conf, done, err := flags.sessionConfig(os.Stdin, os.Stdout)
		if needsAgents { // of no use alone
			require.ErrorContains(t, err, "is a symbolic link")
			continue
		}
		require.NoError(t, err)
		done()
		require.Nil(t, conf.Agent)
		require.ErrorContains(t, flags.unshared, "is a symbolic link")
	}
}
