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
	"sync/atomic"
	"time"

	"github.com/gorilla/websocket"

	"terminalproxy/protocol"
	"terminalproxy/protocol/handshake"
	"terminalproxy/protocol/pace"
)

const (
	// dialTimeout bounds one try: a local gateway that does not answer may have to be replaced
	// first.
	dialTimeout      = 15 * time.Second
	handshakeTimeout = 5 * time.Second
	// patience bounds how long a gateway that was reached before may be missing. Another process
	// takes over within a second. One that announced a restart has restartPatience: a busy machine
	// starts it slowly.
	patience        = 10 * time.Second
	restartPatience = 30 * time.Second
	firstTries      = 3 // the first try can meet a gateway that is closing
	firstDelay      = 20 * time.Millisecond
	longestWait     = time.Second
)

// Unreachable is the error if no gateway answered. Its text is a sentence for people; the cause is
// for the log.
type Unreachable struct {
	// URL lists the gateways that did not answer.
	URL string
	// Hint names the user's next step.
	Hint  string
	Cause error
}

// Error implements error.
func (e *Unreachable) Error() string {
	return fmt.Sprintf("no gateway answers at %s (%v): %s", e.URL, e.Cause, e.Hint)
}

// Unwrap returns the cause.
func (e *Unreachable) Unwrap() error { return e.Cause }

// Hint returns the next step that an error suggests, or "".
func Hint(err error) string {
	if knows, ok := errors.AsType[interface {
		error
		Hint() string
	}](err); ok {
		return knows.Hint()
	}
	return ""
}

// dialer makes a client's connections to the first of its gateways that answers.
type dialer struct {
	cfg   *Config
	doors []Door
	turns *handshake.Gateways
	// when a remote gateway last announced a restart, in Unix nanoseconds
	restarts atomic.Int64
}

func newDialer(cfg *Config) *dialer {
	first := Door{Dial: cfg.Dial, URL: cfg.URL, ViewURL: cfg.ViewURL, Header: cfg.Header}
	doors := append([]Door{first}, cfg.Others...)
	urls := make([]string, len(doors))
	for i, d := range doors {
		urls[i] = d.URL
	}
	return &dialer{cfg: cfg, doors: doors, turns: handshake.NewGateways(urls, cfg.Skipped)}
}

// dialGateway makes a WebSocket. It tries longer if a gateway was reached before.
func (d *dialer) dialGateway(ctx context.Context, again bool) (*socket, error) {
	if err := d.spreadReconnects(ctx); err != nil {
		return nil, err
	}
	began, backoff := time.Now(), pace.Backoff{First: firstDelay, Longest: longestWait}
	var cause error
	for try := 1; ; try++ {
		s, err := d.tryGateways(ctx, try-1)
		if err == nil {
			return s, nil
		}
		if isRefusal(err) {
			return nil, err // a refusal does not change
		}
		if cause == nil || !errors.Is(err, fs.ErrNotExist) {
			cause = err // an unanswered dial explains more than a missing socket
		}
		if again && time.Since(began) > d.patience() || !again && try >= firstTries || ctx.Err() != nil {
			gone := &Unreachable{
				URL:   d.gatewayURLs(),
				Cause: cause,
				Hint: "start a session with `proxy --agent PROGRAM`, " +
					"or check the gateway's address",
			}
			gone.Hint = cmp.Or(Hint(cause), gone.Hint)
			return nil, gone
		}
		d.cfg.Log.Debug("dial gateway", "url", d.gatewayURLs(), "error", err)
		_ = backoff.Pause(ctx) // the next round notices the end of ctx
	}
}

// patience returns how long a gateway that was reached before may be missing.
func (d *dialer) patience() time.Duration {
	if time.Since(time.Unix(0, d.restarts.Load())) < restartPatience {
		return restartPatience
	}
	return patience
}

// spreadReconnects waits for a random time if a remote gateway has just announced a restart,
// because its other clients reconnect as well.
func (d *dialer) spreadReconnects(ctx context.Context) error {
	if time.Since(time.Unix(0, d.restarts.Load())) > handshake.Spread {
		return nil
	}
	return pace.Pause(ctx, rand.N(handshake.Spread))
}

// gatewayURLs lists the URLs for people.
func (d *dialer) gatewayURLs() string {
	names := make([]string, len(d.doors))
	for i, door := range d.doors {
		names[i] = door.URL
	}
	return strings.Join(names, ", ")
}

// tryGateways dials each gateway once. A gateway that answered and refused gives a *protocol.Error.
func (d *dialer) tryGateways(ctx context.Context, round int) (s *socket, err error) {
	err = d.turns.Try(ctx, round, isRefusal, func(ctx context.Context, i int) error {
		ws, gathers, err := d.dialDoor(ctx, d.doors[i])
		if err == nil {
			s = newSocket(ws, gathers)
			s.several = d.turns.HasSeveral()
			s.restarts = func() { d.restarts.Store(time.Now().UnixNano()) }
			s.gone = func() { d.turns.NoteLost(i) }
		}
		return err
	})
	return s, err
}

// isRefusal reports whether err is the answer of a gateway, which will not change.
func isRefusal(err error) bool {
	_, refused := errors.AsType[*protocol.Error](err)
	return refused
}

// dialDoor dials one gateway at each of its URLs.
func (d *dialer) dialDoor(
	ctx context.Context, at Door,
) (ws *websocket.Conn, gathers bool, err error) {
	if at.Dial == nil || at.URL == "" {
		return nil, false, &protocol.Error{
			Code:    protocol.CodeBadMessage,
			Message: "the client has no gateway address: set Dial and URL",
		}
	}
	ws, gathers, err = d.dialURL(ctx, at, at.URL)
	refusal, ok := errors.AsType[*protocol.Error](err)
	if ok && refusal.Code == protocol.CodeForbidden && at.ViewURL != "" {
		if ws, gathers, second := d.dialURL(ctx, at, at.ViewURL); second == nil {
			return ws, gathers, nil
		}
	}
	return ws, gathers, err
}

// dialURL makes one WebSocket. Redirects are not followed.
func (d *dialer) dialURL(
	ctx context.Context, at Door, url string,
) (made *websocket.Conn, gathers bool, err error) {
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
	ws, resp, err := dialer.DialContext(ctx, url, d.makeHeader(at))
	if resp != nil {
		defer func() { _ = resp.Body.Close() }()
	}
	if err != nil {
		return nil, false, refusalFromHTTP(resp, err)
	}
	if err := bound.Done(); err != nil {
		_ = ws.Close()
		return nil, false, err
	}
	if ws.Subprotocol() != protocol.Version {
		_ = ws.Close()
		return nil, false, &protocol.Error{
			Code:    protocol.CodeUnavailable,
			Message: url + " does not speak " + protocol.Version,
		}
	}
	return ws, resp.Header.Get(HeaderGathering) != "", nil
}

// makeHeader returns the headers of a handshake: those of the gateway's address, and the agent's
// identity.
func (d *dialer) makeHeader(at Door) http.Header {
	header := at.Header.Clone()
	if header == nil {
		header = http.Header{}
	}
	if d.cfg.Key != "" {
		header.Set(HeaderKey, d.cfg.Key)
		if d.cfg.Transient {
			header.Set(HeaderPassing, "1")
		}
	}
	if name := cleanName(d.cfg.Name); name != "" {
		header.Set(HeaderName, name)
	}
	return header
}

// cleanName removes the characters that a header cannot carry.
func cleanName(name string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f {
			return -1
		}
		return r
	}, name)
}

// refusalFromHTTP turns a refusal over HTTP into a sentence, and returns any other error unchanged.
func refusalFromHTTP(resp *http.Response, err error) error {
	if resp == nil || !errors.Is(err, websocket.ErrBadHandshake) {
		return err
	}
	body, readErr := io.ReadAll(io.LimitReader(resp.Body, 1024))
	if readErr != nil && len(body) == 0 {
		body = []byte(resp.Status)
	}
	reason := strings.TrimSpace(strings.ToValidUTF8(string(body), "?"))
	message := "the gateway refused the connection (" + resp.Status + "): " + reason
	switch {
	case resp.StatusCode == http.StatusUnauthorized:
		return &protocol.Error{Code: protocol.CodeUnauthorized, Message: message}
	case resp.StatusCode == http.StatusForbidden:
		return &protocol.Error{Code: protocol.CodeForbidden, Message: message}
	case resp.StatusCode >= 500 || resp.StatusCode == http.StatusTooManyRequests:
		return temporaryError{errors.New(message)} // the next try may succeed
	}
	refusal := &protocol.Error{Code: protocol.CodeUnavailable, Message: message}
	if resp.StatusCode == http.StatusNotFound {
		return notServed{refusal}
	}
	return refusal
}

// temporaryError is the error of a gateway that cannot serve now.
type temporaryError struct{ error }

func (temporaryError) Hint() string { return "the gateway's log has the reason: gateway serve --log" }

// ErrNotServed marks a refusal because the gateway lacks the path: it is older, or was started
// without that interface.
var ErrNotServed = errors.New("the gateway does not serve this path")

type notServed struct{ refusal *protocol.Error }

func (e notServed) Error() string { return e.refusal.Error() }

func (e notServed) Unwrap() error { return e.refusal }

func (notServed) Is(target error) bool { return target == ErrNotServed }
