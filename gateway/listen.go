package gateway

import (
	"container/list"
	"crypto/tls"
	"log/slog"
	"net"
	"net/http"
	"os"
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
	peers map[string]*list.List // of *limited, oldest first
}

type limited struct {
	net.Conn
	limiter *limiter
	peer    string
	element *list.Element
	speaks  bool // a request came; under limiter.mu
	once    sync.Once
}

func newLimiter(ln net.Listener, most int) *limiter {
	return &limiter{Listener: ln, most: most, peers: make(map[string]*list.List)}
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
	if conns == nil {
		conns = list.New()
		l.peers[host] = conns
	}
	if conns.Len() >= l.most {
		if evicted = silent(conns); evicted == nil {
			return nil, nil
		}
		conns.Remove(evicted.element)
	}
	c := &limited{Conn: conn, limiter: l, peer: host}
	c.element = conns.PushBack(c)
	return c, evicted
}

// silent is the oldest connection that has not said anything whole.
func silent(conns *list.List) *limited {
	for e := conns.Front(); e != nil; e = e.Next() {
		if c, ok := e.Value.(*limited); ok && !c.speaks {
			return c
		}
	}
	return nil
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
		c.limiter.mu.Lock()
		defer c.limiter.mu.Unlock()
		if conns := c.limiter.peers[c.peer]; conns != nil {
			conns.Remove(c.element) // without effect when it was evicted
			if conns.Len() == 0 {
				delete(c.limiter.peers, c.peer)
			}
		}
	})
	return c.Conn.Close()
}
