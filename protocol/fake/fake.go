// Package fake plays the other end of a connection in tests: a gateway to a proxy or an agent, a proxy or an agent to a gateway.
// Only tests import it. It must not know what those packages do with what they hear.
package fake

import (
	"context"
	"io"
	"net"
	"net/http"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gorilla/websocket"
	"github.com/stretchr/testify/require"

	"terminalproxy/protocol"
)

// Soon bounds the waits for what happens at once: on a loaded machine that takes its time.
const Soon = 2 * time.Minute

// Within is a context of the test's that ends after [Soon].
func Within(t testing.TB) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), Soon)
	t.Cleanup(cancel)
	return ctx
}

// Receive is what comes on from, or the zero value when that is closed. What does not come within [Soon] fails the test.
func Receive[T any](t testing.TB, from <-chan T, what string) T {
	t.Helper()
	late := time.NewTimer(Soon)
	defer late.Stop()
	select {
	case got := <-from:
		return got
	case <-late.C:
		require.FailNow(t, "it does not come", what)
		panic("unreachable")
	}
}

// Relay hands on what comes on from, until that is closed or ctx ends: a subscription, as a test brings it.
func Relay(ctx context.Context, from <-chan protocol.Message) <-chan protocol.Message {
	out := make(chan protocol.Message)
	go func() { // ends with ctx, or when the test closes from
		defer close(out)
		for {
			select {
			case m, ok := <-from:
				if !ok {
					return
				}
				select {
				case out <- m:
				case <-ctx.Done():
					return
				}
			case <-ctx.Done():
				return
			}
		}
	}()
	return out
}

// Conn is a WebSocket on which messages go. One goroutine may read it, and one write.
type Conn struct{ *websocket.Conn }

// Say writes a message.
func (c Conn) Say(m protocol.Message) error {
	frame, err := protocol.Encode(m)
	if err != nil {
		return err
	}
	return c.WriteMessage(websocket.TextMessage, frame)
}

// Next reads a message.
func (c Conn) Next() (protocol.Message, error) {
	_, frame, err := c.ReadMessage()
	if err != nil {
		return nil, err
	}
	return protocol.Decode(frame, protocol.MaxMessage)
}

// Answer reads until the connection ends, and writes what answer makes of each message, if that is not nil.
func (c Conn) Answer(answer func(protocol.Message) protocol.Message) error {
	for {
		m, err := c.Next()
		if err != nil {
			return err
		}
		if reply := answer(m); reply != nil {
			if err := c.Say(reply); err != nil {
				return err
			}
		}
	}
}

// Dialer makes the bare connection to a gateway.
type Dialer func(context.Context) (net.Conn, error)

// Connect opens a WebSocket at a URL over a connection of the dialer's. The response says why there is none.
func (d Dialer) Connect(ctx context.Context, url string, header http.Header) (Conn, *http.Response, error) {
	dialer := websocket.Dialer{
		NetDialContext: func(ctx context.Context, _, _ string) (net.Conn, error) { return d(ctx) },
		Subprotocols:   []string{protocol.Version}, HandshakeTimeout: Soon,
	}
	ws, resp, err := dialer.DialContext(ctx, url, header)
	return Conn{ws}, resp, err
}

// listen takes a place of the test's own, "unix" or "tcp".
func listen(t testing.TB, network string) (net.Listener, Dialer) {
	t.Helper()
	at := "127.0.0.1:0"
	if network == "unix" {
		at = filepath.Join(t.TempDir(), "s")
	}
	ln, err := (&net.ListenConfig{}).Listen(t.Context(), network, at)
	require.NoError(t, err)
	at = ln.Addr().String()
	return ln, func(ctx context.Context) (net.Conn, error) { return (&net.Dialer{}).DialContext(ctx, network, at) }
}

// Server accepts connections on a "unix" or "tcp" socket until the test's end, which waits for them. serve has each, which ends
// when it returns.
func Server(t testing.TB, network string, serve func(net.Conn)) (addr string, dial Dialer) {
	t.Helper()
	ln, dial := listen(t, network)
	var all sync.WaitGroup
	all.Go(func() { // ends with the listener
		for {
			conn, err := ln.Accept()
			if err != nil {
				return
			}
			all.Go(func() {
				defer conn.Close()
				serve(conn)
			})
		}
	})
	t.Cleanup(func() { _ = ln.Close(); all.Wait() })
	return ln.Addr().String(), dial
}

// Flood writes first, and then again over and over, until the other end has had enough.
func Flood(c net.Conn, first, again string) {
	_, err := io.WriteString(c, first)
	for err == nil {
		_, err = io.WriteString(c, again)
	}
}

// Lies are what begins, goes on and never ends in place of a gateway's answer to the handshake: see [Flood].
var Lies = map[string]struct{ First, Again string }{
	"endless header":          {"HTTP/1.1 101 Switching Protocols\r\nX: ", strings.Repeat("x", 4096)},
	"endless lines":           {"HTTP/1.1 101 Switching Protocols\r\n", strings.Repeat("X-Line: y\r\n", 400)},
	"endless interim answers": {"", strings.Repeat("HTTP/1.1 100 Continue\r\n\r\n", 100)},
	"no line end at all":      {"", strings.Repeat("HTTP/1.1", 512)},
}

// Gateway upgrades connections to a Unix socket until the test's end. serve has each, which ends when it returns.
func Gateway(t testing.TB, serve func(Conn)) Dialer {
	t.Helper()
	_, dial := GatewayAt(t, serve)
	return dial
}

// GatewayAt is [Gateway] for a program that is told the socket's path.
func GatewayAt(t testing.TB, serve func(Conn)) (path string, dial Dialer) {
	t.Helper()
	ln, dial := listen(t, "unix")
	up := websocket.Upgrader{Subprotocols: []string{protocol.Version}}
	server := &http.Server{ReadHeaderTimeout: Soon, Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		ws, err := up.Upgrade(w, r, nil)
		if err != nil {
			return
		}
		defer ws.Close()
		serve(Conn{ws})
	})}
	served := make(chan struct{})
	go func() { defer close(served); _ = server.Serve(ln) }() // ends with Close
	t.Cleanup(func() { _ = server.Close(); <-served })
	return ln.Addr().String(), dial
}
