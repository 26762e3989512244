package onevent

import (
	"context"
	"os"
	"os/exec"
	"syscall"
	"time"
)

// supervisorName is the argv[0] that makes this binary a supervisor. The arguments are the limit,
// alone or follows, and the command line of the program.
const (
	supervisorName = "proxy-on-event"
	alone          = "alone"
	follows        = "follows"
)

// The descriptors of a supervisor.
const (
	heldFD   = 3 // open until the supervisor ends
	beforeFD = 4 // ends with the previous supervisor
)

// IsSupervisor reports whether this process is a supervisor.
func IsSupervisor(args []string) bool { return len(args) > 3 && args[0] == supervisorName }

// The exit statuses for a program that did not run to its end, as in timeout(1) and shells.
const (
	statusKilled   = 124
	statusNotFound = 127
	statusUsage    = 125
)

// Supervise runs the program of the command line with /dev/null as its standard streams, and kills
// its process group at the limit. It returns the exit status.
func Supervise(args []string) int {
	limit, err := time.ParseDuration(args[1])
	if err != nil {
		return statusUsage
	}
	syscall.CloseOnExec(heldFD)
	if args[2] == follows {
		before := os.NewFile(beforeFD, follows)
		_, _ = before.Read(make([]byte, 1)) // waits for the end of the file: it is always empty
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
