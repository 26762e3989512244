//go:build !linux

package tty

import (
	"os"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

const (
	ioctlGetTermios = unix.TIOCGETA
	ioctlSetTermios = unix.TIOCSETA
)

// ttyName returns the controlling terminal: these systems have no cheap way from a descriptor to
// its name.
func ttyName(int) string { return "/dev/tty" }

// wakePipe makes a pipe that does not block. No program that is started meanwhile inherits it.
func wakePipe(pipe *[2]int) error {
	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()
	if err := unix.Pipe(pipe[:]); err != nil {
		return err
	}
	for _, fd := range pipe {
		unix.CloseOnExec(fd)
		if err := unix.SetNonblock(fd, true); err != nil {
			_, _ = unix.Close(pipe[0]), unix.Close(pipe[1])
			return err
		}
	}
	return nil
}

// duplicateDescriptor makes to a descriptor of the same file as from.
func duplicateDescriptor(from, to int) error {
	err := unix.Dup2(from, to)
	unix.CloseOnExec(to)
	return err
}

// poll waits in milliseconds, rounded up: waking too early would make the caller poll in a busy
// loop.
func poll(fds []unix.PollFd, timeout time.Duration) (int, error) {
	if timeout < 0 {
		return unix.Poll(fds, -1)
	}
	return unix.Poll(fds, int((timeout+time.Millisecond-1)/time.Millisecond))
}

// StopSelf stops this process. The Go runtime cannot restore the default of a signal that it
// catches, so it uses SIGSTOP for any sig.
func StopSelf(unix.Signal) { _ = unix.Kill(os.Getpid(), unix.SIGSTOP) }
