// Package client connects to a gateway: for the command line, the MCP server, the gateway's own
// HTTP interface, and agents written in Go. It has two transports: a WebSocket, dialled at the
// first call and again when the gateway disappears or another process replaces it, and a
// switchboard in the same process. It repeats a lost request if that is safe. It depends on the
// messages of package protocol, and neither on tokens nor on the gateway's internals.
package client

import (
	"cmp"
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

// Headers of the handshake that identify the agent.
const (
	// HeaderKey carries the secret of a lasting identity: clients with the same secret are the same
	// agent.
	HeaderKey = "Terminal-Agent-Key"
	// HeaderName carries the name that the user reads, unless the gateway has a better one from the
	// token.
	HeaderName = "Terminal-Agent-Name"
	// HeaderPassing, with any value, means that the identity of HeaderKey is transient: clients
	// with the same secret are the same agent, but control ends with the last connection.
	HeaderPassing = "Terminal-Agent-Passing"
	// HeaderGathering, with any value, is set in the gateway's answer if it has just started, and
	// proxies may still be reconnecting to it.
	HeaderGathering = "Terminal-Gateway-Gathering"
)

// Config describes a gateway and the client's identity there.
type Config struct {
	// Dial makes the connection under the WebSocket: a Unix socket, TCP, or TLS with its handshake
	// done.
	Dial func(context.Context) (net.Conn, error)
	// URL is the ws: or wss: URL of the gateway's path for agents, for the handshake.
	URL string
	// ViewURL, if set, is the viewers' URL: it is dialled when the token may not use the agents'
	// URL. The gateway then rejects what viewers may not do.
	ViewURL string
	// Header is sent with the handshake: Authorization, if the gateway requires it.
	Header http.Header
	// Others are the gateways to try, in this order, if the first one does not answer or is lost. A
	// refusal counts as an answer.
	Others []Door
	// Skipped is called for a gateway that is skipped because its certificate is wrong. It may be
	// nil.
	Skipped func(gateway string, why error)
	// Incomplete is called for each list that lacks sessions. It may be nil.
	Incomplete func(*protocol.Incomplete)
	// Name is the name that the user reads when the agent asks for control. Control characters are
	// removed from it.
	Name string
	// Key makes the identity lasting: after a reconnection the gateway assigns the same agent id,
	// and control does not end because a connection ended. Without it every connection is a
	// separate agent.
	Key string
	// Transient: the identity of Key does not outlive its connections. It is the same agent after a
	// reconnection, but control ends when a connection ends.
	Transient bool
	// Sign, if not nil, signs requests for control with a token that the session's machine knows.
	Sign func(message []byte) []byte
	// Program is the program that asks, and Parent the one that started it, for the user to read.
	Program, Parent string
	// Log gets the events that no call returns as an error; nil discards them.
	Log *slog.Logger
}

// Door describes an additional gateway, with the fields that [Config] has for the first.
type Door struct {
	Dial         func(context.Context) (net.Conn, error)
	URL, ViewURL string
	Header       http.Header
}

// Client sends requests to a gateway. All methods may be called from any goroutine. A context
// without a deadline waits as long as the gateway does: it answers every request, at the latest 10
// seconds after the request's own time limit.
type Client struct {
	cfg    Config
	dialer *dialer // nil in this process
	// makes a connection; again is set for all but the first one
	open func(ctx context.Context, again bool) (link, error)
	// connections can stall and be replaced
	remote bool
	ctx    context.Context // its cause is why the client ended
	stop   context.CancelCauseFunc
	wg     sync.WaitGroup // readers and streams
	turn   chan struct{}  // held while dialling
	prefix string
	count  atomic.Uint64

	mu   sync.Mutex
	conn *conn // nil before the first call
}

// ErrClosed is the error of every call after Close.
var ErrClosed = errors.New("the client is closed")

// New makes a client that reaches its gateway by WebSocket. It does not connect yet.
func New(cfg Config) *Client {
	c := newClient(cfg)
	c.remote = true
	c.dialer = newDialer(&c.cfg)
	c.open = func(ctx context.Context, again bool) (link, error) {
		s, err := c.dialer.dialGateway(ctx, again)
		if err != nil {
			return nil, err // a nil *socket would be a link that is not nil
		}
		return s, nil
	}
	return c
}

func newClient(cfg Config) *Client {
	cfg.Log = cmp.Or(cfg.Log, slog.New(slog.DiscardHandler))
	ctx, stop := context.WithCancelCause(context.Background())
	return &Client{
		cfg:  cfg,
		ctx:  ctx,
		stop: stop,
		turn: make(chan struct{}, 1),
		// Random, so that two processes with one lasting identity never use the same request id.
		prefix: strings.ToLower(rand.Text()[:12]),
	}
}

// Close ends the connection, every stream and every open call. It waits for all goroutines of the
// client.
func (c *Client) Close() error {
	c.stop(ErrClosed)
	c.mu.Lock()
	conn := c.conn
	c.mu.Unlock()
	if conn != nil {
		conn.link.close()
	}
	c.wg.Wait()
	return nil
}

// Ended is closed when all further calls must fail: after Close, or when the switchboard in this
// process ended the participant.
func (c *Client) Ended() <-chan struct{} { return c.ctx.Done() }

// Err returns why the client ended, once Ended is closed.
func (c *Client) Err() error { return context.Cause(c.ctx) }

// NextID returns a request id that this client has not used.
func (c *Client) NextID() string { return fmt.Sprintf("%s-%d", c.prefix, c.count.Add(1)) }

// Call sends a request, which has a request id, and waits for its answer, over as many connections
// as that takes. It returns an answer that is an error as a *protocol.Error. If ctx is cancelled,
// the proxy withdraws the open question to the user and the input that it has not typed yet; when
// ctx's deadline passes, they stay.
func (c *Client) Call(ctx context.Context, m protocol.Message) (protocol.Message, error) {
	if err := protocol.Check(m); err != nil {
		return nil, asReply(err)
	}
	gather, lost := c.Gather(), false
	for began := time.Now(); ; {
		request := shortenTimeout(m, time.Since(began))
		conn, err := c.ensureConn(ctx)
		if err != nil {
			return nil, err
		}
		answer, err := conn.callOnce(ctx, request)
		switch {
		case err == nil:
			if r, ok := answer.(*protocol.InputResult); ok && lost &&
				r.Status == protocol.StatusRefused &&
				r.Reason == protocol.CodeUnavailable {
				// the previous gateway may have delivered the input, and this one cannot know
				return nil, unknownOutcome(m, r.Message+" the second time")
			}
			refusal, refused := answer.(*protocol.Error)
			if !refused {
				return answer, nil
			}
			again := false
			if refusal.Code == protocol.CodeNoSession {
				again, err = gather.WaitToRetry(ctx)
			}
			if !again || err != nil {
				return nil, cmp.Or(err, refusalError(m, refusal, lost))
			}
		case !errors.Is(err, errLost):
			conn.cancelRequest(m, err)
			return nil, asReply(err)
		case c.ctx.Err() != nil:
			return nil, c.Err()
		case !c.mayRepeat(m):
			return nil, unknownOutcome(m, "the gateway disappeared before it answered")
		default:
			lost = true
			gather.startOver() // the gateway knew the session, as it did not refuse at once
			c.cfg.Log.Debug("gateway lost, repeating the request", "request", protocol.KindOf(m))
		}
	}
}

// refusalError returns the error of a refused request. lost: the request was sent before, over a
// connection that was lost.
func refusalError(m protocol.Message, refusal *protocol.Error, lost bool) error {
	if _, types := m.(*protocol.Input); types && lost {
		return unknownOutcome(m, refusal.Message)
	}
	return refusal
}

// unknownOutcome returns the error of a request that was sent and whose answer was lost.
func unknownOutcome(m protocol.Message, why string) error {
	return &protocol.Error{
		RequestID: protocol.RequestID(m),
		Code:      protocol.CodeUnavailable,
		Message: fmt.Sprintf(
			"%s; it is unknown whether the %s took effect: read the screen before you repeat it",
			why, protocol.KindOf(m),
		),
	}
}

// mayRepeat reports whether m may be sent again after the connection was lost before the answer.
func (c *Client) mayRepeat(m protocol.Message) bool {
	switch m := m.(type) {
	case *protocol.Input, *protocol.ProxyStart:
		// The other end recognises a repeated request by agent and request id, so the agent must
		// stay the same.
		return c.cfg.Key != ""
	case *protocol.ChatSend, *protocol.ChatAnswer, *protocol.ChatInterrupt, *protocol.ChatAsk:
		return false // the coding agent would get it twice
	case *protocol.Note:
		return false // the user would read it twice
	case *protocol.ControlDecide:
		// a repeated grant could come after its reclaim; a repeated reclaim does no harm
		return !m.Widens()
	}
	return true
}

// shortenTimeout subtracts the elapsed time from m's own time limit.
func shortenTimeout(m protocol.Message, gone time.Duration) protocol.Message {
	w, ok := m.(*protocol.Wait)
	if !ok || w.TimeoutMs == 0 || gone < time.Millisecond {
		return m
	}
	rest := *w
	rest.TimeoutMs = max(1, w.TimeoutMs-gone.Milliseconds())
	return &rest
}

// asReply turns a caller's own mistake into the error that a gateway would answer; it returns any
// other error unchanged.
func asReply(err error) error {
	if fe, ok := errors.AsType[*protocol.FieldError](err); ok {
		return fe.Reply()
	}
	return err
}

// callFor is Call for a request with one kind of answer.
func callFor[T protocol.Message](ctx context.Context, c *Client, m protocol.Message) (T, error) {
	var none T
	answer, err := c.Call(ctx, m)
	if err != nil {
		return none, err
	}
	if t, ok := answer.(T); ok {
		return t, nil
	}
	return none, unexpectedAnswer(m, answer)
}

func unexpectedAnswer(m, answer protocol.Message) error {
	return fmt.Errorf("the gateway answered a %s with a %s", protocol.KindOf(m),
		protocol.KindOf(answer))
}
