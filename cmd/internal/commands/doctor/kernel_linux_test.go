package doctor

import (
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"terminalproxy/gateway/userdirs"
)

// doctor tells a process that the kernel closes to the user's other processes from one that it does
// not. The kernel closes each whose program the user may run and not read (execve(2)).
func TestWhichProcessesAreDumpable(t *testing.T) {
	user := os.Getuid()
	var credential *syscall.Credential
	if user == 0 {
		user = 65534 // nobody: root's own processes do not show the difference
		credential = &syscall.Credential{Uid: 65534, Gid: 65534}
	}
	dir := t.TempDir()
	require.NoError(t, os.Chmod(filepath.Dir(dir), 0o755)) //nolint:gosec // nobody runs a program in it
	require.NoError(t, os.Chmod(dir, 0o755))               //nolint:gosec // the same
	for name, c := range map[string]struct {
		mode  os.FileMode
		owner int
	}{
		"readable":   {0o755, user},
		"unreadable": {0o111, 0},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(dir, name)
			copyProgram(t, "cat", path)
			require.NoError(t, os.Chmod(path, c.mode))
			cmd := exec.CommandContext(t.Context(), path)
			cmd.SysProcAttr = &syscall.SysProcAttr{Credential: credential}
			in, err := cmd.StdinPipe()
			require.NoError(t, err)
			require.NoError(t, cmd.Start())
			defer func() { _ = in.Close(); _ = cmd.Wait() }()
			require.EventuallyWithT(t, func(t *assert.CollectT) { // until execve(2) is done
				info, err := statMemory("", cmd.Process.Pid)
				require.NoError(t, err)
				require.Equal(t, c.owner, userdirs.OwnerOf(info))
			}, time.Minute, 5*time.Millisecond)
		})
	}
}
