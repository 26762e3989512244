package gateway

import (
	"log/slog"
	"net"
	"os"

	"terminalproxy/gateway/access/auth"
)

// sameUser accepts only connections of this user. The mode of the socket and its directory should
// ensure that, but some systems ignore it (unix(7)), so the kernel is asked about every peer.
type sameUser struct {
	*net.UnixListener
	log *slog.Logger
}

// Accept implements net.Listener.
func (l *sameUser) Accept() (net.Conn, error) {
	for {
		conn, err := l.UnixListener.Accept()
		if err != nil {
			return nil, err
		}
		uid, err := auth.PeerUID(conn)
		if err == nil && uid == os.Getuid() {
			return conn, nil
		}
		l.log.Warn("refused a connection of another user", "uid", uid, "error", err)
		_ = conn.Close()
	}
}
