package child

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// A process with a session of its own is left alone, and counted. Processes in the session, and
// other people's, do not count.
func TestSurvivorsOfTheProgramAreCounted(t *testing.T) {
	if _, err := exec.LookPath("setsid"); err != nil {
		t.Skip("setsid is not installed")
	}
	file := filepath.Join(t.TempDir(), "pid")
	const mark = "MARK_OF_A_TEST=one-k3f9"
	script := `sleep 1000 & setsid sh -c 'echo $$ > ` + file + `; exec sleep 1000' & wait`
	c, err := Start(Config{Path: "sh", Args: []string{"-c", script}, Env: append(os.Environ(), mark), Cols: 80, Rows: 24})
	require.NoError(t, err)
	t.Cleanup(c.Close)
	pid := 0
	require.Eventually(t, func() bool {
		text, _ := os.ReadFile(file)
		pid, _ = strconv.Atoi(strings.TrimSpace(string(text)))
		return pid > 1
	}, 2*time.Minute, 5*time.Millisecond)
	t.Cleanup(func() { _ = unix.Kill(pid, unix.SIGKILL) })
	// A process in the middle of execve has no environment for a moment.
	require.Eventually(t, func() bool { return c.CountSurvivors(mark) == 1 }, 2*time.Minute, 5*time.Millisecond)
	require.Zero(t, c.CountSurvivors("MARK_OF_A_TEST=one-k3f"), "the whole value counts")
	require.Zero(t, c.CountSurvivors("OF_A_TEST=one-k3f9"), "the whole name counts")
	c.Kill()
	_ = c.Wait()
	c.EndLeftovers()
	require.NoError(t, unix.Kill(pid, 0), "it asked to be left alone")
	require.Equal(t, 1, c.CountSurvivors(mark))
	require.NoError(t, unix.Kill(pid, unix.SIGKILL))
	require.Eventually(t, func() bool { return c.CountSurvivors(mark) == 0 }, 2*time.Minute, 5*time.Millisecond)
}
