package gateway

import (
	"context"
	"crypto/tls"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"sync"

	"terminalproxy/gateway/access/auth"
	"terminalproxy/protocol"
)

// beyondPerPeer is how many connections beyond its limit an address may have to be told so. Further
// ones are closed.
const beyondPerPeer = 16

// limiter bounds the connections of each token, and those of each address without a known token. An
// address at its limit victim the oldest connection that has not sent a whole request, or else the
// oldest idle one. If there is neither, the new connection is rejected. So connections that are
// held half-open cannot keep out one that sends requests. A request from a trusted proxy counts for
// the address that the proxy names.
type limiter struct {
	net.Listener
	limit   int
	trusted []netip.Prefix
	log     *slog.Logger

	mu      sync.Mutex
	unknown map[string][]*claim // by address, oldest first
	known   map[string]int      // by token
	beyond  map[string]int      // by address
}

// claim is a connection, or a request of a trusted proxy, as the limiter counts it. A nil claim
// counts nothing.
type claim struct {
	limiter *limiter
	peer    string
	conn    net.Conn // nil for a request

	// The rest is guarded by limiter.mu.
	token  string // "" while no token is known
	beyond bool   // beyond the limit
	spoke  bool   // a whole request has arrived
	idle   bool   // no request is open
}

func newLimiter(ln net.Listener, limit int, trusted []netip.Prefix, log *slog.Logger) *limiter {
	return &limiter{
		Listener: ln,
		limit:    limit,
		trusted:  trusted,
		log:      log,
		unknown:  make(map[string][]*claim),
		known:    make(map[string]int),
		beyond:   make(map[string]int),
	}
}

// limited is a connection with its claim, nil for one from a trusted proxy.
type limited struct {
	net.Conn
	claim *claim
	once  sync.Once
}

// Close implements net.Conn.
func (c *limited) Close() error {
	c.once.Do(c.claim.release)
	return c.Conn.Close()
}

// Plain returns the connection itself, to write to; see package ws.
func (c *limited) Plain() net.Conn { return c.Conn }

// Accept implements net.Listener.
func (l *limiter) Accept() (net.Conn, error) {
	for {
		conn, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		if l.isTrusted(conn.RemoteAddr().String()) {
			return &limited{Conn: conn}, nil
		}
		c := &limited{Conn: conn}
		claimed, evicted := l.claimPlace(auth.Address(conn.RemoteAddr().String()), c)
		if evicted != nil {
			_ = evicted.Close()
		}
		if claimed != nil {
			return c, nil
		}
		_ = conn.Close()
	}
}

// claimPlace counts one more connection or request of an address; c is nil for a request. The
// caller closes evicted, which lost its place.
func (l *limiter) claimPlace(peer string, c *limited) (made *claim, evicted net.Conn) {
	l.mu.Lock()
	defer l.mu.Unlock()
	made = &claim{limiter: l, peer: peer}
	if c != nil {
		made.conn, c.claim = c, made
	}
	own := l.unknown[peer]
	if len(own) < l.limit {
		l.unknown[peer] = append(own, made)
		return made, nil
	}
	victim := slices.IndexFunc(own, func(o *claim) bool { return o.conn != nil && !o.spoke })
	if victim < 0 {
		victim = slices.IndexFunc(own, func(o *claim) bool { return o.conn != nil && o.idle })
	}
	if victim >= 0 {
		evicted = own[victim].conn
		l.unknown[peer] = append(slices.Delete(own, victim, victim+1), made)
		return made, evicted
	}
	if l.beyond[peer] == beyondPerPeer {
		return nil, nil
	}
	made.beyond = true
	l.beyond[peer]++
	return made, nil
}

// release stops counting the claim.
func (c *claim) release() {
	if c == nil {
		return
	}
	c.limiter.mu.Lock()
	defer c.limiter.mu.Unlock()
	c.removeLocked()
}

// removeLocked removes the claim, which may be removed already.
func (c *claim) removeLocked() {
	l := c.limiter
	switch {
	case c.token != "":
		decrement(l.known, c.token)
	case c.beyond:
		decrement(l.beyond, c.peer)
	default:
		l.unknown[c.peer] = slices.DeleteFunc(l.unknown[c.peer], func(o *claim) bool {
			return o == c
		})
		if len(l.unknown[c.peer]) == 0 {
			delete(l.unknown, c.peer)
		}
	}
}

func decrement(count map[string]int, key string) {
	if count[key]--; count[key] == 0 {
		delete(count, key)
	}
}

// beginRequest records that a whole request has arrived, and reports whether there is room for it.
func (c *claim) beginRequest() bool {
	c.limiter.mu.Lock()
	defer c.limiter.mu.Unlock()
	c.spoke, c.idle = true, false
	return !c.beyond
}

// countToken counts the claim for a token instead of its address.
func (c *claim) countToken(token string) error {
	if c == nil || token == "" {
		return nil
	}
	l := c.limiter
	l.mu.Lock()
	defer l.mu.Unlock()
	if c.token == token {
		return nil
	}
	if l.known[token] >= l.limit {
		return &auth.Refusal{
			Status: http.StatusTooManyRequests, Code: protocol.CodeBusy,
			Say: fmt.Sprintf("%d connections use this token already: end one, or try again later",
				l.limit),
		}
	}
	c.removeLocked()
	c.token, c.beyond = token, false
	l.known[token]++
	return nil
}

// noteState is an http.Server's ConnState hook.
func (l *limiter) noteState(conn net.Conn, state http.ConnState) {
	if state != http.StateIdle {
		return
	}
	if c := claimOfConn(conn); c != nil {
		l.mu.Lock()
		c.idle = true
		l.mu.Unlock()
	}
}

// claimOfConn returns the claim of a connection, also of one inside TLS.
func claimOfConn(conn net.Conn) *claim {
	if secure, ok := conn.(*tls.Conn); ok {
		conn = secure.NetConn()
	}
	if c, ok := conn.(*limited); ok {
		return c.claim
	}
	return nil
}

type claimKey struct{}

// claimOf returns the claim of a request.
func claimOf(r *http.Request) *claim {
	if c, ok := r.Context().Value(claimKey{}).(*claim); ok {
		return c
	}
	return connectionOf(r).claim
}

// limitRequests forwards requests to next if there is room, and answers others with reject. A
// request with a token goes on to where the token is checked, and from then on does not count for
// its address.
func (l *limiter) limitRequests(
	next http.Handler, reject func(http.ResponseWriter, *http.Request, error),
) http.Handler {
	full := func(w http.ResponseWriter, r *http.Request) {
		l.log.Warn("rejected: too many connections from one address", "address", r.RemoteAddr)
		reject(w, r,
			fmt.Errorf(
				"%d connections from your address are open already: close some, or try again later",
				l.limit,
			))
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		c := connectionOf(r).claim
		if c == nil {
			peer := l.clientAddress(r)
			if c, _ = l.claimPlace(auth.Address(peer), nil); c == nil {
				full(w, r)
				return
			}
			defer c.release()
			r = r.WithContext(context.WithValue(r.Context(), claimKey{}, c))
			r.RemoteAddr = net.JoinHostPort(peer, "0")
		}
		if !c.beginRequest() {
			w.Header().Set("Connection", "close")
			if r.Header.Get("Authorization") == "" && r.URL.Path != protocol.PathProof &&
				connectionOf(r).provenIdentity() == nil {
				full(w, r)
				return
			}
		}
		next.ServeHTTP(w, r)
	})
}

// rejectWithoutPages rejects requests at a server without pages.
func rejectWithoutPages(w http.ResponseWriter, _ *http.Request, why error) {
	http.Error(w, why.Error(), http.StatusTooManyRequests)
}

// clientAddress returns the address for which a trusted proxy forwards a request: the last one of
// X-Forwarded-For outside the trusted networks.
func (l *limiter) clientAddress(r *http.Request) string {
	host, _, _ := net.SplitHostPort(r.RemoteAddr)
	addresses := strings.Split(strings.Join(r.Header.Values("X-Forwarded-For"), ","), ",")
	for _, from := range slices.Backward(addresses) {
		addr, ok := parseAddr(strings.TrimSpace(from))
		if !ok {
			break
		}
		if !l.isTrusted(addr.String()) {
			return addr.String()
		}
	}
	return host
}

// isTrusted reports whether an address, with or without a port, belongs to a trusted proxy.
func (l *limiter) isTrusted(address string) bool {
	addr, ok := parseAddr(address)
	return ok &&
		slices.ContainsFunc(l.trusted, func(p netip.Prefix) bool { return p.Contains(addr) })
}

func parseAddr(s string) (netip.Addr, bool) {
	if port, err := netip.ParseAddrPort(s); err == nil {
		return port.Addr().Unmap().WithZone(""), true
	}
	addr, err := netip.ParseAddr(strings.Trim(s, "[]"))
	return addr.Unmap().WithZone(""), err == nil
}
