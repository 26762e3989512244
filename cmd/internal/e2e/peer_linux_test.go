package e2e_test

import "golang.org/x/sys/unix"

// processBehind returns the process at the other end of a Unix socket, or 0 if it is unknown.
func processBehind(fd int) (pid int) {
	if who, err := unix.GetsockoptUcred(fd, unix.SOL_SOCKET, unix.SO_PEERCRED); err == nil {
		pid = int(who.Pid)
	}
	return pid
}
