package child

import (
	"os/exec"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
)

// The end of a process is noticed once it comes, and not for another process with its number.
func TestWatchEnd(t *testing.T) {
	cmd := exec.Command("cat")
	in, err := cmd.StdinPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	_, fields := procStat(cmd.Process.Pid)
	started, err := strconv.ParseInt(fields[startField], 10, 64)
	require.NoError(t, err)

	ended := make(chan struct{})
	_, ok := WatchEnd(cmd.Process.Pid, started, func() { close(ended) })
	require.True(t, ok)
	stopped := make(chan struct{})
	stop, ok := WatchEnd(cmd.Process.Pid, started, func() { close(stopped) })
	require.True(t, ok)
	select {
	case <-ended:
		t.Fatal("it runs")
	default:
	}
	stop()
	<-stopped // the goroutine ends with stop
	select {
	case <-ended:
		t.Fatal("it runs")
	default:
	}
	_, ok = WatchEnd(cmd.Process.Pid, started+1, func() {})
	require.False(t, ok, "another process had that number")
	require.NoError(t, in.Close())
	<-ended
	require.NoError(t, cmd.Wait())
	_, ok = WatchEnd(cmd.Process.Pid, started, func() {})
	require.False(t, ok, "it has ended")
}
