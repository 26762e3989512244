package gateway

import (
	"context"
	"crypto/tls"
	"errors"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/gorilla/websocket"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"terminalproxy/gateway/access/auth"
	"terminalproxy/gateway/client"
	"terminalproxy/gateway/endpoint"
	"terminalproxy/gateway/place"
	"terminalproxy/protocol"
	"terminalproxy/protocol/fake"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m, fake.Lingering()) }

// serveSocket serves at a place of its own until the test ends.
func serveSocket(t *testing.T, s *Server) address {
	t.Helper()
	dir, err := os.MkdirTemp("", "gw") //nolint:usetesting // t.TempDir's path is too long
	require.NoError(t, err)
	taken, err := place.TakePlace(dir, nil, false)
	require.NoError(t, err)
	served := make(chan error, 1)
	go func() { served <- s.ServePlace(context.Background(), taken) }() // ends with Close
	t.Cleanup(func() {
		require.NoError(t, s.Close())
		require.NoError(t, errors.Join(<-served, taken.GiveUpName(), os.RemoveAll(dir)))
	})
	dial := func(ctx context.Context) (net.Conn, error) {
		return endpoint.DialSocket(ctx, filepath.Join(dir, place.Name))
	}
	return address{dial: dial, base: "ws://localhost", header: http.Header{}}
}

// address is how tests reach a gateway.
type address struct {
	dial   fake.Dialer
	base   string // ws://host
	header http.Header
}

func (d address) connect(t testing.TB, path string) (*websocket.Conn, *http.Response, error) {
	t.Helper()
	c, resp, err := d.dial.Connect(fake.Within(t), d.base+path, d.header)
	if c.Conn != nil {
		t.Cleanup(func() { _ = c.Close() })
	}
	return c.Conn, resp, err
}

func (d address) mustConnect(t testing.TB, path string) *websocket.Conn {
	t.Helper()
	ws, resp, err := d.connect(t, path)
	require.NoError(t, err)
	require.NoError(t, resp.Body.Close())
	return ws
}

func (d address) client(t *testing.T, key string) *client.Client {
	t.Helper()
	c := client.New(client.Config{Dial: d.dial, URL: d.base + protocol.PathAgent, Header: d.header, Name: "tester", Key: key})
	t.Cleanup(func() { require.NoError(t, c.Close()) })
	return c
}

func message(t testing.TB, ws *websocket.Conn, m protocol.Message) {
	t.Helper()
	require.NoError(t, fake.Conn{Conn: ws}.Send(m))
}

func hear[T protocol.Message](t *testing.T, ws *websocket.Conn) T {
	t.Helper()
	require.NoError(t, ws.SetReadDeadline(time.Now().Add(fake.Soon)))
	for {
		m, err := fake.Conn{Conn: ws}.Next()
		require.NoError(t, err)
		out, ok := m.(T)
		if ok {
			return out
		}
		switch m.(type) {
		case *protocol.Subscribed, *protocol.AgentPresence: // a proxy gets them unasked
		default:
			require.Fail(t, "another message", "heard %+v", m)
		}
	}
}

// closed reads until the connection ends, and returns its close frame.
func closed(t *testing.T, ws *websocket.Conn) (code int, reason string) {
	t.Helper()
	require.NoError(t, ws.SetReadDeadline(time.Now().Add(fake.Soon)))
	for {
		if _, _, err := ws.ReadMessage(); err != nil {
			end := new(websocket.CloseError)
			require.ErrorAs(t, err, &end)
			return end.Code, end.Text
		}
	}
}

func closeCodeOf(t *testing.T, ws *websocket.Conn) int {
	t.Helper()
	code, _ := closed(t, ws)
	return code
}

func startProxy(t *testing.T, d address, id string) *fake.Proxy {
	t.Helper()
	return fake.StartProxy(t, d.dial, d.base+protocol.PathProxy, d.header, id)
}

// tcp starts a server on a loopback address, with a token of every role.
func tcp(t testing.TB, cfg Config) (addr string, tokens map[auth.Role]string, store *auth.Store) {
	t.Helper()
	store, err := auth.OpenStore(filepath.Join(t.TempDir(), "private", "tokens"), nil)
	require.NoError(t, err)
	tokens = make(map[auth.Role]string)
	for _, role := range auth.Roles {
		tokens[role], err = store.Create(auth.Token{Name: "the-" + string(role), Role: role})
		require.NoError(t, err)
	}
	cfg.Tokens = store
	return serveTCP(t, New(cfg), nil), tokens, store
}

// serveTCP serves until the test ends, and returns the server's address.
func serveTCP(t testing.TB, s *Server, certificates *tls.Config) string {
	t.Helper()
	ln, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	served := make(chan error, 1)
	go func() { served <- s.ServeTCP(context.Background(), ln, certificates) }() // ends with Close
	t.Cleanup(func() {
		require.NoError(t, s.Close())
		require.NoError(t, <-served)
	})
	return ln.Addr().String()
}

func bearer(addr, token string) address {
	d := address{base: "ws://" + addr, header: http.Header{}}
	d.dial = func(ctx context.Context) (net.Conn, error) { return (&net.Dialer{}).DialContext(ctx, "tcp", addr) }
	if token != "" {
		d.header.Set("Authorization", "Bearer "+token)
	}
	return d
}
