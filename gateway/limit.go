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

	"terminalproxy/gateway/auth"
	"terminalproxy/protocol"
)

// beyondPerPeer are the connections of an address for which there is no room, and which are told so. Those beyond are cut off.
const beyondPerPeer = 16

// limiter bounds the connections of each token, and of each address those of which no token is known yet. An address at its limit
// loses the oldest connection that has not sent a whole request, or else the oldest on which nothing is under way; only when there
// is none, the new one is turned away. So connections that are held half-open cannot keep out one that speaks.
//
// What a trusted proxy passes on counts by the address that the proxy names, request by request.
type limiter struct {
	net.Listener
	most    int
	trusted []netip.Prefix
	log     *slog.Logger

	mu      sync.Mutex
	unknown map[string][]*claim // by address, oldest first
	known   map[string]int      // by token
	beyond  map[string]int      // by address
}

// claim is a connection, or a request of a trusted proxy's, as the limiter counts it. A nil one counts nothing.
type claim struct {
	limiter *limiter
	peer    string
	conn    net.Conn // nil for a request

	// The rest is under limiter.mu.
	token  string // "" while nobody is known
	beyond bool   // there is no room for it
	speaks bool   // a whole request came
	idle   bool   // nothing is under way
}

func newLimiter(ln net.Listener, most int, trusted []netip.Prefix, log *slog.Logger) *limiter {
	return &limiter{
		Listener: ln, most: most, trusted: trusted, log: log,
		unknown: make(map[string][]*claim), known: make(map[string]int), beyond: make(map[string]int),
	}
}

// limited is a connection with its claim, nil where a trusted proxy is at the other end.
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

// Plain is the connection itself, for who writes to it: see package ws.
func (c *limited) Plain() net.Conn { return c.Conn }

// Accept implements net.Listener.
func (l *limiter) Accept() (net.Conn, error) {
	for {
		conn, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		if l.trusts(conn.RemoteAddr().String()) {
			return &limited{Conn: conn}, nil
		}
		c := &limited{Conn: conn}
		claimed, evicted := l.take(auth.Address(conn.RemoteAddr().String()), c)
		if evicted != nil {
			_ = evicted.Close()
		}
		if claimed != nil {
			return c, nil
		}
		_ = conn.Close()
	}
}

// take counts one more of an address, for the connection c or for a request. evicted is to be closed in its place.
func (l *limiter) take(peer string, c *limited) (made *claim, evicted net.Conn) {
	l.mu.Lock()
	defer l.mu.Unlock()
	made = &claim{limiter: l, peer: peer}
	if c != nil {
		made.conn, c.claim = c, made
	}
	own := l.unknown[peer]
	if len(own) < l.most {
		l.unknown[peer] = append(own, made)
		return made, nil
	}
	loses := slices.IndexFunc(own, func(o *claim) bool { return o.conn != nil && !o.speaks })
	if loses < 0 {
		loses = slices.IndexFunc(own, func(o *claim) bool { return o.conn != nil && o.idle })
	}
	if loses >= 0 {
		evicted = own[loses].conn
		l.unknown[peer] = append(slices.Delete(own, loses, loses+1), made)
		return made, evicted
	}
	if l.beyond[peer] == beyondPerPeer {
		return nil, nil
	}
	made.beyond = true
	l.beyond[peer]++
	return made, nil
}

// release is the end of what was counted.
func (c *claim) release() {
	if c == nil {
		return
	}
	c.limiter.mu.Lock()
	defer c.limiter.mu.Unlock()
	c.leave()
}

// leave takes the claim out of the books. It may not be there any more.
func (c *claim) leave() {
	l := c.limiter
	switch {
	case c.token != "":
		less(l.known, c.token)
	case c.beyond:
		less(l.beyond, c.peer)
	default:
		l.unknown[c.peer] = slices.DeleteFunc(l.unknown[c.peer], func(o *claim) bool { return o == c })
		if len(l.unknown[c.peer]) == 0 {
			delete(l.unknown, c.peer)
		}
	}
}

func less(count map[string]int, of string) {
	if count[of]--; count[of] == 0 {
		delete(count, of)
	}
}

// begin notes a whole request, and reports whether there is room for it.
func (c *claim) begin() bool {
	c.limiter.mu.Lock()
	defer c.limiter.mu.Unlock()
	c.speaks, c.idle = true, false
	return !c.beyond
}

// of counts the claim with a token that is known now.
func (c *claim) of(token string) error {
	if c == nil || token == "" {
		return nil
	}
	l := c.limiter
	l.mu.Lock()
	defer l.mu.Unlock()
	if c.token == token {
		return nil
	}
	if l.known[token] >= l.most {
		return &auth.Refusal{
			Status: http.StatusTooManyRequests, Code: protocol.CodeBusy,
			Say: fmt.Sprintf("%d connections use this token already: end one, or come back later", l.most),
		}
	}
	c.leave()
	c.token, c.beyond = token, false
	l.known[token]++
	return nil
}

// state is an http.Server's ConnState hook.
func (l *limiter) state(conn net.Conn, state http.ConnState) {
	if state != http.StateIdle {
		return
	}
	if c := claimed(conn); c != nil {
		l.mu.Lock()
		c.idle = true
		l.mu.Unlock()
	}
}

// claimed is the claim of a connection, which TLS may be around.
func claimed(conn net.Conn) *claim {
	if secure, ok := conn.(*tls.Conn); ok {
		conn = secure.NetConn()
	}
	if c, ok := conn.(*limited); ok {
		return c.claim
	}
	return nil
}

type claimKey struct{}

// claimOf is what a request is counted as.
func claimOf(r *http.Request) *claim {
	if c, ok := r.Context().Value(claimKey{}).(*claim); ok {
		return c
	}
	return connectionOf(r).claim
}

// handler is next for requests that there is room for; turn says so to others. Who brings a token is let through to where it is
// looked at: it is not counted with those of its address then.
func (l *limiter) handler(next http.Handler, turn func(http.ResponseWriter, *http.Request, error)) http.Handler {
	full := func(w http.ResponseWriter, r *http.Request) {
		l.log.Warn("turned away: too many connections of one address", "address", r.RemoteAddr)
		turn(w, r, fmt.Errorf("%d connections of your address are open already: close some, or come back later", l.most))
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		c := connectionOf(r).claim
		if c == nil {
			peer := l.client(r)
			if c, _ = l.take(auth.Address(peer), nil); c == nil {
				full(w, r)
				return
			}
			defer c.release()
			r = r.WithContext(context.WithValue(r.Context(), claimKey{}, c))
			r.RemoteAddr = net.JoinHostPort(peer, "0")
		}
		if !c.begin() {
			w.Header().Set("Connection", "close")
			if r.Header.Get("Authorization") == "" && r.URL.Path != protocol.PathProof && connectionOf(r).identity() == nil {
				full(w, r)
				return
			}
		}
		next.ServeHTTP(w, r)
	})
}

// turnAway is the turn of a server without pages.
func turnAway(w http.ResponseWriter, _ *http.Request, why error) {
	http.Error(w, why.Error(), http.StatusTooManyRequests)
}

// client is the address from which a trusted proxy has a request: the last one of X-Forwarded-For that is no such proxy itself.
func (l *limiter) client(r *http.Request) string {
	host, _, _ := net.SplitHostPort(r.RemoteAddr)
	passed := strings.Split(strings.Join(r.Header.Values("X-Forwarded-For"), ","), ",")
	for _, from := range slices.Backward(passed) {
		addr, ok := parseAddr(strings.TrimSpace(from))
		if !ok {
			break
		}
		if !l.trusts(addr.String()) {
			return addr.String()
		}
	}
	return host
}

// trusts reports whether an address, with a port or without, is a trusted proxy's.
func (l *limiter) trusts(address string) bool {
	addr, ok := parseAddr(address)
	return ok && slices.ContainsFunc(l.trusted, func(p netip.Prefix) bool { return p.Contains(addr) })
}

func parseAddr(s string) (netip.Addr, bool) {
	if port, err := netip.ParseAddrPort(s); err == nil {
		return port.Addr().Unmap().WithZone(""), true
	}
	addr, err := netip.ParseAddr(strings.Trim(s, "[]"))
	return addr.Unmap().WithZone(""), err == nil
}
