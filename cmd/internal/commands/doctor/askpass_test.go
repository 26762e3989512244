package doctor

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"terminalproxy/cmd/internal/askpass"
	"terminalproxy/cmd/internal/cli"
	"terminalproxy/cmd/internal/cli/clitest"
)

// doctor says of each installed agent whether sudo, git and ssh in its shell tool would ask the
// user, and why not.
func TestDoctorSaysWhichAgentsCanAskForPasswords(t *testing.T) {
	clitest.Isolate(t)
	bin := t.TempDir()
	t.Setenv("PATH", bin)
	about := func() map[string]finding {
		d := &doctor{env: new(cli.Env), root: t.TempDir()}
		process := func(pid, line, env string) {
			dir := filepath.Join(d.root, "proc", pid)
			require.NoError(t, os.MkdirAll(dir, 0o700))
			require.NoError(t, os.WriteFile(filepath.Join(dir, "cmdline"), []byte(line), 0o600))
			require.NoError(t, os.WriteFile(filepath.Join(dir, "environ"), []byte(env), 0o600))
		}
		process("11", "node\x00/opt/bin/claude.js\x00", "A=1\x00SUDO_ASKPASS=/x\x00")
		process("12", "/usr/bin/gemini\x00", "A=1\x00XSUDO_ASKPASS=/x\x00")
		process("13", "tail\x00gemini\x00", "")
		d.checkAskpass()
		by := map[string]finding{}
		for _, f := range d.findings {
			by[f.Name] = f
		}
		return by
	}
	require.Empty(t, about(), "no agent is installed")
	for _, name := range []string{"claude", "gemini", "codex"} {
		require.NoError(t, os.WriteFile(filepath.Join(bin, name), []byte("#!/bin/sh\n"), 0o700))
	}
	missing := about()
	require.Len(t, missing, 1)
	require.Equal(t, stateWarn, missing["passwords"].State)
	require.Contains(t, missing["passwords"].Say, "sudo, git and ssh of claude, codex, gemini cannot ask you: there is no ")
	require.Contains(t, missing["passwords"].Do, "gateway init bash")

	path, err := askpass.Path(askpass.Name)
	require.NoError(t, err)
	require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o700))
	require.NoError(t, os.Symlink(filepath.Join(bin, "claude"), path))
	found := about()
	require.Equal(t, finding{Name: "passwords of claude", State: stateOK, Say: "in its shell tool sudo, git and ssh ask you at your terminal"}, found["passwords of claude"])
	require.Contains(t, found["passwords of codex"].Say, "in its sandbox nothing can ask")
	require.Equal(t, stateWarn, found["passwords of gemini"].State)
	require.Contains(t, found["passwords of gemini"].Say, "git and ssh do not ask, because it empties their variables, unless the agent sets them: GIT_ASKPASS=$SUDO_ASKPASS git push, SSH_ASKPASS=$SUDO_ASKPASS ssh HOST; but process 12 runs without the variables for it")
	require.NotContains(t, found, "passwords of opencode")
}
