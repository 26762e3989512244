package keep

import (
	"net"
	"os"

	"golang.org/x/sys/unix"
)

// ours reports whether the other end is the same user's (SO_PEERCRED, unix(7)).
func ours(conn *net.UnixConn) (yes bool) {
	raw, err := conn.SyscallConn()
	if err != nil {
		return false
	}
	_ = raw.Control(func(fd uintptr) {
		cred, err := unix.GetsockoptUcred(int(fd), unix.SOL_SOCKET, unix.SO_PEERCRED)
		yes = err == nil && int(cred.Uid) == os.Getuid()
	})
	return yes
}
