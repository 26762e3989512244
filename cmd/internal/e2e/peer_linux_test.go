package e2e_test

import "golang.org/x/sys/unix"

// processBehind is the process at the other end of a Unix socket, 0 where nobody knows.
func processBehind(fd int) (pid int) {
	if who, err := unix.GetsockoptUcred(fd, unix.SOL_SOCKET, unix.SO_PEERCRED); err == nil {
		pid = int(who.Pid)
	}
	return pid
}
