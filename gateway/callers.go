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

	"terminalproxy/gateway/auth"
	"terminalproxy/gateway/client"
	"terminalproxy/gateway/httpapi"
	"terminalproxy/gateway/hub"
	"terminalproxy/protocol"
)

const (
	// callerIdle is how long who speaks plain HTTP may be silent before it counts as gone: control that it holds is given
	// back then, as it is when a connection ends.
	callerIdle = 10 * time.Minute
	maxCallers = 256
	// minKey is the shortest secret that makes an identity, in characters.
	minKey = 32
)

// Drawing draws a picture of a screen; see httpapi.Config.Draw.
type Drawing = func(w io.Writer, format string, s protocol.Screen) error

// MCPHandler speaks MCP over HTTP with the clients of one agent. Close ends what they have open; it does not wait for
// requests under way.
type MCPHandler interface {
	http.Handler
	Close()
}

// callers are the participants behind plain HTTP requests. One token is one participant, or one for each key that comes
// with it, over as many requests as it makes; it stays for a while after the last one. What comes over the local socket
// without a key is a participant for a single request, which therefore cannot hold control.
type callers struct {
	server  *Server
	idleFor time.Duration // callerIdle, less in tests

	mu     sync.Mutex
	closed bool
	byID   map[string]*caller
	idle   list.List // of *caller that have no request, the longest idle first
}

// caller is one of them.
type caller struct {
	*client.Client
	all     *callers
	id      string // "" for a single request
	seat    seat   // in the switchboard
	role    string
	lasting bool // there is more than this request

	// The following belong to callers.mu.
	requests int
	waits    *list.Element // in idle
	timer    *time.Timer
	mcp      MCPHandler // nil before the first MCP request
}

func newCallers(s *Server) *callers {
	return &callers{server: s, idleFor: callerIdle, byID: make(map[string]*caller)}
}

// authenticate finds who a request comes from. Over the user's own socket that is an agent, or for the acts of an owner a viewer
// of this machine, as for WebSockets.
func (c *callers) authenticate(r *http.Request, own bool) (*caller, error) {
	who := auth.Identity{Role: auth.RoleAgent}
	if own {
		who.Role = auth.RoleViewer
	}
	if !connectionOf(r).local() {
		var err error
		if who, err = c.server.identify(r); err != nil {
			return nil, err
		}
	}
	if r.URL.Path == "/metrics" && who.Namespace != "" {
		return nil, &auth.Refusal{Status: http.StatusForbidden, Code: protocol.CodeForbidden, Say: "metrics cover all namespaces: use a token without a namespace"}
	}
	if who.Role == auth.RoleProxy {
		return nil, &auth.Refusal{Status: http.StatusForbidden, Code: protocol.CodeForbidden, Say: "role proxy may use " + protocol.PathProxy + " only: use a token of role agent, viewer or owner"}
	}
	key := r.Header.Get(client.HeaderKey)
	if key != "" && len(key) < minKey {
		return nil, &auth.Refusal{Status: http.StatusBadRequest, Code: protocol.CodeBadMessage, Say: "the header " + client.HeaderKey + " is too short: it must be a secret of at least 32 characters"}
	}
	return c.take(who, connectionOf(r).local(), r.Header, key)
}

// take gives the participant of an identity, which it makes if need be, for one request.
func (c *callers) take(who auth.Identity, local bool, header http.Header, key string) (*caller, error) {
	member := memberOf(who, header)
	member.Local = local
	id := ""
	if who.TokenID != "" || key != "" {
		id = string(who.Role) + "\x00" + who.TokenID + "\x00" + key
	}
	if id != "" && member.ID == "" && who.Role == auth.RoleAgent {
		member.ID = "a-" + digest("http\x00"+who.TokenID, 12)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return nil, &auth.Refusal{Status: http.StatusServiceUnavailable, Code: protocol.CodeUnavailable, Say: hub.ErrClosed.Error()}
	}
	known := c.byID[id]
	if known != nil && !known.over() {
		known.enter()
		return known, nil
	}
	if known != nil {
		c.forget(known)
		if known.requests == 0 {
			go known.close() // it has ended already, there is next to nothing to wait for
		}
	}
	if err := c.makeRoom(); err != nil {
		return nil, err
	}
	fresh := &caller{all: c, id: id, role: string(who.Role), lasting: id != ""}
	fresh.Client = client.NewInProcess(c.joiner(fresh, member, who))
	if id != "" {
		c.byID[id] = fresh
	}
	fresh.enter()
	return fresh, nil
}

// joiner makes participants: the first stands for the caller, its end is the end of the agent. Those after it only
// listen.
func (c *callers) joiner(fresh *caller, member hub.Member, who auth.Identity) func() client.Peer {
	var joined atomic.Bool
	return func() client.Peer {
		m := member
		first := !joined.Swap(true)
		m.Lasting = m.Lasting || !first
		p := c.server.join(m, who)
		if first {
			fresh.seat = p
		}
		return p
	}
}

// makeRoom bounds the callers: the one that has been silent the longest goes.
func (c *callers) makeRoom() error {
	if len(c.byID) < maxCallers {
		return nil
	}
	first := c.idle.Front()
	if first == nil {
		return &auth.Refusal{Status: http.StatusServiceUnavailable, Code: protocol.CodeBusy, Say: "too many callers: try again later"}
	}
	oldest, _ := first.Value.(*caller)
	c.forget(oldest)
	go oldest.close() // it waits for the participant's end, and nobody waits for it: Close of the hub ends it, too
	return nil
}

// forget takes a caller out of the books. The caller closes it.
func (c *callers) forget(gone *caller) {
	gone.leaveIdle()
	if c.byID[gone.id] == gone {
		delete(c.byID, gone.id)
	}
}

func (p *caller) enter() {
	p.requests++
	p.leaveIdle()
	p.seat.Work()
}

// seat is a participant that can say whether it has anything under way.
type seat interface {
	Work()
	Rest()
}

func (p *caller) leaveIdle() {
	if p.waits != nil {
		p.all.idle.Remove(p.waits)
		p.waits = nil
		p.timer.Stop()
	}
}

// over reports whether the participant was ended by the switchboard.
func (p *caller) over() bool {
	select {
	case <-p.Ended():
		return true
	default:
		return false
	}
}

// Role implements httpapi.Caller.
func (p *caller) Role() string { return p.role }

// Call implements httpapi.Caller: the end of the participant is an answer for who asks.
func (p *caller) Call(ctx context.Context, m protocol.Message) (protocol.Message, error) {
	answer, err := p.Client.Call(ctx, m)
	switch {
	case errors.Is(err, errRevoked):
		err = &protocol.Error{Code: protocol.CodeUnauthorized, Message: err.Error()}
	case errors.Is(err, errTokenFile):
		err = &protocol.Error{Code: protocol.CodeUnavailable, Message: err.Error()}
	case errors.Is(err, hub.ErrClosed), errors.Is(err, client.ErrClosed), errors.Is(err, hub.ErrSlow):
		say := err.Error() + ": try again"
		if _, types := m.(*protocol.Input); types {
			say = err.Error() + "; whether this was typed is not known: try again with the same requestId, which types nothing twice"
		}
		err = &protocol.Error{Code: protocol.CodeUnavailable, Message: say}
	}
	return answer, err
}

// Done ends one request of the caller.
func (p *caller) Done() {
	p.all.mu.Lock()
	p.requests--
	last := p.requests == 0
	keep := p.lasting && !p.all.closed && p.all.byID[p.id] == p
	if last && keep {
		p.seat.Rest()
		p.waits = p.all.idle.PushBack(p)
		p.timer = time.AfterFunc(p.all.idleFor, p.expire)
	}
	p.all.mu.Unlock()
	if last && !keep {
		p.close()
	}
}

func (p *caller) expire() {
	p.all.mu.Lock()
	silent := p.requests == 0 && p.waits != nil
	if silent {
		p.all.forget(p)
	}
	p.all.mu.Unlock()
	if silent {
		p.close()
	}
}

// close ends the participant, and what its MCP clients have open.
func (p *caller) close() {
	p.all.mu.Lock()
	handler := p.mcp
	p.all.mu.Unlock()
	_ = p.Close()
	if handler != nil {
		handler.Close()
	}
}

// close ends all callers. Requests under way end by themselves.
func (c *callers) close() {
	c.mu.Lock()
	c.closed = true
	all := make([]*caller, 0, len(c.byID))
	for _, p := range c.byID {
		p.leaveIdle()
		all = append(all, p)
	}
	clear(c.byID)
	c.mu.Unlock()
	for _, p := range all {
		p.close()
	}
}

// serveMCP answers at /mcp. The sessions of the protocol's older revisions are known to their own agent only.
func (c *callers) serveMCP(w http.ResponseWriter, r *http.Request) {
	p, err := c.authenticateAgent(r)
	if err != nil {
		auth.Refuse(w, err, "the gateway could not check this request")
		return
	}
	defer p.Done()
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	done := make(chan struct{})
	go func() { // ends with the request, or ends it when the agent may no longer be here
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

// authenticateAgent is authenticate for MCP, which is for agents that can be known again.
func (c *callers) authenticateAgent(r *http.Request) (*caller, error) {
	p, err := c.authenticate(r, false)
	switch {
	case err != nil:
		return nil, err
	case p.role != string(auth.RoleAgent):
		p.Done()
		return nil, &auth.Refusal{Status: http.StatusForbidden, Say: httpapi.WrongRole(p.role, httpapi.RoleAgent)}
	case !p.lasting:
		p.Done()
		return nil, &auth.Refusal{Status: http.StatusBadRequest, Say: "no identity: send the header " + client.HeaderKey + " with a secret of at least 32 characters, the same in every request; or have the client start: gateway mcp"}
	}
	return p, nil
}

// mcpHandler is the caller's own MCP server, made at its first request.
func (p *caller) mcpHandler() MCPHandler {
	p.all.mu.Lock()
	defer p.all.mu.Unlock()
	if p.mcp == nil {
		p.mcp = p.all.server.cfg.MCP(p.Client)
	}
	return p.mcp
}
