package gateway

import (
	"crypto/tls"
	"log/slog"
	"net"
	"net/http"
	"os"
	"slices"
	"sync"

	"terminalproxy/gateway/auth"
)

// sameUser accepts the connections of this user only. The mode of the socket and its directory says the same; some
// systems do not honour it (unix(7)), so the kernel is asked about every peer.
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

// limiter bounds the connections of each peer address. A peer at its limit loses the oldest connection that has not
// sent a whole request yet; only when there is none, the new one is refused. So connections that are held half-open
// cannot keep out one that speaks.
type limiter struct {
	net.Listener
	most int

	mu    sync.Mutex
	peers map[string][]*limited // oldest first
}

type limited struct {
	net.Conn
	limiter *limiter
	peer    string
	speaks  bool // a request came; under limiter.mu
	once    sync.Once
}

func newLimiter(ln net.Listener, most int) *limiter {
	return &limiter{Listener: ln, most: most, peers: make(map[string][]*limited)}
}

// Accept implements net.Listener.
func (l *limiter) Accept() (net.Conn, error) {
	for {
		conn, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		c, evicted := l.accept(conn)
		if evicted != nil {
			_ = evicted.Close()
		}
		if c != nil {
			return c, nil
		}
		_ = conn.Close()
	}
}

func (l *limiter) accept(conn net.Conn) (accepted, evicted *limited) {
	host, _, err := net.SplitHostPort(conn.RemoteAddr().String())
	if err != nil {
		host = conn.RemoteAddr().String()
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	conns := l.peers[host]
	if len(conns) >= l.most {
		silent := slices.IndexFunc(conns, func(c *limited) bool { return !c.speaks })
		if silent < 0 {
			return nil, nil
		}
		evicted = conns[silent]
		conns = slices.Delete(conns, silent, silent+1)
	}
	accepted = &limited{Conn: conn, limiter: l, peer: host}
	l.peers[host] = append(conns, accepted)
	return accepted, evicted
}

// heard notes that a connection sent a whole request.
func (l *limiter) heard(conn net.Conn) {
	if secure, ok := conn.(*tls.Conn); ok {
		conn = secure.NetConn()
	}
	if c, ok := conn.(*limited); ok {
		l.mu.Lock()
		c.speaks = true
		l.mu.Unlock()
	}
}

// state is an http.Server's ConnState hook.
func (l *limiter) state(conn net.Conn, state http.ConnState) {
	if state == http.StateHijacked || state == http.StateIdle {
		l.heard(conn)
	}
}

// Close implements net.Conn.
func (c *limited) Close() error {
	c.once.Do(func() {
		l := c.limiter
		l.mu.Lock()
		defer l.mu.Unlock()
		l.peers[c.peer] = slices.DeleteFunc(l.peers[c.peer], func(o *limited) bool { return o == c })
		if len(l.peers[c.peer]) == 0 {
			delete(l.peers, c.peer)
		}
	})
	return c.Conn.Close()
}
