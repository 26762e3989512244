//go:build !linux

package child

import "golang.org/x/sys/unix"

// BlockedOn says what the processes in the foreground do with the terminal. Only Linux tells; elsewhere known is false, and
// the group all that there is.
func (c *Child) BlockedOn() (a Blocked, known bool) {
	return Blocked{Group: c.ForegroundGroup()}, false
}

// HasOutput reports whether the program wrote something that was not read yet.
func (c *Child) HasOutput() bool {
	fds := []unix.PollFd{{Fd: int32(c.master), Events: unix.POLLIN}}
	n, err := unix.Poll(fds, 0)
	return err == nil && n > 0 && fds[0].Revents&unix.POLLIN != 0
}
