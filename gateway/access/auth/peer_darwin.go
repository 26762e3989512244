package auth

import "golang.org/x/sys/unix"

// peerUID asks the kernel who created the other end (LOCAL_PEERCRED, unix(4)).
func peerUID(fd int) (int, error) {
	cred, err := unix.GetsockoptXucred(fd, unix.SOL_LOCAL, unix.LOCAL_PEERCRED)
	if err != nil {
		return -1, err
	}
	return int(cred.Uid), nil
}
