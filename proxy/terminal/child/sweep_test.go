package child

import (
	"bufio"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// leftover starts a program and waits for its end. It leaves a process in its session that ignores
// a hangup.
func leftover(t *testing.T, hurry <-chan struct{}) *Child {
	t.Helper()
	c, err := Start(Config{Path: "sh", Args: []string{"-c", `trap "" HUP TERM; sleep 1000 & sleep 1000 & exit 0`}, Cols: 80, Rows: 24, Hurry: hurry})
	require.NoError(t, err)
	t.Cleanup(c.Close)
	require.Zero(t, c.Wait().Code)
	require.Len(t, sessionMembers(c.Pid()), 2)
	return c
}

func TestSweepLeavesNothing(t *testing.T) {
	hurry := make(chan struct{})
	close(hurry)
	c := leftover(t, hurry)
	c.EndLeftovers()
	require.Empty(t, sessionMembers(c.Pid()))
	c.EndLeftovers() // nothing to do
}

func TestFinishIsForTheSameProgramOnly(t *testing.T) {
	cmd := exec.CommandContext(t.Context(), "setsid", "sh", "-c", "echo $$; exec sleep 1000")
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	if err := cmd.Start(); err != nil {
		t.Skip("setsid is not installed")
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	require.NoError(t, err)
	pid, err := strconv.Atoi(strings.TrimSpace(line))
	require.NoError(t, err)
	who := Identity{pid, startTime(pid)}
	require.NotEmpty(t, who.Began)

	EndProgram(Identity{pid, who.Began + "1"})
	require.Equal(t, []int{pid}, sessionMembers(pid))
	done := make(chan struct{})
	go func() { defer close(done); _ = cmd.Wait() }() // ends with EndProgram
	EndProgram(who)
	select {
	case <-done:
	case <-time.After(2 * time.Minute):
		require.FailNow(t, "it was not ended")
	}
	require.Empty(t, startTime(os.Getpid()+1<<30), "no such process")
}
