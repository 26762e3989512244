package auth

import (
	"errors"
	"fmt"
	"net"
	"syscall"
)

// PeerUID returns the user id of the process at the other end of a Unix socket, from the kernel. It
// works for both ends: a server asks who dialled, a client asks who listens.
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
	var asked error
	if err := control.Control(func(fd uintptr) { uid, asked = peerUID(int(fd)) }); err != nil {
		return -1, fmt.Errorf("peer credentials: %w", err)
	}
	if asked != nil {
		return -1, fmt.Errorf("peer credentials: %w", asked)
	}
	return uid, nil
}
