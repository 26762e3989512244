package gateway

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/gorilla/websocket"
	"github.com/stretchr/testify/require"

	"terminalproxy/gateway/access/auth"
	"terminalproxy/gateway/access/secrets"
	"terminalproxy/gateway/client"
	"terminalproxy/protocol"
	"terminalproxy/protocol/fake"
)

// httpClient is a program that speaks plain HTTP to a gateway.
type httpClient struct {
	t      *testing.T
	client *http.Client
	base   string
	header http.Header
}

func (d address) plain(t *testing.T) *httpClient {
	t.Helper()
	c := &http.Client{Transport: &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) { return d.dial(ctx) }}}
	t.Cleanup(c.CloseIdleConnections)
	return &httpClient{t: t, client: c, base: strings.Replace(d.base, "ws://", "http://", 1), header: d.header.Clone()}
}

func (c *httpClient) request(ctx context.Context, method, path, body string) *http.Response {
	c.t.Helper()
	r, err := http.NewRequestWithContext(ctx, method, c.base+path, strings.NewReader(body))
	require.NoError(c.t, err)
	if c.header != nil {
		r.Header = c.header.Clone()
	}
	if body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	resp, err := c.client.Do(r)
	require.NoError(c.t, err)
	return resp
}

func (c *httpClient) do(method, path, body string) (status int, answer string) {
	c.t.Helper()
	resp := c.request(fake.Within(c.t), method, path, body)
	text, err := io.ReadAll(resp.Body)
	require.NoError(c.t, err)
	require.NoError(c.t, resp.Body.Close())
	return resp.StatusCode, string(text)
}

// mustAnswer sends a request and checks its status.
func (c *httpClient) mustAnswer(status int, method, path, body string) (answer string) {
	c.t.Helper()
	got, answer := c.do(method, path, body)
	require.Equal(c.t, status, got, "%s %s: %s", method, path, answer)
	return answer
}

// metric returns a metric of the server, 0 if there is none.
func (c *httpClient) metric(name string) (value float64) {
	c.t.Helper()
	for line := range strings.Lines(c.mustAnswer(http.StatusOK, "GET", "/metrics", "")) {
		if rest, ok := strings.CutPrefix(line, name+" "); ok {
			_, err := fmt.Sscan(rest, &value)
			require.NoError(c.t, err)
		}
	}
	return value
}

const (
	controlBody = `{"level":"drive","reason":"to test"}`
	at          = "/v1/sessions/vim-1/"
)

// A path that is not served, or not with this method, is refused as everything else is: in JSON,
// with a code and the next step.
func TestUnknownPathsAreRefusedInJSON(t *testing.T) {
	addr, tokens, _ := tcp(t, Config{})
	callers := map[string]*httpClient{
		"agent": bearer(addr, tokens[auth.RoleAgent]).plain(t), "no token": bearer(addr, "").plain(t),
	}
	for _, tt := range []struct {
		method, path string
		status       int
		allow        string
	}{
		{"GET", "/v1/nope", http.StatusNotFound, ""},
		{"GET", "/v1/sessions/vim-1/nope", http.StatusNotFound, ""},
		{"GET", "/", http.StatusNotFound, ""},
		{"GET", "/mcp", http.StatusNotFound, ""},
		{"DELETE", "/v1/sessions", http.StatusMethodNotAllowed, "GET"},
		{"POST", protocol.PathAgent, http.StatusMethodNotAllowed, "GET"},
		{"GET", secrets.PathAsk, http.StatusMethodNotAllowed, "POST"},
	} {
		for name, c := range callers {
			status, body := c.do(tt.method, tt.path, "")
			require.Equal(t, tt.status, status, "%s: %s %s", name, tt.method, tt.path)
			var got struct {
				Error struct{ Code, Message string }
			}
			require.NoError(t, json.Unmarshal([]byte(body), &got), "%s: %s %s: %s", name, tt.method, tt.path, body)
			require.Equal(t, "bad_message", got.Error.Code)
			require.Contains(t, got.Error.Message, "GET /v1/openapi.json")
			if tt.allow != "" {
				require.Contains(t, got.Error.Message, "this path takes "+tt.allow)
			}
		}
	}
}

// R31, R32: every path requires the token, our own name and a known page's origin. A request that
// the guard refuses has no effect.
func TestEveryPathIsGuardedR31R32(t *testing.T) {
	addr, tokens, _ := tcp(t, Config{Origins: []string{"https://good.example"}, MCP: func(*client.Client, func() func()) MCPHandler { return okHandler{} }})
	for _, path := range []string{"/v1/sessions", at + "screen", "/metrics", "/mcp", protocol.PathAgent} {
		for origin, known := range map[string]bool{"": true, "null": false, "http://evil.example": false, "http://" + addr: false, "https://good.example": true} {
			for token, good := range map[string]bool{"": false, "tp_bad": false, tokens[auth.RoleProxy]: false, tokens[auth.RoleAgent]: true} {
				if !good && origin == "https://good.example" {
					continue // further guesses have to wait
				}
				c := bearer(addr, token).plain(t)
				if origin != "" {
					c.header.Set("Origin", origin)
				}
				status, _ := c.do("GET", path, "")
				c.client.CloseIdleConnections()
				switch {
				case !known, token == tokens[auth.RoleProxy]:
					require.Equal(t, http.StatusForbidden, status, "%s from %q", path, origin)
				case !good:
					require.Equal(t, http.StatusUnauthorized, status, "%s from %q", path, origin)
				default:
					require.Contains(t, []int{http.StatusOK, http.StatusNotFound, http.StatusUpgradeRequired}, status, "%s from %q", path, origin)
				}
			}
		}
	}
	for _, path := range []string{"/", "/healthz", "/nope", "/v1/sessions", "/mcp", protocol.PathAgent} {
		r, err := http.NewRequestWithContext(fake.Within(t), http.MethodPost, "http://"+addr+path, nil)
		require.NoError(t, err)
		r.Host = "evil.example"
		r.Header.Set("Origin", "http://evil.example")
		r.Header.Set("Authorization", "Bearer "+tokens[auth.RoleAgent])
		resp, err := http.DefaultTransport.RoundTrip(r)
		require.NoError(t, err)
		require.NoError(t, resp.Body.Close())
		require.Equal(t, http.StatusForbidden, resp.StatusCode, path)
	}
	http.DefaultTransport.(*http.Transport).CloseIdleConnections()
	page := bearer(addr, tokens[auth.RoleAgent])
	page.header.Set("Origin", "https://good.example")
	require.Equal(t, http.StatusSwitchingProtocols, statusOf(t, page, protocol.PathAgent))
	// R34: a token in the address does not count.
	bearer(addr, "").plain(t).mustAnswer(http.StatusUnauthorized, "GET", "/v1/sessions?token="+tokens[auth.RoleAgent]+"&access_token="+tokens[auth.RoleAgent], "")
}

type okHandler struct{}

func (okHandler) ServeHTTP(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "ok") }
func (okHandler) Close()                                           {}

func TestMCPIsForAgentsThatCanBeKnownAgain(t *testing.T) {
	made := 0
	addr, tokens, _ := tcp(t, Config{MCP: func(*client.Client, func() func()) MCPHandler { made++; return okHandler{} }})
	for role, want := range map[auth.Role]int{auth.RoleAgent: 200, auth.RoleViewer: 403, auth.RoleOwner: 403, auth.RoleProxy: 403} {
		for range 2 {
			status, _ := bearer(addr, tokens[role]).plain(t).do("POST", "/mcp", "{}")
			require.Equal(t, want, status, role)
		}
	}
	require.Equal(t, 1, made, "one server for one agent")

	c := serveSocket(t, New(Config{MCP: func(*client.Client, func() func()) MCPHandler { return okHandler{} }})).plain(t)
	require.Contains(t, c.mustAnswer(http.StatusBadRequest, "POST", "/mcp", "{}"), "Terminal-Agent-Key")
	c.header.Set("Terminal-Agent-Key", strings.Repeat("k", minKey))
	c.mustAnswer(http.StatusOK, "POST", "/mcp", "{}")
	c.client.CloseIdleConnections()
}

// rawProxy opens a session whose proxy the test plays itself.
func rawProxy(t *testing.T, d address, id string) *websocket.Conn {
	t.Helper()
	ws := d.mustConnect(t, protocol.PathProxy)
	message(t, ws, fake.Opening(id))
	message(t, ws, fake.Snapshot(id, 1, "hello"))
	// The gateway reads in order: once it complains about this message, it knows the session.
	message(t, ws, fake.Snapshot("nobody", 1, "x"))
	require.Equal(t, protocol.CodeNoSession, hear[*protocol.Error](t, ws).Code)
	return ws
}

// An agent that stops asking is gone, and the proxy revokes its control.
func TestASilentAgentGivesControlBack(t *testing.T) {
	_, tokens, store := tcp(t, Config{})
	s := New(Config{Tokens: store})
	s.callers.idleFor = time.Millisecond
	addr := serveTCP(t, s, nil)
	proxy := rawProxy(t, bearer(addr, tokens[auth.RoleProxy]), "vim-1")
	agent := bearer(addr, tokens[auth.RoleAgent]).plain(t)
	asked := make(chan int, 1)
	go func() { // ends with the answer
		status, _ := agent.do("POST", at+"control/request", controlBody)
		asked <- status
	}()
	ask := hear[*protocol.ControlRequest](t, proxy)
	message(t, proxy, &protocol.ControlGrant{ID: "g", RequestID: ask.RequestID, SessionID: "vim-1", AgentID: ask.AgentID, Level: ask.Level, Epoch: 1})
	require.Equal(t, http.StatusOK, <-asked)
	gone := hear[*protocol.ControlRelease](t, proxy)
	require.True(t, gone.Gone)
	require.Equal(t, ask.AgentID, gone.AgentID)
}

// R70: an agent that speaks plain HTTP is present while one of its requests is under way. Its proxy
// is told, with its token.
func TestAnHTTPAgentIsThereWhileItAsksR70(t *testing.T) {
	addr, tokens, _ := tcp(t, Config{})
	proxy := rawProxy(t, bearer(addr, tokens[auth.RoleProxy]), "vim-1")
	open := fake.Opening("vim-1")
	message(t, proxy, open)
	message(t, proxy, fake.Snapshot("nobody", 1, "x"))
	_ = hear[*protocol.Error](t, proxy)
	agent := bearer(addr, tokens[auth.RoleAgent]).plain(t)
	agent.mustAnswer(http.StatusAccepted, "POST", at+"control/request?timeoutMs=1", controlBody)
	ask := hear[*protocol.ControlRequest](t, proxy)
	require.Len(t, ask.TokenID, 16)
	hear[*protocol.Cancel](t, proxy) // the caller no longer waits for the answer
	for range 2 {
		away := hear[*protocol.AgentPresence](t, proxy)
		require.Equal(t, protocol.AgentPresence{SessionID: "vim-1", AgentID: ask.AgentID}, *away)
		agent.mustAnswer(http.StatusOK, "GET", "/v1/sessions", "")
		require.True(t, hear[*protocol.AgentPresence](t, proxy).Connected)
	}
	require.False(t, hear[*protocol.AgentPresence](t, proxy).Connected)
}

// A client that leaves stops waiting. The callers are bounded, and the one that was silent the
// longest goes first.
func TestCallersAreBounded(t *testing.T) {
	s := New(Config{})
	defer func() { require.NoError(t, s.Close()) }()
	enter := func(key string) *caller {
		v, err := s.callers.callerFor(auth.Identity{Role: auth.RoleAgent}, true, http.Header{}, key)
		require.NoError(t, err)
		return v
	}
	first := enter("first")
	first.FinishRequest()
	for i := range maxCallers - 1 {
		enter(string(rune('a'+i%26)) + strings.Repeat("x", i)).FinishRequest()
	}
	second := enter("one more")
	<-first.Ended()
	require.Len(t, s.callers.byID, maxCallers)
	require.Same(t, second, enter("one more"))
}
