package mcp

import (
	"net/http"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

const (
	// sessionIdle ends a session of the older revisions that nobody uses: a client need not say goodbye.
	sessionIdle = 10 * time.Minute
	maxSessions = 64
	maxBody     = 256 << 10
	// stateless is the first revision without sessions.
	stateless       = "2026-07-28"
	headerVersion   = "Mcp-Protocol-Version"
	headerSessionID = "Mcp-Session-Id"
)

// HTTP is a server behind streamable HTTP, for the clients of one agent: who they are is settled before a request gets
// here, and Host and Origin are checked. It is an http.Handler for a single path.
type HTTP struct {
	server         *Server
	legacy, modern http.Handler
	heartbeat      time.Duration // less in tests
	posts          *posts

	mu     sync.Mutex
	closed bool
}

// NewHTTP makes a server like [New], for HTTP.
func NewHTTP(cfg Config) *HTTP {
	s := New(cfg)
	// Here a list costs nothing; over stdio it would start a gateway for a client that only looks what there is.
	under := new(posts)
	s.mcp.AddReceivingMiddleware(s.listEach, under.tie)
	get := func(*http.Request) *mcp.Server { return s.mcp }
	common := mcp.StreamableHTTPOptions{
		Logger: s.cfg.Log, MaxRequestBodyBytes: maxBody,
		DisableLocalhostProtection: true, // it knows no other names than those of this machine; ours are checked already
	}
	legacy, modern := common, common
	legacy.SessionTimeout = sessionIdle
	modern.Stateless = true
	modern.PropagateRequestCancellation = true // else a wait would outlast who asked for it
	return &HTTP{
		server: s, heartbeat: heartbeat, posts: under,
		legacy: mcp.NewStreamableHTTPHandler(get, &legacy), modern: mcp.NewStreamableHTTPHandler(get, &modern),
	}
}

// ServeHTTP answers in the era that the client speaks: the revisions with a handshake have sessions, the others have not.
func (h *HTTP) ServeHTTP(plain http.ResponseWriter, r *http.Request) {
	w, done := keepAlive(plain, h.heartbeat)
	defer done()
	if r.Header.Get(headerVersion) >= stateless {
		h.modern.ServeHTTP(w, r)
		return
	}
	if r.Header.Get(headerSessionID) == "" && r.Method == http.MethodPost && !h.room() {
		http.Error(w, "too many sessions for this agent: end some with DELETE", http.StatusServiceUnavailable)
		return
	}
	if r.Method == http.MethodPost {
		defer h.posts.begin(r)()
	}
	h.legacy.ServeHTTP(w, r)
}

// room reports whether one more session may begin.
func (h *HTTP) room() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closed {
		return false
	}
	open := 0
	for range h.server.mcp.Sessions() {
		open++
	}
	return open < maxSessions
}

// Close ends all sessions, and with them what they watch. Requests under way end by themselves.
func (h *HTTP) Close() {
	h.mu.Lock()
	h.closed = true
	h.mu.Unlock()
	for session := range h.server.mcp.Sessions() {
		_ = session.Close() // one that has ended already is as good
	}
	h.server.stopWatching()
}
