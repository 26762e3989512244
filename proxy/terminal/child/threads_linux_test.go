package child

import (
	"os"
	"os/exec"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// A program of several threads, such as one in Go, starts another program from any of them.
func TestChildrenOfEveryThread(t *testing.T) {
	if _, err := os.Stat("/proc/thread-self/children"); err != nil {
		t.Skip("the kernel lists no children")
	}
	started, end := make(chan *exec.Cmd), make(chan struct{})
	defer close(end)
	start := func() {
		runtime.LockOSThread() // to the end: the other one gets another thread
		cmd := exec.Command("sleep", "100")
		if unix.Gettid() == os.Getpid() || cmd.Start() != nil {
			cmd = nil
		}
		started <- cmd
		<-end
	}
	found := 0
	for range 2 { // one of them is not on the first thread
		go start()
		if cmd := <-started; cmd != nil {
			found++
			require.Contains(t, appendStarted(nil, os.Getpid(), unix.Getpgrp()), cmd.Process.Pid)
			require.NoError(t, cmd.Process.Kill())
			_ = cmd.Wait()
		}
	}
	require.NotZero(t, found)
}
