package client

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"net"
	"net/http"
	"strings"
	"time"

	"github.com/gorilla/websocket"

	"terminalproxy/protocol"
	"terminalproxy/protocol/handshake"
)

const (
	// dialTimeout bounds one try: a local gateway that does not answer may have to be replaced first.
	dialTimeout      = 15 * time.Second
	handshakeTimeout = 5 * time.Second
	// patience is how long a gateway that was there before may be away. Another process takes over within a second.
	patience    = 10 * time.Second
	firstTries  = 3 // a first connection can hit a gateway that is just closing
	firstDelay  = 20 * time.Millisecond
	longestWait = time.Second
)

// Unreachable says that no gateway answered. Its text is a sentence for people; the cause is for the log.
type Unreachable struct {
	// URL is what did not answer.
	URL string
	// Hint is what to do about it.
	Hint  string
	Cause error
}

// Error implements error.
func (e *Unreachable) Error() string {
	return fmt.Sprintf("no gateway answers at %s (%v): %s", e.URL, e.Cause, e.Hint)
}

// Unwrap gives the cause.
func (e *Unreachable) Unwrap() error { return e.Cause }

// Hint is what to do about an error that knows it, "" for nothing.
func Hint(err error) string {
	if knows, ok := errors.AsType[interface {
		error
		Hint() string
	}](err); ok {
		return knows.Hint()
	}
	return ""
}

// dial makes a WebSocket, with more patience when a gateway was there before.
func (c *Client) dial(ctx context.Context, again bool) (*socket, error) {
	if err := c.spread(ctx); err != nil {
		return nil, err
	}
	began, delay := time.Now(), firstDelay
	var cause error
	for try := 1; ; try++ {
		s, err := c.try(ctx, try-1)
		if err == nil {
			return s, nil
		}
		if refusal(err) {
			return nil, err // an answer, and it will not change
		}
		if cause == nil || !errors.Is(err, fs.ErrNotExist) {
			cause = err // that nobody serves any more says less than why somebody did not answer
		}
		if again && time.Since(began) > patience || !again && try >= firstTries || ctx.Err() != nil {
			gone := &Unreachable{URL: c.gateways(), Cause: cause, Hint: "start a session with `proxy --agent PROGRAM`, or check the gateway's address"}
			gone.Hint = cmp.Or(Hint(cause), gone.Hint)
			return nil, gone
		}
		c.cfg.Log.Debug("dial gateway", "url", c.gateways(), "error", err)
		// Full jitter: those whom one gateway left do not come back in step.
		select {
		case <-time.After(rand.N(delay)):
		case <-ctx.Done():
		}
		delay = min(2*delay, longestWait)
	}
}

// spread waits when a gateway elsewhere has just said that it restarts: the others whom it lost come back as well.
func (c *Client) spread(ctx context.Context) error {
	if time.Since(time.Unix(0, c.restarts.Load())) > handshake.Spread {
		return nil
	}
	return pause(ctx, rand.N(handshake.Spread))
}

// gateways are the URLs for people.
func (c *Client) gateways() string {
	names := make([]string, len(c.doors))
	for i, d := range c.doors {
		names[i] = d.URL
	}
	return strings.Join(names, ", ")
}

// try dials each gateway once. One that answered and refused is a *protocol.Error.
func (c *Client) try(ctx context.Context, round int) (s *socket, err error) {
	err = c.turns.Try(ctx, round, refusal, func(ctx context.Context, i int) error {
		ws, gathers, err := c.knock(ctx, c.doors[i])
		if err == nil {
			s = newSocket(ws, gathers)
			s.several = c.turns.Several()
			s.restarts, s.gone = func() { c.restarts.Store(time.Now().UnixNano()) }, func() { c.turns.Lost(i) }
		}
		return err
	})
	return s, err
}

// refusal reports whether an error is the answer of a gateway, which will not change.
func refusal(err error) bool {
	_, refused := errors.AsType[*protocol.Error](err)
	return refused
}

// knock dials one gateway, each URL that there is.
func (c *Client) knock(ctx context.Context, at Door) (ws *websocket.Conn, gathers bool, err error) {
	if at.Dial == nil || at.URL == "" {
		return nil, false, &protocol.Error{Code: protocol.CodeBadMessage, Message: "the client has no gateway address: set Dial and URL"}
	}
	ws, gathers, err = c.dialURL(ctx, at, at.URL)
	if refusal, ok := errors.AsType[*protocol.Error](err); ok && refusal.Code == protocol.CodeForbidden && at.ViewURL != "" {
		if ws, gathers, second := c.dialURL(ctx, at, at.ViewURL); second == nil {
			return ws, gathers, nil
		}
	}
	return ws, gathers, err
}

// dialURL makes one WebSocket. Redirects are not followed.
func (c *Client) dialURL(ctx context.Context, at Door, url string) (made *websocket.Conn, gathers bool, err error) {
	var bound *handshake.Conn
	dial := func(ctx context.Context, _, _ string) (net.Conn, error) {
		conn, err := at.Dial(ctx)
		if err != nil {
			return nil, err
		}
		bound, err = handshake.Bound(conn, handshakeTimeout)
		return bound, err
	}
	dialer := websocket.Dialer{
		NetDialContext: dial, NetDialTLSContext: dial,
		HandshakeTimeout: dialTimeout, Subprotocols: []string{protocol.Version},
	}
	header := at.Header.Clone()
	if header == nil {
		header = http.Header{}
	}
	if c.cfg.Key != "" {
		header.Set(HeaderKey, c.cfg.Key)
		if c.cfg.Passing {
			header.Set(HeaderPassing, "1")
		}
	}
	if name := cleanName(c.cfg.Name); name != "" {
		header.Set(HeaderName, name)
	}
	ws, resp, err := dialer.DialContext(ctx, url, header)
	if resp != nil {
		defer func() { _ = resp.Body.Close() }()
	}
	if err != nil {
		return nil, false, refused(resp, err)
	}
	if err := bound.Done(); err != nil {
		_ = ws.Close()
		return nil, false, err
	}
	if ws.Subprotocol() != protocol.Version {
		_ = ws.Close()
		return nil, false, &protocol.Error{Code: protocol.CodeUnavailable, Message: url + " does not speak " + protocol.Version}
	}
	return ws, resp.Header.Get(HeaderGathering) != "", nil
}

// cleanName is name with nothing in it that a header cannot carry.
func cleanName(name string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f {
			return -1
		}
		return r
	}, name)
}

// refused makes a sentence of a refusal over HTTP; whatever is not one stays an error of the way there.
func refused(resp *http.Response, err error) error {
	if resp == nil || !errors.Is(err, websocket.ErrBadHandshake) {
		return err
	}
	body, readErr := io.ReadAll(io.LimitReader(resp.Body, 1024))
	if readErr != nil && len(body) == 0 {
		body = []byte(resp.Status)
	}
	say := "the gateway refused the connection (" + resp.Status + "): " + strings.TrimSpace(strings.ToValidUTF8(string(body), "?"))
	switch {
	case resp.StatusCode == http.StatusUnauthorized:
		return &protocol.Error{Code: protocol.CodeUnauthorized, Message: say}
	case resp.StatusCode == http.StatusForbidden:
		return &protocol.Error{Code: protocol.CodeForbidden, Message: say}
	case resp.StatusCode >= 500 || resp.StatusCode == http.StatusTooManyRequests:
		return unable{errors.New(say)} // it may do better the next time
	}
	no := &protocol.Error{Code: protocol.CodeUnavailable, Message: say}
	if resp.StatusCode == http.StatusNotFound {
		return notServed{no}
	}
	return no
}

// unable is the answer of a gateway that cannot serve now.
type unable struct{ error }

func (unable) Hint() string { return "the gateway's own log says why: gateway serve --log" }

// ErrNotServed says of a gateway's refusal that it has no such path: it is an older one, or was started without.
var ErrNotServed = errors.New("the gateway does not serve this path")

type notServed struct{ refusal *protocol.Error }

func (e notServed) Error() string { return e.refusal.Error() }

func (e notServed) Unwrap() error { return e.refusal }

func (notServed) Is(target error) bool { return target == ErrNotServed }
