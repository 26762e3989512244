package mcp

import (
	"net/http"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

const (
	// sessionIdle ends an unused session of the older revisions: clients need not say goodbye.
	sessionIdle = 10 * time.Minute
	maxSessions = 64
	maxBody     = 256 << 10
	// stateless is the first revision without sessions.
	stateless       = "2026-07-28"
	headerVersion   = "Mcp-Protocol-Version"
	headerSessionID = "Mcp-Session-Id"
)

// HTTP is a server behind streamable HTTP, for the clients of one agent: their identity, Host and
// Origin were checked before. It is an http.Handler for a single path.
type HTTP struct {
	server         *Server
	legacy, modern http.Handler
	heartbeat      time.Duration // less in tests
	posts          *posts

	mu     sync.Mutex
	closed bool
	uses   map[string]*use // by id, of the sessions that were used
}

// use counts a session's requests.
type use struct {
	last time.Time // when one began or ended
	open int       // how many are under way, a stream of events among them
}

// NewHTTP makes a server like [New], for HTTP.
func NewHTTP(cfg Config) *HTTP {
	s := New(cfg)
	open := new(posts)
	s.mcp.AddReceivingMiddleware(open.cancelWithRequest)
	get := func(*http.Request) *mcp.Server { return s.mcp }
	common := mcp.StreamableHTTPOptions{
		Logger: s.cfg.Log, MaxRequestBodyBytes: maxBody,
		// it accepts only this machine's names; the gateway has checked its own
		DisableLocalhostProtection: true,
	}
	legacy, modern := common, common
	legacy.SessionTimeout = sessionIdle
	modern.Stateless = true
	modern.PropagateRequestCancellation = true // else a wait would outlive its request
	return &HTTP{
		server:    s,
		heartbeat: heartbeat,
		posts:     open,
		uses:      make(map[string]*use),
		legacy:    mcp.NewStreamableHTTPHandler(get, &legacy),
		modern:    mcp.NewStreamableHTTPHandler(get, &modern),
	}
}

// ServeHTTP serves the revisions with a handshake, which have sessions, and the stateless one.
func (h *HTTP) ServeHTTP(plain http.ResponseWriter, r *http.Request) {
	w, done := keepAlive(plain, h.heartbeat)
	defer done()
	if r.Header.Get(headerVersion) >= stateless {
		h.modern.ServeHTTP(w, r)
		return
	}
	id := r.Header.Get(headerSessionID)
	if id == "" && r.Method == http.MethodPost && !h.makeRoom() {
		http.Error(w, "too many sessions for this agent: end some with "+
			"DELETE", http.StatusServiceUnavailable)
		return
	}
	if r.Method == http.MethodPost {
		defer h.posts.nameRequest(r)()
	}
	h.noteUse(id, 1)
	h.legacy.ServeHTTP(w, r)
	h.noteUse(id, -1)
	if id == "" {
		h.noteUse(w.Header().Get(headerSessionID), 0) // the new one
	}
}

// noteUse notes that a request of a session begins, 1, or ends, -1.
func (h *HTTP) noteUse(id string, change int) {
	if id == "" {
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	u := h.uses[id]
	if u == nil && change >= 0 && h.isSession(id) {
		u = &use{}
		h.uses[id] = u
	}
	if u == nil {
		return
	}
	u.last = h.server.cfg.Now()
	u.open += change
}

// isSession reports whether a client's id names a session.
func (h *HTTP) isSession(id string) bool {
	for session := range h.server.mcp.Sessions() {
		if session.ID() == id {
			return true
		}
	}
	return false
}

// makeRoom reports whether one more session may begin. Many clients never say goodbye, so the
// session that was idle longest ends for the new one.
func (h *HTTP) makeRoom() bool {
	oldest, full := h.oldestIdle()
	switch {
	case !full:
		return true
	case oldest == nil:
		return false
	}
	_ = oldest.Close() // it may have ended already
	return true
}

// oldestIdle returns the session that has been idle longest, nil if all are in use, and whether the
// number of sessions is at its limit.
func (h *HTTP) oldestIdle() (oldest *mcp.ServerSession, full bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closed {
		return nil, true
	}
	uses, since, open := make(map[string]*use), time.Time{}, 0
	for session := range h.server.mcp.Sessions() {
		open++
		u := h.uses[session.ID()]
		if u == nil {
			continue // it is about to begin
		}
		uses[session.ID()] = u
		if u.open == 0 && (oldest == nil || u.last.Before(since)) {
			oldest, since = session, u.last
		}
	}
	h.uses = uses // without those that have ended
	return oldest, open >= maxSessions
}

// Close ends all sessions and tasks. Open requests end by themselves.
func (h *HTTP) Close() {
	h.mu.Lock()
	h.closed = true
	h.mu.Unlock()
	for session := range h.server.mcp.Sessions() {
		_ = session.Close() // it may have ended already
	}
	h.server.tasks.cancelAll()
}
