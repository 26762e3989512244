package onevent

import (
	"context"
	"os"
	"os/exec"
	"syscall"
	"time"
)

// name is the argv[0] by which this program knows that it is to start another one and to keep it to its limit. The limit comes behind it,
// whether that one follows another, and the command line.
const (
	name    = "proxy-on-event"
	alone   = "alone"
	follows = "follows"
)

// The descriptors of the process: what it holds until its end, and what ends with the one that it follows.
const (
	heldFD   = 3
	beforeFD = 4
)

// Called reports whether this process is one of those.
func Called(args []string) bool { return len(args) > 3 && args[0] == name }

// The exit statuses of a program that did not run to its end, as timeout(1) and shells say it.
const (
	statusKilled   = 124
	statusNotFound = 127
	statusUsage    = 125
)

// Supervise runs the program of the command line, whose standard streams lead nowhere, and kills it and what it started when its time is
// over. It returns the exit status.
func Supervise(args []string) int {
	limit, err := time.ParseDuration(args[1])
	if err != nil {
		return statusUsage
	}
	syscall.CloseOnExec(heldFD)
	if args[2] == follows {
		before := os.NewFile(beforeFD, follows)
		_, _ = before.Read(make([]byte, 1)) // nobody writes
		_ = before.Close()
	}
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	cmd := exec.CommandContext(ctx, args[3], args[4:]...) //nolint:gosec // the user's own configuration names it
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	if cmd.Start() != nil {
		return statusNotFound
	}
	err = cmd.Wait()
	switch {
	case ctx.Err() != nil:
		return statusKilled
	case err != nil:
		return max(cmd.ProcessState.ExitCode(), 1)
	}
	return 0
}
