package world

import "golang.org/x/sys/unix"

// ProcessBehind returns the process at the other end of a Unix socket, or 0 if it is unknown.
func ProcessBehind(fd int) (pid int) {
	if who, err := unix.GetsockoptUcred(fd, unix.SOL_SOCKET, unix.SO_PEERCRED); err == nil {
		pid = int(who.Pid)
	}
	return pid
}
