package gateway

import (
	"container/list"
	"context"
	"errors"
	"io"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"terminalproxy/gateway/access/auth"
	"terminalproxy/gateway/client"
	"terminalproxy/gateway/doors/httpapi"
	"terminalproxy/gateway/hub"
	"terminalproxy/protocol"
)

const (
	// callerIdle is how long a caller over plain HTTP may be silent before it counts as gone. Its
	// control then ends, as at the end of a connection.
	callerIdle = 10 * time.Minute
	maxCallers = 256
	// minKey is the shortest secret that makes an identity, in characters.
	minKey = 32
)

// Drawing draws a picture of a screen; see httpapi.Config.Draw.
type Drawing = func(w io.Writer, format string, s protocol.Screen) error

// MCPHandler serves MCP over HTTP to the clients of one agent. Close ends what they have open and
// does not wait for open requests.
type MCPHandler interface {
	http.Handler
	Close()
}

// callers holds the participants behind plain HTTP requests. A token has one participant, or one
// for each key that its requests carry. It serves many requests and stays for a while after the
// last one. A request over the local socket without a key has a participant of its own, which
// therefore cannot hold control.
type callers struct {
	server  *Server
	idleFor time.Duration // callerIdle, less in tests

	mu     sync.Mutex
	closed bool
	byID   map[string]*caller
	idle   list.List // of *caller that have no request, the longest idle first
}

// caller is a participant behind HTTP requests.
type caller struct {
	*client.Client
	all     *callers
	id      string // "" for a single request
	seat    seat   // in the switchboard
	role    string
	lasting bool // it serves more than one request

	// The following are guarded by callers.mu.
	requests  int
	idleEntry *list.Element // in idle
	timer     *time.Timer
	mcp       MCPHandler // nil before the first MCP request
}

func newCallers(s *Server) *callers {
	return &callers{server: s, idleFor: callerIdle, byID: make(map[string]*caller)}
}

// authenticateRequest returns the caller of a request. Over the user's own socket it is an agent,
// or with own a local viewer, as for WebSockets.
func (c *callers) authenticateRequest(r *http.Request, own bool) (*caller, error) {
	identity := auth.Identity{Role: auth.RoleAgent}
	if own {
		identity.Role = auth.RoleViewer
	}
	if !connectionOf(r).isLocal() {
		var err error
		if identity, err = c.server.identifyCaller(r); err != nil {
			return nil, err
		}
	}
	if r.URL.Path == "/metrics" && identity.Namespace != "" {
		return nil, &auth.Refusal{
			Status: http.StatusForbidden,
			Code:   protocol.CodeForbidden,
			Say:    "metrics cover all namespaces: use a token without a namespace",
		}
	}
	if identity.Role == auth.RoleProxy {
		return nil, &auth.Refusal{
			Status: http.StatusForbidden,
			Code:   protocol.CodeForbidden,
			Say: "role proxy may use " + protocol.PathProxy +
				" only: use a token of role agent, viewer or owner",
		}
	}
	key := r.Header.Get(client.HeaderKey)
	if key != "" && len(key) < minKey {
		return nil, &auth.Refusal{
			Status: http.StatusBadRequest,
			Code:   protocol.CodeBadMessage,
			Say: "the header " + client.HeaderKey + " is too short: it must be a secret of at " +
				"least 32 characters",
		}
	}
	return c.callerFor(identity, connectionOf(r).isLocal(), r.Header, key)
}

// callerFor returns the participant of an identity for one request, and creates it if needed.
func (c *callers) callerFor(
	identity auth.Identity, local bool, header http.Header, key string,
) (*caller, error) {
	id := callerID(identity, key)
	member := memberOf(identity, header)
	member.Local = local
	if id != "" && member.ID == "" && identity.Role == auth.RoleAgent {
		member.ID = "a-" + digest("http\x00"+identity.TokenID, 12)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return nil, &auth.Refusal{
			Status: http.StatusServiceUnavailable,
			Code:   protocol.CodeUnavailable,
			Say:    hub.ErrClosed.Error(),
		}
	}
	if known := c.findLocked(id); known != nil {
		known.beginRequestLocked()
		return known, nil
	}
	if err := c.makeRoomLocked(); err != nil {
		return nil, err
	}
	fresh := &caller{all: c, id: id, role: string(identity.Role), lasting: id != ""}
	fresh.Client = client.NewInProcess(c.joinFunc(fresh, member, identity))
	if id != "" {
		c.byID[id] = fresh
	}
	fresh.beginRequestLocked()
	return fresh, nil
}

// findLocked returns the caller with an id, or nil. It removes one that has ended.
func (c *callers) findLocked(id string) *caller {
	known := c.byID[id]
	if known == nil || !known.hasEnded() {
		return known
	}
	c.forgetLocked(known)
	if known.requests == 0 {
		go known.close() // it has ended already, so this ends soon
	}
	return nil
}

// callerID returns the id that the requests of one caller share, or "".
func callerID(identity auth.Identity, key string) string {
	if identity.TokenID == "" && key == "" {
		return ""
	}
	return string(identity.Role) + "\x00" + identity.TokenID + "\x00" + key
}

// joinFunc returns a function that adds participants. The first one stands for the caller, and its
// end is the end of the agent. Later ones only listen.
func (c *callers) joinFunc(
	fresh *caller, member hub.Member, identity auth.Identity,
) func() client.Peer {
	var joined atomic.Bool
	return func() client.Peer {
		m := member
		first := !joined.Swap(true)
		m.Lasting = m.Lasting || !first
		p := c.server.joinHub(m, identity)
		if first {
			fresh.seat = p
		}
		return p
	}
}

// makeRoomLocked bounds the callers: it ends the one that has been silent the longest.
func (c *callers) makeRoomLocked() error {
	if len(c.byID) < maxCallers {
		return nil
	}
	first := c.idle.Front()
	if first == nil {
		return &auth.Refusal{
			Status: http.StatusServiceUnavailable,
			Code:   protocol.CodeBusy,
			Say:    "too many callers: try again later",
		}
	}
	oldest, _ := first.Value.(*caller)
	c.forgetLocked(oldest)
	go oldest.close() // ends with the participant, or with the hub
	return nil
}

// forgetLocked removes a caller, which must then be closed.
func (c *callers) forgetLocked(gone *caller) {
	gone.leaveIdleLocked()
	if c.byID[gone.id] == gone {
		delete(c.byID, gone.id)
	}
}

func (p *caller) beginRequestLocked() {
	p.requests++
	p.leaveIdleLocked()
	p.seat.MarkBusy()
}

// seat is a participant of the hub that can be marked busy or idle.
type seat interface {
	MarkBusy()
	MarkIdle()
}

func (p *caller) leaveIdleLocked() {
	if p.idleEntry != nil {
		p.all.idle.Remove(p.idleEntry)
		p.idleEntry = nil
		p.timer.Stop()
	}
}

// hasEnded reports whether the switchboard has ended the participant.
func (p *caller) hasEnded() bool {
	select {
	case <-p.Ended():
		return true
	default:
		return false
	}
}

// Role implements httpapi.Caller.
func (p *caller) Role() string { return p.role }

// Call implements httpapi.Caller. The end of the participant becomes an answer to the request.
func (p *caller) Call(ctx context.Context, m protocol.Message) (protocol.Message, error) {
	answer, err := p.Client.Call(ctx, m)
	switch {
	case errors.Is(err, errRevoked):
		err = &protocol.Error{Code: protocol.CodeUnauthorized, Message: err.Error()}
	case errors.Is(err, errTokenFile):
		err = &protocol.Error{Code: protocol.CodeUnavailable, Message: err.Error()}
	case errors.Is(err, hub.ErrClosed), errors.Is(err, client.ErrClosed),
		errors.Is(err, hub.ErrSlow):
		message := err.Error() + ": try again"
		if _, types := m.(*protocol.Input); types {
			message = err.Error() + "; it is unknown whether this was typed: try again with the " +
				"same requestId, which types nothing twice"
		}
		err = &protocol.Error{Code: protocol.CodeUnavailable, Message: message}
	}
	return answer, err
}

// hold keeps the caller as an open request does.
func (p *caller) hold() (release func()) {
	p.all.mu.Lock()
	defer p.all.mu.Unlock()
	p.beginRequestLocked()
	return p.FinishRequest
}

// FinishRequest ends one request of the caller.
func (p *caller) FinishRequest() {
	p.all.mu.Lock()
	p.requests--
	last := p.requests == 0
	keep := p.lasting && !p.all.closed && p.all.byID[p.id] == p
	if last && keep {
		p.seat.MarkIdle()
		p.idleEntry = p.all.idle.PushBack(p)
		p.timer = time.AfterFunc(p.all.idleFor, p.closeIfIdle)
	}
	p.all.mu.Unlock()
	if last && !keep {
		p.close()
	}
}

func (p *caller) closeIfIdle() {
	p.all.mu.Lock()
	silent := p.requests == 0 && p.idleEntry != nil
	if silent {
		p.all.forgetLocked(p)
	}
	p.all.mu.Unlock()
	if silent {
		p.close()
	}
}

// close ends the participant and what its MCP clients have open.
func (p *caller) close() {
	p.all.mu.Lock()
	handler := p.mcp
	p.all.mu.Unlock()
	_ = p.Close()
	if handler != nil {
		handler.Close()
	}
}

// close ends all callers. Open requests end by themselves.
func (c *callers) close() {
	c.mu.Lock()
	c.closed = true
	all := make([]*caller, 0, len(c.byID))
	for _, p := range c.byID {
		p.leaveIdleLocked()
		all = append(all, p)
	}
	clear(c.byID)
	c.mu.Unlock()
	for _, p := range all {
		p.close()
	}
}

// serveMCP answers at /mcp. Sessions of the protocol's older revisions are visible to their own
// agent only.
func (c *callers) serveMCP(w http.ResponseWriter, r *http.Request) {
	p, err := c.authenticateAgent(r)
	if err != nil {
		auth.WriteRefusal(w, err, "the gateway could not check this request")
		return
	}
	defer p.FinishRequest()
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	done := make(chan struct{})
	go func() { // ends with the request, or ends the request when the agent is no longer admitted
		defer close(done)
		select {
		case <-p.Ended():
			cancel()
		case <-ctx.Done():
		}
	}()
	defer func() { cancel(); <-done }()
	p.mcpHandler().ServeHTTP(w, r.WithContext(ctx))
}

// authenticateAgent authenticates an agent for MCP. The agent must be recognisable in later
// requests.
func (c *callers) authenticateAgent(r *http.Request) (*caller, error) {
	p, err := c.authenticateRequest(r, false)
	switch {
	case err != nil:
		return nil, err
	case p.role != string(auth.RoleAgent):
		p.FinishRequest()
		return nil, &auth.Refusal{
			Status: http.StatusForbidden,
			Say:    httpapi.WrongRole(p.role, httpapi.RoleAgent),
		}
	case !p.lasting:
		p.FinishRequest()
		return nil, &auth.Refusal{
			Status: http.StatusBadRequest,
			Say: "no identity: send the header " + client.HeaderKey +
				" with a secret of at least 32 characters, the same in every request; or let " +
				"the client start: gateway mcp",
		}
	}
	return p, nil
}

// mcpHandler returns the caller's own MCP server, made at its first request.
func (p *caller) mcpHandler() MCPHandler {
	p.all.mu.Lock()
	defer p.all.mu.Unlock()
	if p.mcp == nil {
		p.mcp = p.all.server.cfg.MCP(p.Client, p.hold)
	}
	return p.mcp
}
