package gateway

import (
	"container/list"
	"context"
	"crypto/sha256"
	"encoding/base32"
	"errors"
	"io"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"terminalproxy/gateway/auth"
	"terminalproxy/gateway/client"
	"terminalproxy/gateway/httpapi"
	"terminalproxy/gateway/hub"
	"terminalproxy/gateway/ws"
	"terminalproxy/protocol"
)

const (
	// visitorIdle is how long who speaks plain HTTP may be silent before it counts as gone: control that it holds is given
	// back then, as it is when a connection ends.
	visitorIdle = 10 * time.Minute
	maxVisitors = 256
	// minKey is the shortest secret that makes an identity, in characters.
	minKey = 32
)

// Drawing draws a picture of a screen; see httpapi.Config.Draw.
type Drawing = func(w io.Writer, format string, s protocol.Screen) error

// MCPDoor speaks MCP over HTTP with the clients of one agent. Close ends what they have open; it does not wait for
// requests under way.
type MCPDoor interface {
	http.Handler
	Close()
}

// visitors are the participants behind plain HTTP requests. One token is one participant, or one for each key that comes
// with it, over as many requests as it makes; it stays for a while after the last one. What comes over the local socket
// without a key is a participant for a single request, which therefore cannot hold control.
type visitors struct {
	server  *Server
	idleFor time.Duration // visitorIdle, less in tests

	mu     sync.Mutex
	closed bool
	byID   map[string]*visitor
	idle   list.List // of *visitor that have no request, the longest idle first
}

// visitor is one of them.
type visitor struct {
	*client.Client
	all     *visitors
	id      string // "" for a single request
	seat    seat   // in the switchboard
	role    string
	lasting bool // there is more than this request

	// The following belong to visitors.mu.
	requests int
	waits    *list.Element // in idle
	timer    *time.Timer
	mcp      MCPDoor // nil before the first MCP request
}

func newVisitors(s *Server) *visitors {
	return &visitors{server: s, idleFor: visitorIdle, byID: make(map[string]*visitor)}
}

// admit finds who a request comes from. Over the user's own socket that is an agent, or for the acts of an owner a viewer
// of this machine, as at the doors for WebSockets.
func (v *visitors) admit(r *http.Request, own bool) (*visitor, error) {
	who := auth.Identity{Role: auth.RoleAgent}
	if own {
		who.Role = auth.RoleViewer
	}
	if !overSocket(r) {
		var err error
		if who, err = v.server.identify(r); err != nil {
			return nil, refusalOf(err)
		}
	}
	if r.URL.Path == "/metrics" && who.Namespace != "" {
		return nil, &httpapi.Refusal{Status: http.StatusForbidden, Code: protocol.CodeForbidden, Say: "the metrics count the sessions of all namespaces: use a token of none"}
	}
	if who.Role == auth.RoleProxy {
		return nil, &httpapi.Refusal{Status: http.StatusForbidden, Code: protocol.CodeForbidden, Say: "a proxy's token only opens " + protocol.PathProxy + ": use a token of role agent, viewer or owner"}
	}
	key := r.Header.Get(client.HeaderKey)
	if key != "" && len(key) < minKey {
		return nil, &httpapi.Refusal{Status: http.StatusBadRequest, Code: protocol.CodeBadMessage, Say: "the header " + client.HeaderKey + " is too short: it must be a secret of at least 32 characters"}
	}
	admitted(r)
	return v.take(who, overSocket(r), r.Header, key)
}

// take gives the participant of an identity, which it makes if need be, for one request.
func (v *visitors) take(who auth.Identity, local bool, header http.Header, key string) (*visitor, error) {
	member := memberOf(who, header)
	member.Local = local
	id := ""
	if who.TokenID != "" || key != "" {
		id = string(who.Role) + "\x00" + who.TokenID + "\x00" + key
	}
	if id != "" && member.ID == "" && who.Role == auth.RoleAgent {
		sum := sha256.Sum256([]byte("http\x00" + who.TokenID))
		member.ID = "a-" + strings.ToLower(base32.StdEncoding.EncodeToString(sum[:])[:12])
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.closed {
		return nil, &httpapi.Refusal{Status: http.StatusServiceUnavailable, Code: protocol.CodeUnavailable, Say: "the gateway is closing"}
	}
	known := v.byID[id]
	if known != nil && !known.over() {
		known.enter()
		return known, nil
	}
	if known != nil {
		v.forget(known)
		if known.requests == 0 {
			go known.close() // it has ended already, there is next to nothing to wait for
		}
	}
	if err := v.makeRoom(); err != nil {
		return nil, err
	}
	fresh := &visitor{all: v, id: id, role: string(who.Role), lasting: id != ""}
	fresh.Client = client.NewInProcess(v.joiner(fresh, member, who))
	if id != "" {
		v.byID[id] = fresh
	}
	fresh.enter()
	return fresh, nil
}

// joiner makes participants: the first stands for the visitor, its end is the end of the agent. Those after it only
// listen.
func (v *visitors) joiner(fresh *visitor, member hub.Member, who auth.Identity) func() client.Peer {
	var joined atomic.Bool
	return func() client.Peer {
		m := member
		first := !joined.Swap(true)
		m.Lasting = m.Lasting || !first
		p := v.server.join(m, who)
		if first {
			fresh.seat = p
		}
		return p
	}
}

// makeRoom bounds the visitors: the one that has been silent the longest goes.
func (v *visitors) makeRoom() error {
	if len(v.byID) < maxVisitors {
		return nil
	}
	first := v.idle.Front()
	if first == nil {
		return &httpapi.Refusal{Status: http.StatusServiceUnavailable, Code: protocol.CodeBusy, Say: "too many others are asking: try again later"}
	}
	oldest, _ := first.Value.(*visitor)
	v.forget(oldest)
	go oldest.close() // it waits for the participant's end, and nobody waits for it: Close of the hub ends it, too
	return nil
}

// forget takes a visitor out of the books. The caller closes it.
func (v *visitors) forget(gone *visitor) {
	gone.leaveIdle()
	if v.byID[gone.id] == gone {
		delete(v.byID, gone.id)
	}
}

func (p *visitor) enter() {
	p.requests++
	p.leaveIdle()
	p.seat.Work()
}

// seat is a participant that can say whether it has anything under way.
type seat interface {
	Work()
	Rest()
}

func (p *visitor) leaveIdle() {
	if p.waits != nil {
		p.all.idle.Remove(p.waits)
		p.waits = nil
		p.timer.Stop()
	}
}

// over reports whether the participant was ended by the switchboard.
func (p *visitor) over() bool {
	select {
	case <-p.Ended():
		return true
	default:
		return false
	}
}

// Role implements httpapi.Visitor.
func (p *visitor) Role() string { return p.role }

// Call implements httpapi.Visitor: the end of the participant is an answer for who asks.
func (p *visitor) Call(ctx context.Context, m protocol.Message) (protocol.Message, error) {
	answer, err := p.Client.Call(ctx, m)
	switch {
	case errors.Is(err, errRevoked):
		err = &protocol.Error{Code: protocol.CodeUnauthorized, Message: err.Error()}
	case errors.Is(err, hub.ErrClosed), errors.Is(err, client.ErrClosed), errors.Is(err, hub.ErrSlow):
		err = &protocol.Error{Code: protocol.CodeUnavailable, Message: err.Error() + ": try again"}
	}
	return answer, err
}

// Done ends one request of the visitor.
func (p *visitor) Done() {
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

func (p *visitor) expire() {
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
func (p *visitor) close() {
	p.all.mu.Lock()
	door := p.mcp
	p.all.mu.Unlock()
	_ = p.Close()
	if door != nil {
		door.Close()
	}
}

// close ends all visitors. Requests under way end by themselves.
func (v *visitors) close() {
	v.mu.Lock()
	v.closed = true
	all := make([]*visitor, 0, len(v.byID))
	for _, p := range v.byID {
		p.leaveIdle()
		all = append(all, p)
	}
	clear(v.byID)
	v.mu.Unlock()
	for _, p := range all {
		p.close()
	}
}

// serveMCP answers at /mcp. The sessions of the protocol's older revisions are known to their own agent only.
func (v *visitors) serveMCP(w http.ResponseWriter, r *http.Request) {
	p, err := v.admitAgent(r)
	if err != nil {
		refusal, ok := errors.AsType[*httpapi.Refusal](err)
		if !ok {
			refusal = &httpapi.Refusal{Status: http.StatusInternalServerError, Say: "the gateway could not decide about this request"}
		}
		refuse(w, refusal)
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
	p.mcpDoor().ServeHTTP(w, r.WithContext(ctx))
}

func refuse(w http.ResponseWriter, refusal *httpapi.Refusal) {
	if refusal.Status == http.StatusUnauthorized {
		w.Header().Set("WWW-Authenticate", "Bearer")
	}
	http.Error(w, refusal.Say, refusal.Status)
}

// admitAgent is admit for MCP, which is for agents that can be known again.
func (v *visitors) admitAgent(r *http.Request) (*visitor, error) {
	p, err := v.admit(r, false)
	switch {
	case err != nil:
		return nil, err
	case p.role != string(auth.RoleAgent):
		p.Done()
		return nil, &httpapi.Refusal{Status: http.StatusForbidden, Say: "a " + p.role + "'s token may not do that: use a token of role agent"}
	case !p.lasting:
		p.Done()
		return nil, &httpapi.Refusal{Status: http.StatusBadRequest, Say: "who is asking? Send the header " + client.HeaderKey + " with a secret of at least 32 characters, the same in every request; or let the client start: gateway mcp"}
	}
	return p, nil
}

// mcpDoor is the visitor's own MCP server, made at its first request.
func (p *visitor) mcpDoor() MCPDoor {
	p.all.mu.Lock()
	defer p.all.mu.Unlock()
	if p.mcp == nil {
		p.mcp = p.all.server.cfg.MCP(p.Client)
	}
	return p.mcp
}

// overSocket reports whether a request came over the user's own socket.
func overSocket(r *http.Request) bool {
	return localOf(r) != nil
}

// refusalOf is a refusal of the WebSocket door in the words of HTTP.
func refusalOf(err error) error {
	refusal, ok := errors.AsType[*ws.Refusal](err)
	if !ok {
		return err
	}
	code := protocol.CodeUnavailable
	if refusal.Status == http.StatusUnauthorized {
		code = protocol.CodeUnauthorized
	}
	return &httpapi.Refusal{Status: refusal.Status, Code: code, Say: refusal.Say}
}
