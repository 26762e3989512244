package child

import "golang.org/x/sys/unix"

// Unread is how many bytes of its input the program could read now and has not, 0 if the kernel does not say. Of a line
// that is edited in the kernel (canonical mode) nothing counts before its end. It may be called from any goroutine, with
// the master open.
func (c *Child) Unread() int {
	slave, err := c.openSlave()
	if err != nil {
		return 0
	}
	defer unix.Close(slave)
	return waiting(slave)
}

// openSlave opens the program's side of its terminal, by TIOCGPTPEER (Linux 4.13). Whoever does closes it again at once:
// an open one would hide the end of the program's output.
func (c *Child) openSlave() (int, error) {
	// Without O_NOCTTY a proxy that leads a session without a terminal would take the program's for its own.
	const flags = unix.O_RDWR | unix.O_NOCTTY | unix.O_CLOEXEC
	slave, _, errno := unix.Syscall(unix.SYS_IOCTL, uintptr(c.master), unix.TIOCGPTPEER, flags)
	if errno != 0 {
		return -1, errno
	}
	return int(slave), nil
}
