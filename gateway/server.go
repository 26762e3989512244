// Package gateway is the server. It listens on the user's local socket and on TCP, decides who may
// connect and in which role, and joins connections (package ws) and HTTP requests (package httpapi)
// to the switchboard (package hub). It never starts a program.
// Package local serves it from inside a proxy or an agent's client.
package gateway

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"terminalproxy/gateway/access/auth"
	"terminalproxy/gateway/access/secrets"
	"terminalproxy/gateway/client"
	"terminalproxy/gateway/doors/httpapi"
	"terminalproxy/gateway/doors/ws"
	"terminalproxy/gateway/hub"
	"terminalproxy/gateway/place"
	"terminalproxy/protocol"
)

// Limits of connections.
const (
	connectionsPerPeer = 64
	headerTimeout      = 5 * time.Second
	idleTimeout        = 60 * time.Second
	maxHeaderBytes     = 16 << 10
	maxLinksMessage    = 4 << 10
	revocationCheck    = 250 * time.Millisecond
	shutdownTime       = time.Second
)

// Config configures a server. The zero value serves local sockets.
type Config struct {
	// Log is for operators; nil discards it.
	Log *slog.Logger
	// Tokens has the tokens that are accepted over TCP. Without it there is no TCP.
	Tokens *auth.Store
	// Hosts are additional names of this server. Origins are the origins whose pages may connect;
	// see [auth.Guard].
	Hosts, Origins []string
	// Times are the intervals of connections; zero values are the defaults.
	Times ws.Times
	// MCP serves an agent at /mcp. Without it there is no such path. hold keeps the agent connected
	// between two requests, until it is released.
	MCP func(c *client.Client, hold func() (release func())) MCPHandler
	// Draw draws screens as pictures for HTTP requests. Without it the server has no pictures.
	Draw Drawing
	// Pages are the web pages that the server serves over TCP. They may be nil.
	Pages Pages
	// Trusted are the networks of reverse proxies, whose X-Forwarded-For names the client of a
	// request.
	Trusted []netip.Prefix
	// Version is the product's, for the metrics.
	Version string
	// GathersUntil is the time until which sessions of an earlier gateway may still be
	// reconnecting.
	GathersUntil time.Time
	// Sessions is the maximum number of sessions; 0 is the default.
	Sessions int
	// Cluster is the name of the cluster that this gateway belongs to, or "". Proxies read it when
	// they come from another gateway.
	Cluster string
}

// Server is a gateway. All methods may be called from any goroutine.
type Server struct {
	cfg      Config
	log      *slog.Logger
	hub      *hub.Hub
	sockets  *ws.Server
	failures auth.Failures
	refused  atomic.Uint64 // invalid tokens
	callers  *callers
	api      *httpapi.API
	others   Others // nil without a cluster
	broker   *secrets.Broker

	mu     sync.Mutex
	closed bool
	over   chan struct{} // closed with closed
	https  map[*http.Server]struct{}
	live   map[*hub.Peer]string // token ids of the peers that came with one
}

// New makes a server that does not listen yet.
func New(cfg Config) *Server {
	log := cmp.Or(cfg.Log, slog.New(slog.DiscardHandler))
	s := &Server{
		cfg:   cfg,
		log:   log,
		hub:   hub.New(log),
		over:  make(chan struct{}),
		https: make(map[*http.Server]struct{}),
		live:  make(map[*hub.Peer]string),
	}
	if cfg.Sessions > 0 {
		s.hub.LimitSessions(cfg.Sessions)
	}
	s.sockets = ws.New(ws.Config{
		Log:          log,
		Authenticate: s.authorizeSocket,
		CloseCode:    closeCode,
		Times:        cfg.Times,
		Header:       s.handshakeHeader,
		// checked again, because not every path is behind the guard
		CheckOrigin: auth.Guard{Origins: cfg.Origins}.OriginAllowed,
	})
	s.callers = newCallers(s)
	s.api = s.newAPI()
	s.broker = s.newBroker()
	return s
}

// ServePlace serves the peers of the place's socket that run as this user. The path of a request
// decides the peer's role: proxy, agent or viewer. ServePlace closes the listener and returns nil
// when ctx ends or the server is closed. When the place is lost it stops answering, and returns
// nil, too. It does not give up the place.
func (s *Server) ServePlace(ctx context.Context, p *place.Place) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	go func() { // ends with ctx
		select {
		case <-ctx.Done():
		case <-p.NameLost():
			_ = p.Listener.Close()
		}
	}()
	err := s.serveListener(ctx, &sameUser{UnixListener: p.Listener, log: s.log}, listener{
		guard: auth.Guard{Hosts: []string{"localhost"}}, owns: p.MayAnswer,
	})
	if !p.HoldsName() {
		return nil
	}
	return err
}

// ServeTCP serves peers that have a token. Without TLS the address must be a loopback one. It
// closes ln and returns nil when ctx ends or after Close.
func (s *Server) ServeTCP(ctx context.Context, ln net.Listener, secure *tls.Config) error {
	addr, ok := ln.Addr().(*net.TCPAddr)
	switch {
	case !ok:
		_ = ln.Close()
		return fmt.Errorf("serve on %s: not a TCP address", ln.Addr())
	case s.cfg.Tokens == nil:
		_ = ln.Close()
		return errors.New("serve on TCP: a token file is required")
	case secure == nil && !addr.IP.IsLoopback():
		_ = ln.Close()
		return fmt.Errorf(
			"serve on %s: other machines can reach that address: give a certificate and a "+
				"key, or listen on 127.0.0.1", addr,
		)
	}
	limited := newLimiter(ln, connectionsPerPeer, s.cfg.Trusted, s.log)
	served := listener{
		limit: limited,
		guard: auth.Guard{Hosts: s.cfg.Hosts, Origins: s.cfg.Origins},
	}
	ctx, cancel := context.WithCancel(ctx)
	var wg sync.WaitGroup
	wg.Go(func() { s.watchTokens(ctx) }) // ends with ctx, below
	defer wg.Wait()
	defer cancel()
	if secure == nil {
		return s.serveListener(ctx, limited, served)
	}
	secure = secure.Clone()
	secure.MinVersion = tls.VersionTLS13
	secure.NextProtos = []string{"http/1.1"} // a WebSocket upgrade is HTTP/1.1
	return s.serveListener(ctx, tls.NewListener(limited, secure), served)
}

// listener holds the properties of one of the server's listeners.
type listener struct {
	guard auth.Guard
	limit *limiter // nil without a limit
	// owns reports whether a dial of the local socket's name would come here; nil for TCP.
	owns func() bool
}

// connContext serves as an http.Server's ConnContext.
func (l listener) connContext(ctx context.Context, conn net.Conn) context.Context {
	c := &connection{owns: l.owns}
	if socket, ok := conn.(*net.UnixConn); ok {
		c.process, c.socket = place.ProcessOf(socket), socket
	}
	if l.limit != nil {
		c.claim = claimOfConn(conn)
	}
	return context.WithValue(ctx, connectionKey{}, c)
}

// rejectWhenLost rejects requests at a name that has been lost. The client connects again, to the
// process that has the name now.
func (l listener) rejectWhenLost(next http.Handler) http.Handler {
	if l.owns == nil {
		return next
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !l.owns() {
			w.Header().Set("Connection", "close")
			http.Error(w, errReplaced.Error(), http.StatusServiceUnavailable)
			return
		}
		next.ServeHTTP(w, r)
	})
}

var errReplaced = errors.New("another process serves the local gateway now: connect again")

func (s *Server) serveListener(ctx context.Context, ln net.Listener, l listener) error {
	h := &http.Server{
		Handler:           l.rejectWhenLost(s.frontHandler(l, l.guard.Handler(s.newRoutes()))),
		ReadHeaderTimeout: headerTimeout, IdleTimeout: idleTimeout, MaxHeaderBytes: maxHeaderBytes,
		ErrorLog: slog.NewLogLogger(s.log.Handler(), slog.LevelDebug), ConnContext: l.connContext,
	}
	// peers are this user's processes; a deadline's timer would wake an idle session
	if l.owns != nil {
		h.ReadHeaderTimeout, h.IdleTimeout = 0, 0
	}
	if l.limit != nil {
		h.ConnState = l.limit.noteState
	}
	s.mu.Lock()
	if s.closed {
		s.mu.Unlock()
		return ln.Close() // the server was closed before it started
	}
	s.https[h] = struct{}{}
	s.mu.Unlock()
	defer context.AfterFunc(ctx, func() { _ = s.Close() })()
	err := h.Serve(&spare{Listener: ln, log: s.log})
	if errors.Is(err, http.ErrServerClosed) {
		return s.Close() // waits until the first Close has finished
	}
	return fmt.Errorf("serve on %s: %w", ln.Addr(), err)
}

func (s *Server) newRoutes() http.Handler {
	mux := http.NewServeMux()
	handle := func(method, path string, serve http.HandlerFunc) {
		mux.HandleFunc(method+" "+path, serve)
		mux.Handle(path, s.api.RejectMethods(method))
	}
	for path := range socketRoutes {
		handle(http.MethodGet, path, s.sockets.ServeHTTP)
	}
	handle(http.MethodPost, protocol.PathProof, s.serveProof)
	handle(http.MethodPost, secrets.PathHello, s.serveSecretHello)
	handle(http.MethodPost, secrets.PathAsk, s.serveSecretAsk)
	handle(http.MethodGet, "/healthz", s.serveHealth)
	if s.cfg.MCP != nil {
		mux.HandleFunc("/mcp", s.callers.serveMCP)
	}
	mux.Handle("/", s.api)
	return mux
}

func (s *Server) serveHealth(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set(place.HeaderFiles, strconv.Itoa(place.FileLimit()))
	gathering := ""
	if s.isGathering() {
		gathering = `,"gathering":true`
	}
	gathering += s.clusterHealth(connectionOf(r).isLocal())
	_, _ = fmt.Fprintf(w, "{\"status\":\"ok\",\"version\":%q%s}\n", protocol.Version, gathering)
}

// isGathering reports whether sessions may still be reconnecting.
func (s *Server) isGathering() bool { return time.Now().Before(s.cfg.GathersUntil) }

// handshakeHeader returns the headers of a handshake's answer. They let clients retry if a session
// is missing.
func (s *Server) handshakeHeader() http.Header {
	h := http.Header{}
	if s.isGathering() {
		h.Set(client.HeaderGathering, "1")
	}
	if s.cfg.Cluster != "" {
		h.Set(protocol.HeaderCluster, s.cfg.Cluster)
	}
	return h
}

// watchTokens ends the connections of tokens that were revoked or have expired.
func (s *Server) watchTokens(ctx context.Context) {
	tick := time.NewTicker(revocationCheck)
	defer tick.Stop()
	logged := ""
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		unread := ""
		if err := s.cutRevoked(); err != nil {
			unread = err.Error()
		}
		if unread != logged && unread != "" {
			s.log.Error("token file", "error", unread)
		}
		logged = unread
	}
}

// cutRevoked ends the peers and pages whose tokens are no longer valid. An unreadable token file
// permits nothing either; the error reports it.
func (s *Server) cutRevoked() (unread error) {
	valid, why := make(map[string]bool), errRevoked
	isValid := func(id string) bool {
		if _, checked := valid[id]; !checked {
			err := s.cfg.Tokens.CheckValid(id)
			valid[id] = err == nil
			if err != nil && !errors.Is(err, auth.ErrUnknownToken) {
				unread, why = err, errTokenFile
			}
		}
		return valid[id]
	}
	s.mu.Lock()
	for _, id := range s.live {
		isValid(id)
	}
	s.mu.Unlock()
	if s.cfg.Pages != nil {
		// Pages end before their participants, so that they do not reconnect.
		s.cfg.Pages.CutInvalid(isValid, why)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for peer, id := range s.live {
		if !isValid(id) {
			peer.EndAtOnce(why)
		}
	}
	return unread
}

// Log returns the log for operators.
func (s *Server) Log() *slog.Logger { return s.log }

// Done returns a channel that Close closes.
func (s *Server) Done() <-chan struct{} { return s.over }

// Close ends all listeners and connections. It tells every peer, and closes the connection of one
// that does not read. It takes a few seconds at most, and may be called more than once.
func (s *Server) Close() error {
	s.mu.Lock()
	if !s.closed {
		s.closed = true
		close(s.over)
	}
	var https []*http.Server
	for h := range s.https {
		https = append(https, h)
	}
	clear(s.https)
	s.mu.Unlock()
	if s.cfg.Pages != nil {
		s.cfg.Pages.Close(hub.ErrClosed)
	}
	s.hub.Close()
	s.callers.close()
	ctx, cancel := context.WithTimeout(context.Background(), shutdownTime)
	defer cancel()
	var errs []error
	for _, h := range https {
		if err := h.Shutdown(ctx); err != nil {
			errs = append(errs, h.Close())
		}
	}
	return errors.Join(append(errs, s.sockets.Close())...)
}
