package client

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gorilla/websocket"

	"terminalproxy/protocol"
	"terminalproxy/protocol/handshake"
)

const (
	// dialTimeout bounds one try: a local gateway that does not answer may have to be replaced first.
	dialTimeout      = 15 * time.Second
	handshakeTimeout = 5 * time.Second
	writeTimeout     = 5 * time.Second
	// silence is how long a gateway may say nothing; it pings every 20 s.
	silence = 45 * time.Second
	// patience is how long a gateway that was there before may be away. Another process takes over within a second.
	patience    = 10 * time.Second
	firstTries  = 3 // a first connection can hit a gateway that is just closing
	firstDelay  = 20 * time.Millisecond
	longestWait = time.Second
	// gatherTime is how long after a reconnection a session may still be missing: a gateway that took over learns its
	// sessions as their proxies find it.
	gatherTime  = 3 * time.Second
	gatherPause = 50 * time.Millisecond
)

// Unreachable says that no gateway answered. Its text is a sentence for people; the cause is for the log.
type Unreachable struct {
	// URL is the door that did not answer.
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

// errLost says that the connection ended before the answer came.
var errLost = errors.New("connection lost")

// conn is one WebSocket to a gateway, from its handshake to its end.
type conn struct {
	ws      *websocket.Conn
	gone    chan struct{} // closed by the reader when it ends
	writing sync.Mutex    // gorilla allows one writer
	// again is the time of the handshake if another connection went before, or another gateway, else zero.
	again time.Time

	heard atomic.Uint64 // frames

	mu      sync.Mutex
	waiting map[string][]chan protocol.Message // by request id
}

// connect is the live connection, made if need be. One caller dials at a time, with its own context.
func (c *Client) connect(ctx context.Context) (*conn, error) {
	select {
	case c.turn <- struct{}{}:
		defer func() { <-c.turn }()
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	case <-c.ctx.Done():
		return nil, ErrClosed
	}
	c.mu.Lock()
	old := c.conn
	c.mu.Unlock()
	if old != nil && !old.ended() {
		return old, nil
	}
	ws, err := c.dial(ctx, old != nil)
	if err != nil {
		return nil, err
	}
	made := &conn{ws: ws, gone: make(chan struct{}), waiting: make(map[string][]chan protocol.Message)}
	if peer := peerOf(ws); old != nil || peer != nil && peer.Gathering() {
		made.again = time.Now()
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.ctx.Err() != nil {
		made.close()
		return nil, ErrClosed
	}
	c.conn = made
	// The reader ends when the socket does: by the gateway, by its silence, or by Close, which waits.
	c.wg.Go(func() { made.read(c) })
	return made, nil
}

// Gathering reports whether the gateway may not know all of its sessions yet.
func (c *Client) Gathering() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.conn != nil && time.Since(c.conn.again) < gatherTime
}

func pause(ctx context.Context, d time.Duration) error {
	select {
	case <-time.After(d):
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// dial makes a WebSocket, with more patience when a gateway was there before.
func (c *Client) dial(ctx context.Context, again bool) (*websocket.Conn, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(c.ctx, cancel)()
	began, delay := time.Now(), firstDelay
	var cause error
	for try := 1; ; try++ {
		ws, err := c.handshake(ctx)
		if err == nil {
			return ws, nil
		}
		if c.ctx.Err() != nil {
			return nil, ErrClosed
		}
		if refusal, ok := errors.AsType[*protocol.Error](err); ok {
			return nil, refusal // an answer, and it will not change
		}
		if cause == nil || !errors.Is(err, fs.ErrNotExist) {
			cause = err // that nobody serves any more says less than why somebody did not answer
		}
		if again && time.Since(began) > patience || !again && try >= firstTries || ctx.Err() != nil {
			return nil, &Unreachable{URL: c.cfg.URL, Cause: cause, Hint: "start a session with `proxy --agent PROGRAM`, or check the gateway's address"}
		}
		c.cfg.Log.Debug("dial gateway", "url", c.cfg.URL, "error", err)
		// Full jitter: those whom one gateway left do not come back in step.
		select {
		case <-time.After(rand.N(delay)):
		case <-ctx.Done():
		}
		delay = min(2*delay, longestWait)
	}
}

// handshake is one try, at the doors that there are. A gateway that answered and refused is a *protocol.Error.
func (c *Client) handshake(ctx context.Context) (*websocket.Conn, error) {
	if c.cfg.Dial == nil || c.cfg.URL == "" {
		return nil, &protocol.Error{Code: protocol.CodeBadMessage, Message: "the client has no gateway address: set Dial and URL"}
	}
	ws, err := c.knock(ctx, c.cfg.URL)
	if refusal, ok := errors.AsType[*protocol.Error](err); ok && refusal.Code == protocol.CodeForbidden && c.cfg.ViewURL != "" {
		if ws, second := c.knock(ctx, c.cfg.ViewURL); second == nil {
			return ws, nil
		}
	}
	return ws, err
}

// knock makes a WebSocket at one door. Redirects are not followed.
func (c *Client) knock(ctx context.Context, url string) (*websocket.Conn, error) {
	var bound *handshake.Conn
	dial := func(ctx context.Context, _, _ string) (net.Conn, error) {
		conn, err := c.cfg.Dial(ctx)
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
	header := c.cfg.Header.Clone()
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
		return nil, refused(resp, err)
	}
	if err := bound.Done(); err != nil {
		_ = ws.Close()
		return nil, err
	}
	if ws.Subprotocol() != protocol.Version {
		_ = ws.Close()
		return nil, &protocol.Error{Code: protocol.CodeUnavailable, Message: "what answers at " + url + " does not speak " + protocol.Version}
	}
	return ws, nil
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
		return errors.New(say) // it may do better the next time
	}
	return &protocol.Error{Code: protocol.CodeUnavailable, Message: say}
}

func (k *conn) ended() bool {
	select {
	case <-k.gone:
		return true
	default:
		return false
	}
}

func (k *conn) close() {
	_ = k.ws.WriteControl(websocket.CloseMessage, websocket.FormatCloseMessage(websocket.CloseNormalClosure, ""), time.Now().Add(100*time.Millisecond))
	_ = k.ws.Close()
}

// call writes one request and waits for what answers it.
func (k *conn) call(ctx context.Context, id string, frame []byte) (protocol.Message, error) {
	answer := make(chan protocol.Message, 1)
	k.mu.Lock()
	k.waiting[id] = append(k.waiting[id], answer)
	k.mu.Unlock()
	defer k.forget(id, answer)
	if err := k.write(frame); err != nil {
		_ = k.ws.Close()
		<-k.gone // what came before the end still counts
	}
	watch := k.watch()
	defer watch.stop()
	for over := false; !over; {
		select {
		case m := <-answer:
			return m, nil
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		case <-watch.tick:
			watch.look()
		case <-k.gone:
			over = true
		}
	}
	select {
	case m := <-answer:
		return m, nil
	default:
		return nil, errLost
	}
}

// cancel tells the gateway that nobody waits any more for the fact, or the user's answer, that m asked for.
func (k *conn) cancel(m protocol.Message) {
	switch m.(type) {
	case *protocol.Wait, *protocol.ControlRequest:
	default:
		return
	}
	if frame, err := protocol.Encode(&protocol.Cancel{RequestID: protocol.RequestID(m), SessionID: protocol.SessionID(m)}); err == nil {
		_ = k.write(frame) // a connection that breaks here ends the wait as well
	}
}

func (k *conn) forget(id string, answer chan protocol.Message) {
	k.mu.Lock()
	defer k.mu.Unlock()
	rest := k.waiting[id][:0]
	for _, a := range k.waiting[id] {
		if a != answer {
			rest = append(rest, a)
		}
	}
	if len(rest) == 0 {
		delete(k.waiting, id)
		return
	}
	k.waiting[id] = rest
}

func (k *conn) write(frame []byte) error {
	k.writing.Lock()
	defer k.writing.Unlock()
	if err := k.ws.SetWriteDeadline(time.Now().Add(writeTimeout)); err != nil {
		return err
	}
	if err := k.ws.WriteMessage(websocket.TextMessage, frame); err != nil {
		return err
	}
	return k.ws.SetWriteDeadline(time.Time{}) // one left behind would wake an idle process
}

// read hands answers to those who wait for them, until the connection ends.
func (k *conn) read(c *Client) {
	defer close(k.gone)
	defer func() { _ = k.ws.Close() }()
	next := frames(k.ws)
	k.ws.SetPongHandler(func(string) error { k.heard.Add(1); return nil })
	for {
		m, err := next()
		if err != nil {
			c.cfg.Log.Debug("gateway connection ended", "error", err)
			return
		}
		k.heard.Add(1)
		k.deliver(m)
	}
}

func (k *conn) deliver(m protocol.Message) {
	id := protocol.RequestID(m)
	k.mu.Lock()
	defer k.mu.Unlock()
	if waiting := k.waiting[id]; len(waiting) > 0 {
		select {
		case waiting[0] <- m:
			k.waiting[id] = waiting[1:]
		default: // it has its answer
		}
	}
}

// frames reads the messages of a WebSocket one by one; what is no message of this version is passed over, so that a
// newer gateway can say more.
func frames(ws *websocket.Conn) func() (protocol.Message, error) {
	ws.SetReadLimit(protocol.MaxMessage)
	local := local(ws)
	alive := func() error {
		if local { // the kernel tells when that peer is gone; nobody pings
			return nil
		}
		return ws.SetReadDeadline(time.Now().Add(silence))
	}
	ws.SetPingHandler(func(data string) error {
		_ = ws.WriteControl(websocket.PongMessage, []byte(data), time.Now().Add(writeTimeout))
		return alive()
	})
	return func() (protocol.Message, error) {
		for {
			if err := alive(); err != nil {
				return nil, err
			}
			_, frame, err := ws.ReadMessage()
			if err != nil {
				return nil, err
			}
			if m, err := protocol.Decode(frame, protocol.MaxMessage); err == nil {
				return m, nil
			}
		}
	}
}

// request writes m on a connection of its own and waits for the answer; one that is a refusal is the error.
func request(ws *websocket.Conn, m protocol.Message) error {
	if err := write(ws, m); err != nil {
		return err
	}
	next := frames(ws)
	for {
		answer, err := next()
		if err != nil {
			return err
		}
		if protocol.RequestID(answer) != protocol.RequestID(m) {
			continue
		}
		if refusal, ok := answer.(*protocol.Error); ok {
			return refusal
		}
		return nil
	}
}
