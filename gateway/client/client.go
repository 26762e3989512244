// Package client is an agent's connection to a gateway: for the command line, for the MCP server, and for whoever
// writes an agent in Go. It connects at the first call, connects again when the gateway goes away or another process
// takes its place, and repeats what may be repeated. It knows WebSocket and the messages of package protocol, and
// nothing of the gateway's inside.
package client

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"terminalproxy/protocol"
)

// Headers of the handshake that say who the agent is.
const (
	// HeaderKey carries the secret of a lasting identity: whoever shows it again is the same agent.
	HeaderKey = "Terminal-Agent-Key"
	// HeaderName carries the name that the user reads, unless the gateway knows a better one from the token.
	HeaderName = "Terminal-Agent-Name"
	// HeaderPassing, with any value, says that the identity of HeaderKey is not lasting: the same secret is the same agent,
	// but control ends with its last connection.
	HeaderPassing = "Terminal-Agent-Passing"
)

// Config says how to reach a gateway, and as whom.
type Config struct {
	// Dial makes the connection under the WebSocket: a Unix socket, TCP, or TLS already shaken hands.
	Dial func(context.Context) (net.Conn, error)
	// URL is the ws: or wss: URL of the gateway's agent door, for the handshake.
	URL string
	// ViewURL, where there is one, is that of the viewers' door: it is dialled when the token does not open the agents'.
	// What viewers may not do is refused by the gateway then.
	ViewURL string
	// Header is sent with the handshake: Authorization, where the gateway wants it.
	Header http.Header
	// Name is what the user reads when the agent asks for control. Line breaks and the like are no part of it.
	Name string
	// Key makes the identity last: after a reconnection the gateway gives the same agent id, and control is not given
	// up because a connection ended. Without it every connection is an agent of its own.
	Key string
	// Passing: the identity of Key does not last beyond its connections. It is the same agent after a reconnection, but
	// control is given up when a connection ends.
	Passing bool
	// Log gets what is not an error of any call; nil is silence.
	Log *slog.Logger
}

// Client is an agent's connection. All methods may be called from any goroutine. A context without a deadline waits
// as long as the gateway does: it answers every request, at the latest 10 seconds after the request's own time limit.
type Client struct {
	cfg    Config
	ctx    context.Context
	stop   context.CancelFunc
	wg     sync.WaitGroup // readers and subscriptions
	turn   chan struct{}  // held by the one who dials
	prefix string
	count  atomic.Uint64

	mu   sync.Mutex
	conn *conn // nil before the first call
}

// ErrClosed is the error of every call after Close.
var ErrClosed = errors.New("the client is closed")

// New makes a client. It does not connect yet.
func New(cfg Config) *Client {
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	ctx, stop := context.WithCancel(context.Background())
	return &Client{
		cfg: cfg, ctx: ctx, stop: stop, turn: make(chan struct{}, 1),
		// Random, so that two processes with one lasting identity never use the same request id by chance.
		prefix: strings.ToLower(rand.Text()[:12]),
	}
}

// Close ends the connection, every subscription and every call under way. It waits for all goroutines of the client.
func (c *Client) Close() error {
	c.stop()
	c.mu.Lock()
	conn := c.conn
	c.mu.Unlock()
	if conn != nil {
		conn.close()
	}
	c.wg.Wait()
	return nil
}

func (c *Client) nextID() string { return fmt.Sprintf("%s-%d", c.prefix, c.count.Add(1)) }

// Sessions lists the sessions that this agent may see.
func (c *Client) Sessions(ctx context.Context) ([]protocol.SessionInfo, error) {
	for {
		r, err := ask[*protocol.SessionsListResult](ctx, c, &protocol.SessionsList{RequestID: c.nextID()}, repeat)
		if err != nil {
			return nil, err
		}
		if len(r.Sessions) > 0 || !c.Gathering() {
			return r.Sessions, nil
		}
		if err := pause(ctx, gatherPause); err != nil {
			return nil, err
		}
	}
}

// Read asks for a frame. An empty RequestID is filled in, in m.
func (c *Client) Read(ctx context.Context, m *protocol.Read) (*protocol.ReadResult, error) {
	c.fill(&m.RequestID)
	return ask[*protocol.ReadResult](ctx, c, m, repeat)
}

// Wait asks for a fact. A connection lost meanwhile costs nothing of the time that m allows: the rest of it goes into
// the repeated request.
func (c *Client) Wait(ctx context.Context, m *protocol.Wait) (*protocol.WaitResult, error) {
	c.fill(&m.RequestID)
	return ask[*protocol.WaitResult](ctx, c, m, repeat)
}

// Input types. With a lasting identity an input whose receipt was lost is repeated under its id, which cannot type it
// twice; without one, a lost receipt is an error that says so.
func (c *Client) Input(ctx context.Context, m *protocol.Input) (*protocol.InputResult, error) {
	c.fill(&m.RequestID)
	return ask[*protocol.InputResult](ctx, c, m, c.once())
}

// Request asks the user for control and returns when it is decided: with a grant, or with a revoke that says why not.
// When ctx ends first, the request stays open with the user; Release takes it back.
func (c *Client) Request(ctx context.Context, m *protocol.ControlRequest) (*protocol.ControlGrant, *protocol.ControlRevoke, error) {
	c.fill(&m.RequestID)
	if m.AgentName == "" {
		m.AgentName = c.cfg.Name
	}
	answer, err := c.call(ctx, m, repeat)
	if err != nil {
		return nil, nil, err
	}
	switch answer := answer.(type) {
	case *protocol.ControlGrant:
		return answer, nil, nil
	case *protocol.ControlRevoke:
		return nil, answer, nil
	}
	return nil, nil, unexpected(m, answer)
}

// Release gives control back, or takes an open request back.
func (c *Client) Release(ctx context.Context, m *protocol.ControlRelease) error {
	c.fill(&m.RequestID)
	answer, err := c.call(ctx, m, repeat)
	if err != nil {
		return err
	}
	switch answer.(type) {
	case *protocol.Done, *protocol.ControlRevoke:
		return nil
	}
	return unexpected(m, answer)
}

// Say writes to the user of a session, and at the viewers' door to its agent. It reports what a message to the user waits
// for, "" for nothing: it stands on the screen. From and AgentName are filled in when they are empty.
func (c *Client) Say(ctx context.Context, m *protocol.Note) (protocol.Waiting, error) {
	c.fill(&m.RequestID)
	if m.From == "" {
		m.From = protocol.FromAgent
	}
	if m.AgentName == "" {
		m.AgentName = c.cfg.Name
	}
	done, err := ask[*protocol.Done](ctx, c, m, report) // shown twice would be worse than a question
	if err != nil {
		return "", err
	}
	return done.Waiting, nil
}

// Decide does what an owner decided. It is for connections to the viewers' door.
func (c *Client) Decide(ctx context.Context, m *protocol.ControlDecide) error {
	c.fill(&m.RequestID)
	again := repeat // what takes away is as good twice
	if m.Widens() {
		again = report // given twice could be after it was taken back
	}
	_, err := ask[*protocol.Done](ctx, c, m, again)
	return err
}

func (c *Client) fill(id *string) {
	if *id == "" {
		*id = c.nextID()
	}
}

// policy says what becomes of a request whose connection was lost before the answer came.
type policy uint8

const (
	repeat policy = iota // ask again
	report               // say that the answer was lost
)

// once is the policy of what must not happen twice. The proxy knows a repeated request by agent and request id, so the
// agent has to stay the same.
func (c *Client) once() policy {
	if c.cfg.Key != "" {
		return repeat
	}
	return report
}

// ask is call for a request with one kind of answer.
func ask[T protocol.Message](ctx context.Context, c *Client, m protocol.Message, p policy) (T, error) {
	answer, err := c.call(ctx, m, p)
	if err != nil {
		var none T
		return none, err
	}
	if t, ok := answer.(T); ok {
		return t, nil
	}
	var none T
	return none, unexpected(m, answer)
}

func unexpected(m, answer protocol.Message) error {
	return fmt.Errorf("the gateway answered a %s with a %s", protocol.KindOf(m), protocol.KindOf(answer))
}

// call sends a request and waits for its answer, over as many connections as that takes.
func (c *Client) call(ctx context.Context, m protocol.Message, p policy) (protocol.Message, error) {
	began := time.Now()
	for {
		frame, err := protocol.Encode(shortened(m, time.Since(began)))
		if err != nil {
			if fe, ok := errors.AsType[*protocol.FieldError](err); ok {
				return nil, fe.Reply()
			}
			return nil, err
		}
		conn, err := c.connect(ctx)
		if err != nil {
			return nil, err
		}
		answer, err := conn.call(ctx, protocol.RequestID(m), frame)
		switch {
		case err == nil:
			refusal, refused := answer.(*protocol.Error)
			if !refused {
				return answer, nil
			}
			if refusal.Code != protocol.CodeNoSession || !c.Gathering() {
				return nil, refusal
			}
			if err := pause(ctx, gatherPause); err != nil {
				return nil, err
			}
		case !errors.Is(err, errLost):
			conn.cancel(m)
			return nil, err
		case c.ctx.Err() != nil:
			return nil, ErrClosed
		case p == report:
			return nil, &protocol.Error{RequestID: protocol.RequestID(m), Code: protocol.CodeUnavailable, Message: fmt.Sprintf(
				"the gateway went away before it answered; whether the %s took effect is not known, read the screen before repeating it", protocol.KindOf(m))}
		}
		c.cfg.Log.Debug("gateway lost, asking again", "request", protocol.KindOf(m))
	}
}

// shortened is m with the time that is already gone taken from its own time limit.
func shortened(m protocol.Message, gone time.Duration) protocol.Message {
	w, ok := m.(*protocol.Wait)
	if !ok || w.TimeoutMs == 0 || gone < time.Millisecond {
		return m
	}
	rest := *w
	rest.TimeoutMs = max(1, w.TimeoutMs-gone.Milliseconds())
	return &rest
}
