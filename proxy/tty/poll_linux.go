package tty

import (
	"time"

	"golang.org/x/sys/unix"
)

// poll waits with the kernel's resolution: ppoll(2).
func poll(fds []unix.PollFd, timeout time.Duration) (int, error) {
	if timeout < 0 {
		return unix.Ppoll(fds, nil, nil)
	}
	ts := unix.NsecToTimespec(int64(timeout))
	return unix.Ppoll(fds, &ts, nil)
}
