// Package fake plays the other end of a connection in tests: a gateway for a proxy or an agent, or
// a proxy or an agent for a gateway. Only tests import it. It must not depend on how the tested
// packages handle messages.
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

// Soon bounds waits for events that should happen at once, with time to spare for a loaded machine.
const Soon = 2 * time.Minute

// Within returns a context that ends after [Soon], or with the test.
func Within(t testing.TB) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), Soon)
	t.Cleanup(cancel)
	return ctx
}

// Receive returns the next value on from, or the zero value if from is closed. The test fails if
// neither happens within [Soon].
func Receive[T any](t testing.TB, from <-chan T, name string) T {
	t.Helper()
	timeout := time.NewTimer(Soon)
	defer timeout.Stop()
	select {
	case got := <-from:
		return got
	case <-timeout.C:
		require.FailNow(t, "it does not come", name)
		panic("unreachable")
	}
}

// Relay forwards the messages on from until from is closed or ctx ends, as a subscription does.
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

// Conn is a WebSocket that carries messages. It allows one reader and one writer at a time.
type Conn struct{ *websocket.Conn }

// Send writes a message.
func (c Conn) Send(m protocol.Message) error {
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

// Answer reads messages until the connection ends, and sends what answer returns for each, unless
// that is nil.
func (c Conn) Answer(answer func(protocol.Message) protocol.Message) error {
	for {
		m, err := c.Next()
		if err != nil {
			return err
		}
		if reply := answer(m); reply != nil {
			if err := c.Send(reply); err != nil {
				return err
			}
		}
	}
}

// Dialer makes the network connection to a gateway.
type Dialer func(context.Context) (net.Conn, error)

// Connect opens a WebSocket to a URL over a connection of the dialer. If that fails, the response
// holds the reason, if there was one.
func (d Dialer) Connect(
	ctx context.Context, url string, header http.Header,
) (Conn, *http.Response, error) {
	dialer := websocket.Dialer{
		NetDialContext: func(ctx context.Context, _, _ string) (net.Conn, error) { return d(ctx) },
		Subprotocols:   []string{protocol.Version}, HandshakeTimeout: Soon,
	}
	ws, resp, err := dialer.DialContext(ctx, url, header)
	return Conn{ws}, resp, err
}

// listen opens a listener for the test, on "unix" or "tcp".
func listen(t testing.TB, network string) (net.Listener, Dialer) {
	t.Helper()
	at := "127.0.0.1:0"
	if network == "unix" {
		at = filepath.Join(t.TempDir(), "s")
	}
	ln, err := (&net.ListenConfig{}).Listen(t.Context(), network, at)
	require.NoError(t, err)
	at = ln.Addr().String()
	return ln, func(ctx context.Context) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, network, at)
	}
}

// Server accepts connections on a "unix" or "tcp" socket until the test ends, which waits for them.
// serve handles each one; its return closes the connection.
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

// Flood writes first once, and then again over and over until a write fails.
func Flood(c net.Conn, first, again string) {
	_, err := io.WriteString(c, first)
	for err == nil {
		_, err = io.WriteString(c, again)
	}
}

const switching = "HTTP/1.1 101 Switching Protocols\r\n"

// Lies are false answers to the handshake that never end, as arguments of [Flood].
var Lies = map[string]struct{ First, Again string }{
	"endless header":          {switching + "X: ", strings.Repeat("x", 4096)},
	"endless lines":           {switching, strings.Repeat("X-Line: y\r\n", 400)},
	"endless interim answers": {"", strings.Repeat("HTTP/1.1 100 Continue\r\n\r\n", 100)},
	"no line end at all":      {"", strings.Repeat("HTTP/1.1", 512)},
}

// Gateway upgrades connections to a Unix socket until the test ends. serve handles each one; its
// return closes the connection.
func Gateway(t testing.TB, serve func(Conn)) Dialer {
	t.Helper()
	_, dial := GatewayAt(t, serve)
	return dial
}

// GatewayAt is [Gateway], and returns the path of the socket, too.
func GatewayAt(t testing.TB, serve func(Conn)) (path string, dial Dialer) {
	t.Helper()
	ln, dial := listen(t, "unix")
	up := websocket.Upgrader{Subprotocols: []string{protocol.Version}}
	upgrade := func(w http.ResponseWriter, r *http.Request) {
		ws, err := up.Upgrade(w, r, nil)
		if err != nil {
			return
		}
		defer ws.Close()
		serve(Conn{ws})
	}
	server := &http.Server{ReadHeaderTimeout: Soon, Handler: http.HandlerFunc(upgrade)}
	served := make(chan struct{})
	go func() { defer close(served); _ = server.Serve(ln) }() // ends with Close
	t.Cleanup(func() { _ = server.Close(); <-served })
	return ln.Addr().String(), dial
}
