// Package httpapi is the gateway's interface for programs that speak plain HTTP: sessions, their
// screens as text, JSON, ANSI or a picture, typing and waiting, a stream of events (server-sent
// events, HTML Living Standard 9.2), and metrics. Requests and answers are the messages of package
// protocol without their "type"; openapi.json beside this file describes them, and a test holds the
// server to it. The package handles neither tokens nor sessions: Authenticate identifies callers,
// and the switchboard behind the caller does the work.
package httpapi

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"context"
	_ "embed"
	"io"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"time"

	"terminalproxy/gateway/access/auth"
	"terminalproxy/gateway/metrics"
	"terminalproxy/protocol"
)

// Roles of callers, as Caller.Role returns them.
const (
	RoleAgent  = "agent"
	RoleViewer = "viewer"
	RoleOwner  = "owner"
)

// Caller is the sender of a request, as the gateway knows it. Its methods may be called from any
// goroutine.
type Caller interface {
	// Role returns one of the roles of this package.
	Role() string
	// NextID returns a request id that has not been used.
	NextID() string
	// Call sends a request and waits for its answer; it returns an error answer as a
	// *protocol.Error. It returns early, with another error, when ctx or the caller ends.
	Call(ctx context.Context, m protocol.Message) (protocol.Message, error)
	// Stream streams the events of one session; see package client.
	Stream(ctx context.Context, m *protocol.SessionsSubscribe) (<-chan protocol.Message, error)
	// Records returns the records of a conversation with higher numbers than after; lost is the
	// number of those that are no longer kept. It waits for the first one until ctx ends.
	Records(
		ctx context.Context, sessionID string, after uint64,
	) (records []protocol.ChatRecord, lost uint64, err error)
	// Ended is closed when the caller may make no further requests: the gateway closes, or the
	// token was revoked.
	Ended() <-chan struct{}
	// FinishRequest is called once, when the request is answered.
	FinishRequest()
}

// WrongRole is the message for a caller whose role is not among wanted.
func WrongRole(role string, wanted ...string) string {
	return "role " + role + " may not do that: use a token of role " + strings.Join(wanted, " or ")
}

// Config configures the API.
type Config struct {
	// Log gets failures; nil discards them.
	Log *slog.Logger
	// Authenticate finds the caller of a request; its *[auth.Refusal] goes to the caller. own means
	// that the request is for an owner, which every caller on the user's own socket may make.
	// Required.
	Authenticate func(r *http.Request, own bool) (Caller, error)
	// Draw writes a picture of a screen whose rows carry SGR sequences; format is "png" or "svg".
	// Without it the API draws no pictures.
	Draw func(w io.Writer, format string, s protocol.Screen) error
	// Stats returns the gateway's counts, for the metrics. Required.
	Stats func() []metrics.Family
	// Version is the product's, for the metrics.
	Version string
	// Heartbeat is the time between comments in an idle stream; 0 means 15 seconds. Local streams
	// have no comments: the kernel reports the end of a local reader.
	Heartbeat time.Duration
	// Local reports whether a request came over the user's own socket.
	Local func(*http.Request) bool
}

// API serves HTTP. It is an http.Handler for its paths, and rejects all others.
type API struct {
	cfg     Config
	log     *slog.Logger
	mux     *http.ServeMux
	metrics *metrics.Requests
	drawing chan struct{} // held while a picture is drawn
	routes  []route
}

// route is one path with one method.
type route struct {
	method, pattern string
	roles           []string // nil allows every caller, even without a token
	// run returns the answer, to be encoded as JSON, or nil if it has written one itself.
	run func(a *API, v Caller, w http.ResponseWriter, r *http.Request) (any, error)
}

var (
	everyRole  = []string{RoleAgent, RoleViewer, RoleOwner}
	agentsOnly = []string{RoleAgent}
	ownersOnly = []string{RoleOwner}
	writers    = []string{RoleAgent, RoleOwner}
)

// routes returns all paths, in the order of openapi.json.
func routes() []route {
	return []route{
		{http.MethodGet, "/v1/sessions", everyRole, (*API).listSessions},
		{http.MethodGet, "/v1/sessions/{id}", everyRole, (*API).readSession},
		{http.MethodGet, "/v1/sessions/{id}/screen", everyRole, (*API).readScreen},
		{http.MethodGet, "/v1/sessions/{id}/history", everyRole, (*API).readHistory},
		{http.MethodGet, "/v1/sessions/{id}/command", everyRole, (*API).readCommand},
		{http.MethodGet, "/v1/sessions/{id}/events", everyRole, (*API).streamEvents},
		{http.MethodGet, "/v1/sessions/{id}/chat", everyRole, (*API).readChat},
		{http.MethodPost, "/v1/sessions/{id}/chat/send", writers, (*API).chatSend},
		{http.MethodPost, "/v1/sessions/{id}/chat/answer", ownersOnly, (*API).chatAnswer},
		{http.MethodPost, "/v1/sessions/{id}/chat/interrupt", writers, (*API).chatInterrupt},
		{http.MethodPost, "/v1/sessions/{id}/input", agentsOnly, (*API).typeInput},
		{http.MethodPost, "/v1/sessions/{id}/wait", agentsOnly, (*API).waitForFact},
		{http.MethodPost, "/v1/sessions/{id}/control/request", agentsOnly, (*API).requestControl},
		{http.MethodPost, "/v1/sessions/{id}/control/release", agentsOnly, (*API).releaseControl},
		{http.MethodPost, "/v1/sessions/{id}/message", writers, (*API).sendMessage},
		{http.MethodPost, "/v1/sessions/{id}/control/grant", ownersOnly, (*API).grantControl},
		{http.MethodPost, "/v1/sessions/{id}/control/reclaim", ownersOnly, (*API).reclaimControl},
		{http.MethodPost, "/v1/sessions/{id}/control/hide", ownersOnly, (*API).hideSession},
		{http.MethodPost, "/v1/sessions/{id}/control/refuse", ownersOnly, (*API).refuseRequest},
		{http.MethodPost, "/v1/sessions/{id}/control/mute", ownersOnly, (*API).muteAgent},
		{http.MethodGet, "/metrics", everyRole, (*API).writeMetrics},
		{http.MethodGet, "/v1/openapi.json", nil, (*API).describeAPI},
	}
}

// New makes an API.
func New(cfg Config) *API {
	cfg.Log = cmp.Or(cfg.Log, slog.New(slog.DiscardHandler))
	cfg.Heartbeat = cmp.Or(cfg.Heartbeat, 15*time.Second)
	if cfg.Local == nil {
		cfg.Local = func(*http.Request) bool { return false }
	}
	a := &API{
		cfg: cfg, log: cfg.Log, mux: http.NewServeMux(), metrics: metrics.NewRequests(),
		drawing: make(chan struct{}, 1), routes: routes(),
	}
	allowed := make(map[string][]string)
	for _, rt := range a.routes {
		a.mux.HandleFunc(
			rt.method+" "+rt.pattern,
			func(w http.ResponseWriter, r *http.Request) { a.serveRoute(rt, w, r) },
		)
		allowed[rt.pattern] = append(allowed[rt.pattern], rt.method)
	}
	for pattern, methods := range allowed {
		a.mux.Handle(pattern, a.RejectMethods(methods...))
	}
	a.mux.HandleFunc("/", a.RejectPath)
	return a
}

// ServeHTTP answers one request.
func (a *API) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Cache-Control", "no-store") // screens are private
	w.Header().Set("X-Content-Type-Options", "nosniff")
	a.mux.ServeHTTP(w, r)
}

func (a *API) serveRoute(rt route, w http.ResponseWriter, r *http.Request) {
	began := time.Now()
	seen := &statusWriter{ResponseWriter: w}
	a.authorizeAndAnswer(rt, seen, r)
	a.metrics.RecordRequest(rt.method, rt.pattern, seen.writtenStatus(), time.Since(began))
}

func (a *API) authorizeAndAnswer(rt route, w http.ResponseWriter, r *http.Request) {
	if rt.roles == nil {
		a.answerRequest(rt, nil, w, r)
		return
	}
	own := slices.Equal(rt.roles, ownersOnly)
	v, err := a.cfg.Authenticate(r, own)
	if err != nil {
		a.writeError(w, r, err)
		return
	}
	defer v.FinishRequest()
	if isLocalOwner := own && a.cfg.Local(r); !isLocalOwner && !slices.Contains(rt.roles, v.Role()) {
		a.log.Info("refused", "route", r.Pattern, "role", v.Role(), "code", protocol.CodeForbidden)
		a.writeError(w, r, &auth.Refusal{
			Status: http.StatusForbidden,
			Code:   protocol.CodeForbidden,
			Say:    WrongRole(v.Role(), rt.roles...),
		})
		return
	}
	if id := r.PathValue("id"); id != "" && !protocol.ValidID(id) {
		a.writeError(w, r, badField("sessionId", "must be 1 to 128 characters of "+
			"A-Z a-z 0-9 . _ : -; GET /v1/sessions lists the sessions"))
		return
	}
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	a.answerRequest(rt, v, w, r.WithContext(ctx))
}

func (a *API) answerRequest(rt route, v Caller, w http.ResponseWriter, r *http.Request) {
	got, err := rt.run(a, v, w, r)
	switch {
	case err != nil:
		a.writeError(w, r, err)
	case got != nil:
		a.writeJSON(w, http.StatusOK, got)
	}
}

// RejectMethods returns a handler for a path that takes the given methods only; it answers all
// others.
func (a *API) RejectMethods(methods ...string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Allow", strings.Join(methods, ", "))
		a.writeError(w, r, &auth.Refusal{
			Status: http.StatusMethodNotAllowed,
			Code:   protocol.CodeBadMessage,
			Say: "this path takes " + strings.Join(methods, " and ") +
				"; GET /v1/openapi.json describes the paths",
		})
	})
}

// RejectPath answers a request for a path that is not served.
func (a *API) RejectPath(w http.ResponseWriter, r *http.Request) {
	a.writeError(w, r, &auth.Refusal{
		Status: http.StatusNotFound,
		Code:   protocol.CodeBadMessage,
		Say:    "unknown path: GET /v1/openapi.json lists the paths",
	})
}

// openAPI is openapi.json, compressed: every proxy carries it, and few serve it.
//
//go:embed openapi.json.gz
var openAPI []byte

func (a *API) describeAPI(_ Caller, w http.ResponseWriter, _ *http.Request) (any, error) {
	w.Header().Set("Content-Type", "application/json")
	text, err := gzip.NewReader(bytes.NewReader(openAPI))
	if err == nil {
		_, err = io.Copy(w, text)
	}
	return nil, err
}

// statusWriter records the status of the answer.
type statusWriter struct {
	http.ResponseWriter
	wrote int
}

// WriteHeader implements http.ResponseWriter.
func (s *statusWriter) WriteHeader(status int) {
	s.wrote = cmp.Or(s.wrote, status)
	s.ResponseWriter.WriteHeader(status)
}

// Unwrap is for http.ResponseController.
func (s *statusWriter) Unwrap() http.ResponseWriter { return s.ResponseWriter }

func (s *statusWriter) writtenStatus() int { return cmp.Or(s.wrote, http.StatusOK) }

// writeMetrics answers in the text format of Prometheus.
func (a *API) writeMetrics(_ Caller, w http.ResponseWriter, r *http.Request) (any, error) {
	if q := parseQuery(r); q.err != nil {
		return nil, q.err
	}
	var b bytes.Buffer
	a.metrics.Write(&b, a.cfg.Stats(), a.cfg.Version)
	w.Header().Set("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
	_, _ = w.Write(b.Bytes())
	return nil, nil
}
