package auth

import "golang.org/x/sys/unix"

// peerUID asks the kernel who created the other end (SO_PEERCRED, unix(7)). The kernel records it
// at connect or listen time, and the peer cannot change it.
func peerUID(fd int) (int, error) {
	cred, err := unix.GetsockoptUcred(fd, unix.SOL_SOCKET, unix.SO_PEERCRED)
	if err != nil {
		return -1, err
	}
	return int(cred.Uid), nil
}
