package gateway

import (
	"encoding/json"
	"net/http"
	"net/http/httputil"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/require"

	"terminalproxy/gateway/access/auth"
	"terminalproxy/gateway/client"
	"terminalproxy/gateway/doors/mcp"
)

// idleTime is how long the participant's own session is quiet.
var idleTime = regexp.MustCompile(`idle [0-9.]+m?s`)

// bodies are the request bodies of the paths that have one.
var bodies = map[string]string{
	"/input":           `{"data":"x"}`,
	"/wait":            `{"until":{"exit":true}}`,
	"/message":         `{"text":"hello"}`,
	"/control/request": controlBody,
	"/control/mute":    `{"agentName":"claude"}`,
}

// divided is a gateway with tokens of two namespaces. The session vim-1, if it exists, runs in b.
type divided struct {
	addr   string
	tokens map[auth.Role]string // of the namespace a
}

func divide(t *testing.T, there bool) divided {
	t.Helper()
	store, err := auth.OpenStore(filepath.Join(t.TempDir(), "private", "tokens"), nil)
	require.NoError(t, err)
	token := func(ns string, role auth.Role) string {
		secret, err := store.Create(auth.Token{Name: "the-" + ns + "-" + string(role), Role: role, Namespace: ns})
		require.NoError(t, err)
		return secret
	}
	d := divided{tokens: make(map[auth.Role]string)}
	for _, role := range auth.Roles {
		d.tokens[role] = token("a", role)
	}
	d.addr = serveTCP(t, New(Config{Tokens: store, MCP: func(c *client.Client, _ func() func()) MCPHandler {
		return mcp.NewHTTP(mcp.Config{Terminals: c, Mark: func() string { return "mark" }})
	}}), nil)
	rawProxy(t, bearer(d.addr, d.tokens[auth.RoleProxy]), "own-2")
	if there {
		rawProxy(t, bearer(d.addr, token("b", auth.RoleProxy)), "vim-1")
	}
	return d
}

// R56: a caller over HTTP cannot learn that a session of another namespace exists. The paths are
// those of the API's document.
func TestHTTPDoesNotRevealASessionR56(t *testing.T) {
	without, with := divide(t, false), divide(t, true)
	var api struct {
		Paths map[string]map[string]any
	}
	document := bearer(without.addr, without.tokens[auth.RoleAgent]).plain(t).mustAnswer(http.StatusOK, http.MethodGet, "/v1/openapi.json", "")
	require.NoError(t, json.Unmarshal([]byte(document), &api))
	for path, methods := range api.Paths {
		if !strings.Contains(path, "{id}") {
			continue
		}
		_, rest, _ := strings.Cut(path, "{id}")
		for method := range methods {
			for _, role := range []auth.Role{auth.RoleAgent, auth.RoleViewer, auth.RoleOwner} {
				t.Run(string(role)+" "+method+" "+path, func(t *testing.T) {
					ask := func(d divided) string {
						resp := bearer(d.addr, d.tokens[role]).plain(t).request(t.Context(), strings.ToUpper(method), "/v1/sessions/vim-1"+rest, bodies[rest])
						defer func() { _ = resp.Body.Close() }()
						require.GreaterOrEqual(t, resp.StatusCode, 400)
						resp.Header.Del("Date")
						dump, err := httputil.DumpResponse(resp, true)
						require.NoError(t, err)
						return string(dump)
					}
					require.Equal(t, ask(without), ask(with))
				})
			}
		}
	}
}

// R56: nor can an agent over MCP, by any tool.
func TestMCPDoesNotRevealASessionR56(t *testing.T) {
	connect := func(t *testing.T, d divided) *sdk.ClientSession {
		t.Helper()
		transport := http.DefaultTransport.(*http.Transport).Clone()
		t.Cleanup(transport.CloseIdleConnections)
		c := sdk.NewClient(&sdk.Implementation{Name: "tester"}, nil)
		s, err := c.Connect(t.Context(), &sdk.StreamableClientTransport{
			Endpoint: "http://" + d.addr + "/mcp", HTTPClient: &http.Client{Transport: withHeader{bearer(d.addr, d.tokens[auth.RoleAgent]).header, transport}},
		}, nil)
		require.NoError(t, err)
		t.Cleanup(func() { _ = s.Close() })
		return s
	}
	without, with := connect(t, divide(t, false)), connect(t, divide(t, true))
	tools, err := with.ListTools(t.Context(), nil)
	require.NoError(t, err)
	arguments := map[string]any{"terminal": "vim-1", "reason": "r", "text": "x", "for": "exit", "message": "hello"}
	for _, tool := range tools.Tools {
		t.Run(tool.Name, func(t *testing.T) {
			given := map[string]any{}
			for name := range tool.InputSchema.(map[string]any)["properties"].(map[string]any) { //nolint:forcetypeassert // a JSON object
				if value, ok := arguments[name]; ok {
					given[name] = value
				}
			}
			call := func(s *sdk.ClientSession) string {
				got, err := s.CallTool(t.Context(), &sdk.CallToolParams{Name: tool.Name, Arguments: given})
				require.NoError(t, err)
				out, err := json.Marshal(got)
				require.NoError(t, err)
				return idleTime.ReplaceAllString(string(out), "idle 1s")
			}
			require.Equal(t, call(without), call(with))
		})
	}
}

// withHeader adds headers to requests.
type withHeader struct {
	header http.Header
	next   http.RoundTripper
}

// RoundTrip implements http.RoundTripper.
func (w withHeader) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	for name, values := range w.header {
		r.Header[name] = values
	}
	return w.next.RoundTrip(r)
}
