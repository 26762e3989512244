package main

import (
	"context"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/require"

	"terminalproxy/cmd/internal/cli"
	"terminalproxy/cmd/internal/cli/clitest"
	"terminalproxy/protocol/fake"
)

// overHTTP is a gateway on TCP with one session, and an agent's way in.
type overHTTP struct {
	url, token string
	terminal   *clitest.Terminal
}

func serveHTTP(t *testing.T) overHTTP {
	t.Helper()
	clitest.Isolate(t)
	tokens := map[string]string{}
	for _, role := range []string{"proxy", "agent"} {
		got := clitest.Command(t, "token", "create", role, "--role", role)
		require.Equal(t, cli.StatusOK, got.Status, got.Err)
		tokens[role] = strings.TrimSpace(got.Out)
	}
	s := clitest.Serve(t)
	p := &clitest.Terminal{ID: "sh-1", Asked: make(chan string, 1), Cancelled: make(chan string, 1)}
	p.Publish(t, s.URL, clitest.DialTCP(s.URL), tokens["proxy"])
	return overHTTP{"http" + strings.TrimPrefix(s.URL, "ws"), tokens["agent"], p}
}

// tokenFile writes the agent's token to a file.
func (h overHTTP) tokenFile(t *testing.T) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "token")
	require.NoError(t, os.WriteFile(file, []byte(h.token), 0o600))
	return file
}

// withToken adds the headers that identify an agent over HTTP.
type withToken struct {
	token string
	next  http.RoundTripper
}

func (w withToken) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+w.token)
	return w.next.RoundTrip(r)
}

func TestMCPOverHTTPInBothEras(t *testing.T) {
	for _, era := range []string{"2025-06-18", "2026-07-28"} {
		t.Run(era, func(t *testing.T) {
			h := serveHTTP(t)
			transport := http.DefaultTransport.(*http.Transport).Clone()
			defer transport.CloseIdleConnections()
			c := mcp.NewClient(&mcp.Implementation{Name: "tester"}, nil)
			s, err := c.Connect(t.Context(), &mcp.StreamableClientTransport{
				Endpoint: h.url + "/mcp", HTTPClient: &http.Client{Transport: withToken{h.token, transport}},
			}, &mcp.ClientSessionOptions{ProtocolVersion: era})
			require.NoError(t, err)
			defer func() { _ = s.Close() }()
			require.Contains(t, toolText(t, s, "terminal_read", nil), `sh-1 rev 1 cursor 1,1 running "sh -i" 40x3 keyboard: user`)
			require.Contains(t, toolText(t, s, "terminal_request_control", map[string]any{"reason": "r"}), "granted")
			require.Contains(t, toolText(t, s, "terminal_send", map[string]any{"text": "ls", "enter": true}), "\nran\n", "the same agent in the next request")
			require.Contains(t, toolText(t, s, "terminal_release", nil), "released")

			// A call that the client cancels ends, and so does the proxy's wait.
			ctx, cancel := context.WithCancel(t.Context())
			ended := make(chan error, 1)
			go func() { // ends with cancel
				_, err := s.CallTool(ctx, &mcp.CallToolParams{Name: "terminal_wait", Arguments: map[string]any{"for": "exit"}})
				ended <- err
			}()
			asked := fake.Receive(t, h.terminal.Asked, "the wait")
			cancel()
			require.ErrorIs(t, fake.Receive(t, ended, "the end of the call"), context.Canceled)
			require.Equal(t, asked, fake.Receive(t, h.terminal.Cancelled, "the end of the proxy's wait"))
		})
	}
}

// sdk returns the folder of the npm packages for the tests, or skips the test if name is not there.
func sdk(t *testing.T, name string) (root string) {
	t.Helper()
	if os.Getenv("CLIENTS") == "" {
		t.Skip("a test of real clients: make clients runs it")
	}
	if _, err := exec.LookPath("node"); err != nil {
		t.Skip("node is not installed")
	}
	root, err := filepath.Abs(filepath.Join("..", "..", ".ci"))
	require.NoError(t, err)
	if _, err := os.Stat(filepath.Join(root, "node_modules", name)); err != nil {
		t.Skip("the TypeScript SDK is not installed: npm install --prefix .ci")
	}
	return root
}

// Both generations of the TypeScript SDK drive the server, over stdio and over HTTP: tools, errors,
// progress, cancellation.
func TestTypeScriptClients_Client(t *testing.T) {
	for _, c := range []struct{ script, name, era string }{
		{"sdk1.mjs", "@modelcontextprotocol/sdk", ""},
		{"sdk2.mjs", "@modelcontextprotocol/client", "legacy"},
		{"sdk2.mjs", "@modelcontextprotocol/client", "auto"},
		{"sdk2.mjs", "@modelcontextprotocol/client", "modern"},
	} {
		for _, how := range []string{"stdio", "http"} {
			t.Run(c.script+" "+c.era+" "+how, func(t *testing.T) {
				root := sdk(t, c.name)
				ctx, cancel := context.WithTimeout(t.Context(), patience)
				defer cancel()
				args := []string{filepath.Join("testdata", "clients", c.script), how}
				env := append(os.Environ(), "SDK_ROOT="+root, "ERA="+c.era, "NODE_NO_WARNINGS=1")
				if how == "http" {
					h := serveHTTP(t)
					args = append(args, h.url+"/mcp", h.token)
				} else {
					dir := clitest.Isolate(t)
					(&clitest.Terminal{ID: "sh-1"}).ShareIn(t, dir)
					self, err := os.Executable()
					require.NoError(t, err)
					args = append(args, self, "mcp")
					env = append(env, clitest.AsProgram+"=1", "TERMINALPROXY_DIR="+dir, "XDG_STATE_HOME="+os.Getenv("XDG_STATE_HOME"))
				}
				cmd := exec.CommandContext(ctx, "node", args...)
				cmd.Env = env
				out, err := cmd.CombinedOutput()
				require.NoError(t, err, "%s", out)
				for _, want := range []string{
					"SERVER ok", "TOOLS ok", "READ ok", "IMAGE ok", "ERROR ok", "PROGRESS ok", "CANCEL ok", "DONE",
				} {
					require.Contains(t, string(out), want, "%s", out)
				}
			})
		}
	}
}

func TestPermissionNeedsASession(t *testing.T) {
	clitest.Isolate(t)
	clitest.RunFailing(t, 2, "--session ID", "mcp", "--permission")
	clitest.RunFailing(t, 2, "belongs to --permission", "mcp", "--session", "x")
}
