package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/require"

	"terminalproxy/cmd/internal/cli"
	"terminalproxy/cmd/internal/cli/clitest"
)

func TestServeOverTCPAndTheLocalSocket(t *testing.T) {
	dir := clitest.Isolate(t)
	tokens := filepath.Join(os.Getenv("XDG_STATE_HOME"), "terminalproxy", "tokens")
	made := func(role string) string {
		got := clitest.Command(t, "token", "create", role, "--role", role)
		require.Equal(t, cli.StatusOK, got.Status, got.Err)
		file := filepath.Join(t.TempDir(), role)
		require.NoError(t, os.WriteFile(file, []byte(got.Out), 0o600))
		return file
	}
	agent, viewer, proxy, owner := made("agent"), made("viewer"), made("proxy"), made("owner")
	s := clitest.Serve(t)
	require.Contains(t, s.Said, "tokens: "+tokens+" (create one with: gateway token create")

	token, err := os.ReadFile(proxy)
	require.NoError(t, err)
	p := &clitest.Terminal{ID: "sh-tcp"}
	p.Publish(t, s.URL, clitest.DialTCP(s.URL), strings.TrimSpace(string(token)))
	local := &clitest.Terminal{ID: "sh-local"}
	local.ShareIn(t, dir)

	got := clitest.Command(t, "ls", "--gateway", s.URL, "--token-file", agent)
	require.Equal(t, cli.StatusOK, got.Status, got.Err)
	require.Contains(t, got.Out, "sh-tcp")
	got = clitest.Command(t, "ls")
	require.Equal(t, cli.StatusOK, got.Status, got.Err)
	require.Contains(t, got.Out, "sh-local")

	got = clitest.Command(t, "ls", "--gateway", s.URL)
	require.Equal(t, cli.StatusForbidden, got.Status, got.Err)
	require.Empty(t, got.Out)
	require.Contains(t, got.Err, "hint: ")
	clitest.RunFailing(t, cli.StatusForbidden, "", "request", "sh-tcp", "--reason", "r", "--gateway", s.URL, "--token-file", viewer)

	// Viewers and owners have a path of their own, which the bearer of their token need not know.
	for _, line := range []string{"ls --token-file " + viewer, "read sh-tcp --token-file " + viewer, "ls --token-file " + owner, "reclaim sh-tcp --token-file " + owner} {
		got = clitest.Command(t, append(strings.Fields(line), "--gateway", s.URL)...)
		require.Equal(t, cli.StatusOK, got.Status, "%s\n%s", line, got.Err)
	}
	for _, line := range []string{"reclaim sh-tcp --token-file " + viewer, "reclaim sh-tcp --token-file " + agent, "reclaim sh-tcp"} {
		clitest.RunFailing(t, cli.StatusForbidden, "", append(strings.Fields(line), "--gateway", s.URL)...)
	}
	require.Len(t, p.Decided, 1)
	require.Equal(t, "owner", p.Decided[0].By, "the token's name")

	second := clitest.Serve(t)
	require.NoError(t, second.Cmd.Process.Signal(syscall.SIGINT))
	require.NoError(t, second.Cmd.Wait())
	require.Contains(t, second.Stderr.String(), fmt.Sprintf("(process %d) serves the local gateway already, on unix:%s/gateway.sock: this one serves %s alone\n"+
		"hint: gateway ls shows its sessions, gateway ls --gateway %s ", s.Cmd.Process.Pid, dir, second.URL, second.URL))

	require.NoError(t, s.Cmd.Process.Signal(syscall.SIGTERM))
	require.NoError(t, s.Cmd.Wait(), s.Stderr)
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	require.Empty(t, entries, "no socket is left")
}

func TestServeSaysWhyItCannot(t *testing.T) {
	clitest.Isolate(t)
	var taken net.ListenConfig
	ln, err := taken.Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer func() { _ = ln.Close() }()
	got := clitest.Command(t, "serve", "--listen", ln.Addr().String())
	got.MustFail(t, cli.StatusRefused, "address already in use")
	require.Contains(t, got.Err, "hint: another gateway may be running there")

	for _, address := range []string{"foo", "127.0.0.1:99999"} {
		got = clitest.Command(t, "serve", "--listen", address)
		got.MustFail(t, cli.StatusUsage, "serve: --listen \""+address+"\"")
		require.Contains(t, got.Err, "write it as 127.0.0.1:PORT")
		require.NotContains(t, got.Err, "another gateway")
	}
}

func toolText(t *testing.T, s *mcp.ClientSession, tool string, args map[string]any) string {
	t.Helper()
	got, err := s.CallTool(t.Context(), &mcp.CallToolParams{Name: tool, Arguments: args})
	require.NoError(t, err)
	out := got.Content[0].(*mcp.TextContent).Text
	require.False(t, got.IsError, out)
	return out
}

// patience bounds how long a client from npm may take. Nothing is expected to take nearly as long.
const patience = 5 * time.Minute

// inspector returns the command of the MCP inspector, a client from outside this project.
func inspector(t *testing.T) string {
	t.Helper()
	if os.Getenv("CLIENTS") == "" {
		t.Skip("a test of real clients: make clients runs it")
	}
	for _, path := range []string{os.Getenv("INSPECTOR"), filepath.Join("..", "..", ".ci", "node_modules", ".bin", "mcp-inspector")} {
		if _, err := os.Stat(path); path != "" && err == nil {
			return path
		}
	}
	path, err := exec.LookPath("mcp-inspector")
	if err != nil {
		t.Skip("the MCP inspector is not installed: npm install @modelcontextprotocol/inspector@2.12.0, or name it in $INSPECTOR")
	}
	return path
}

// Over standard input and output, where the inspector starts the server, and over HTTP.
func TestInspectorInBothEras_Client(t *testing.T) {
	bin := inspector(t)
	h := serveHTTP(t)
	self, err := os.Executable()
	require.NoError(t, err)
	config, err := json.Marshal(map[string]any{"mcpServers": map[string]any{"term": map[string]any{
		"command": self, "args": []string{"--gateway", strings.Replace(h.url, "http", "ws", 1), "--token-file", h.tokenFile(t), "mcp"},
		"env": map[string]string{clitest.AsProgram: "1"},
	}}})
	require.NoError(t, err)
	file := filepath.Join(t.TempDir(), "config.json")
	require.NoError(t, os.WriteFile(file, config, 0o600))
	const call = "tools/call --tool-name terminal_read --tool-args-json "
	for how, to := range map[string][]string{
		"stdio": {"--config", file, "--server", "term"},
		"http":  {"--transport", "http", "--server-url", h.url + "/mcp", "--header", "Authorization: Bearer " + h.token},
	} {
		for _, era := range []string{"legacy", "modern"} {
			t.Run(how+" "+era, func(t *testing.T) {
				for method, want := range map[string]string{
					"tools/list --strict":        "terminal_request_control", // lints the schemas
					call + `{"terminal":"sh-1"}`: `running \"sh -i\" 40x3`,
					call + `{"image":true}`:      "360x54 pixels, 9x18 to a cell",
				} {
					ctx, cancel := context.WithTimeout(t.Context(), patience)
					defer cancel()
					args := slices.Concat([]string{"--cli"}, to, []string{"--protocol-era", era, "-q", "--format", "json", "--method"}, strings.Fields(method))
					out, err := exec.CommandContext(ctx, bin, args...).CombinedOutput()
					require.NoError(t, err, "%s", out)
					require.Contains(t, string(out), want)
					require.False(t, strings.HasPrefix(method, "tools/list") && regexp.MustCompile(`(?i)warning|lint`).Match(out), "%s", out)
				}
			})
		}
	}
	out, err := exec.CommandContext(t.Context(), bin, "--cli", "--transport", "http", "--server-url", h.url+"/mcp", "--stored-auth-only", "--method", "tools/list").CombinedOutput()
	require.Error(t, err, "without the token: %s", out)
}
