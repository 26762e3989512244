package gateway

import (
	"context"
	"crypto/tls"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/gorilla/websocket"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"terminalproxy/gateway/auth"
	"terminalproxy/gateway/client"
	"terminalproxy/gateway/place"
	"terminalproxy/gateway/userdirs"
	"terminalproxy/protocol"
	"terminalproxy/protocol/fake"
)

// helperEnv makes the test binary a helper program: it serves, or dials, in the directory that the
// variable names.
const helperEnv = "GATEWAY_TEST_HELPER"

// fewFiles and someFiles limit the open files of a helper whose name begins with few or some.
const (
	fewFiles  = 24
	someFiles = 300
)

func TestMain(m *testing.M) {
	if what := os.Getenv(helperEnv); what != "" {
		helper(what)
		return
	}
	goleak.VerifyTestMain(m, fake.Lingering())
}

// shortDir makes a directory of mode 0700 whose path leaves room for a socket.
func shortDir(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "gw") //nolint:usetesting // t.TempDir's path is too long
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, os.RemoveAll(dir)) })
	return dir
}

// newLocal makes the local gateway's part of a user's process, until the test ends.
func newLocal(t *testing.T, dir string) *Local {
	t.Helper()
	l := NewLocal(dir, nil)
	t.Cleanup(func() { require.NoError(t, l.Close()) })
	return l
}

// dials makes a connection and gives it up.
func dials(t *testing.T, l *Local) {
	t.Helper()
	conn, err := l.Dial(fake.Within(t))
	require.NoError(t, err)
	require.NoError(t, conn.Close())
}

// empty checks that a directory is empty.
func empty(t *testing.T, dir string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	require.Empty(t, entries)
}

// keepPlace holds the place at dir, as gateway serve does, until end or the end of the test.
func keepPlace(t *testing.T, dir string, cfg Config) (end func()) {
	t.Helper()
	taken, err := ListenLocal(dir)
	require.NoError(t, err)
	s, served := New(cfg), make(chan error, 1)
	go func() { served <- s.KeepLocal(context.Background(), taken) }() // ends with Close
	end = sync.OnceFunc(func() {
		require.NoError(t, s.Close())
		require.NoError(t, <-served)
	})
	t.Cleanup(end)
	return end
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

func local(l *Local) address { return address{dial: l.Dial, base: "ws://localhost"} }

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
	m, err := fake.Conn{Conn: ws}.Next()
	require.NoError(t, err)
	out, ok := m.(T)
	require.True(t, ok, "heard %+v", m)
	return out
}

// closeCodeOf reads until the connection ends, and returns the code of its close frame.
func closeCodeOf(t *testing.T, ws *websocket.Conn) int {
	t.Helper()
	require.NoError(t, ws.SetReadDeadline(time.Now().Add(fake.Soon)))
	for {
		if _, _, err := ws.ReadMessage(); err != nil {
			closed := new(websocket.CloseError)
			require.ErrorAs(t, err, &closed)
			return closed.Code
		}
	}
}

func opening(id string) *protocol.SessionOpen {
	return &protocol.SessionOpen{ID: "o", SessionID: id, Name: "vim", Command: "vim", Args: []string{}, Cols: 10, Rows: 1, ResumeKey: "key"}
}

func snapshot(id string, seq uint64, line string) *protocol.Snapshot {
	return &protocol.Snapshot{ID: "s", SessionID: id, Content: line, Seq: seq, Screen: &protocol.Screen{Cols: 10, Rows: 1, Lines: []string{line}}}
}

// fakeProxy keeps one session at a gateway, over as many connections as it takes, and answers reads
// and inputs. It remembers what was typed, by request id.
type fakeProxy struct {
	done  chan struct{}
	typed chan *protocol.Input // every input, repeated ones too
}

func startProxy(t *testing.T, d address, id string) *fakeProxy {
	t.Helper()
	p := &fakeProxy{done: make(chan struct{}), typed: make(chan *protocol.Input, 16)}
	ctx, cancel := context.WithCancel(context.Background())
	t.Cleanup(func() { cancel(); <-p.done })
	go func() {
		defer close(p.done)
		for ctx.Err() == nil {
			_ = p.session(ctx, d, id)
		}
	}()
	return p
}

func (p *fakeProxy) session(ctx context.Context, d address, id string) error {
	c, resp, err := d.dial.Connect(ctx, d.base+protocol.PathProxy, d.header)
	if err != nil {
		return err
	}
	defer func() { _, _ = resp.Body.Close(), c.Close() }()
	defer context.AfterFunc(ctx, func() { _ = c.Close() })()
	for _, m := range []protocol.Message{opening(id), snapshot(id, 1, "hello")} {
		if err := c.Send(m); err != nil {
			return err
		}
	}
	return c.Answer(p.reply)
}

func (p *fakeProxy) reply(m protocol.Message) protocol.Message {
	switch m := m.(type) {
	case *protocol.Read:
		return &protocol.ReadResult{ID: "r", RequestID: m.RequestID, SessionID: m.SessionID, Frame: &protocol.Frame{Seq: 1, Screen: *snapshot("x", 1, "hello").Screen}}
	case *protocol.Input:
		p.typed <- m
		return &protocol.InputResult{ID: "i", RequestID: m.RequestID, SessionID: m.SessionID, Status: protocol.StatusWritten, WrittenBytes: len(m.Data)}
	case *protocol.ControlRequest:
		return &protocol.ControlGrant{ID: "g", RequestID: m.RequestID, SessionID: m.SessionID, AgentID: m.AgentID, AgentName: m.AgentName, Level: m.Level, Epoch: 1}
	case *protocol.ControlRelease:
		return &protocol.Done{RequestID: m.RequestID}
	case *protocol.Note:
		return &protocol.Done{RequestID: m.RequestID}
	case *protocol.Wait:
		return &protocol.WaitResult{ID: "w", RequestID: m.RequestID, SessionID: m.SessionID, Met: true}
	}
	return nil
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

func helper(what string) {
	ctx, cancel := context.WithTimeout(context.Background(), fake.Soon)
	defer cancel()
	dir := os.Getenv(userdirs.EnvDir)
	for word, files := range map[string]uint64{"few ": fewFiles, "some ": someFiles} {
		rest, ok := strings.CutPrefix(what, word)
		if !ok {
			continue
		}
		what = rest
		if err := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &syscall.Rlimit{Cur: files, Max: files}); err != nil {
			fmt.Println("failed", err)
			return
		}
	}
	switch what {
	case "serve":
		l := NewLocal(dir, nil)
		if _, err := l.Dial(ctx); err != nil || !l.Serving() {
			fmt.Println("failed", err)
			return
		}
		fmt.Println("serving")
		<-ctx.Done() // killed before
	case "dial":
		conn, err := (&net.Dialer{}).DialContext(ctx, "unix", filepath.Join(dir, place.Name))
		if err != nil {
			fmt.Println("refused at connect")
			return
		}
		if _, err := fmt.Fprint(conn, "GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n"); err == nil {
			if n, _ := conn.Read(make([]byte, 1)); n == 1 {
				fmt.Println("answered")
				return
			}
		}
		fmt.Println("refused by credentials")
	}
}

// Serving reports whether this process is the gateway now.
func (l *Local) Serving() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.serving != nil
}
