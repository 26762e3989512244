package auth

import (
	"errors"
	"fmt"
	"net"
	"syscall"
)

// PeerUID returns the user id of the process at the other end of a Unix socket, as the kernel
// reports it. It works for both ends: a server learns who dialled, a client who listens.
func PeerUID(conn net.Conn) (int, error) {
	raw, ok := conn.(syscall.Conn)
	if _, isUnix := conn.(*net.UnixConn); !ok || !isUnix {
		return -1, errors.New("peer credentials: not a unix socket")
	}
	control, err := raw.SyscallConn()
	if err != nil {
		return -1, fmt.Errorf("peer credentials: %w", err)
	}
	uid := -1
	var lookup error
	if err := control.Control(func(fd uintptr) { uid, lookup = peerUID(int(fd)) }); err != nil {
		return -1, fmt.Errorf("peer credentials: %w", err)
	}
	if lookup != nil {
		return -1, fmt.Errorf("peer credentials: %w", lookup)
	}
	return uid, nil
}
