//go:build !linux

package tty

import (
	"time"

	"golang.org/x/sys/unix"
)

// poll waits in milliseconds, rounded up: to wake before the moment that was asked for would be a busy loop.
func poll(fds []unix.PollFd, timeout time.Duration) (int, error) {
	if timeout < 0 {
		return unix.Poll(fds, -1)
	}
	return unix.Poll(fds, int((timeout+time.Millisecond-1)/time.Millisecond))
}
