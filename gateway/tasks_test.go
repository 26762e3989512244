package gateway

import (
	"net/http"
	"regexp"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"terminalproxy/gateway/access/auth"
	"terminalproxy/gateway/client"
	"terminalproxy/gateway/doors/mcp"
)

// A task over HTTP is its token's alone. While it runs, its agent counts as connected between two
// requests.
func TestATaskBelongsToItsToken(t *testing.T) {
	const meta = `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"c","version":"1"},"io.modelcontextprotocol/clientCapabilities":{"extensions":{"io.modelcontextprotocol/tasks":{}}}}`
	var server *Server
	store, err := auth.OpenStore(t.TempDir()+"/private/tokens", nil)
	require.NoError(t, err)
	token := func(name string, role auth.Role) string {
		secret, err := store.Create(auth.Token{Name: name, Role: role})
		require.NoError(t, err)
		return secret
	}
	server = New(Config{Tokens: store, MCP: func(c *client.Client, hold func() func()) MCPHandler {
		return mcp.NewHTTP(mcp.Config{Terminals: c, TaskAfter: time.Nanosecond, Hold: hold})
	}})
	addr := serveTCP(t, server, nil)
	rawProxy(t, bearer(addr, token("proxy", auth.RoleProxy)), "vim-1")
	ask := func(secret, method, params string, status int) string {
		t.Helper()
		c := bearer(addr, secret).plain(t)
		for name, value := range map[string]string{
			"Accept": "application/json, text/event-stream", "Mcp-Protocol-Version": "2026-07-28", "Mcp-Method": method, "Mcp-Name": "terminal_wait",
		} {
			c.header.Set(name, value)
		}
		return c.mustAnswer(status, "POST", "/mcp", `{"jsonrpc":"2.0","id":1,"method":"`+method+`","params":{`+params+`,`+meta+`}}`)
	}
	one, other := token("one", auth.RoleAgent), token("other", auth.RoleAgent)
	got := ask(one, "tools/call", `"name":"terminal_wait","arguments":{"for":"text","value":"x"}`, http.StatusOK)
	id := regexp.MustCompile(`"taskId":"\w+"`).FindString(got)
	require.NotEmpty(t, id, got)
	require.Contains(t, ask(one, "tasks/get", id, http.StatusOK), `"status":"working"`)
	for _, method := range []string{"tasks/get", "tasks/cancel", "tasks/update"} {
		require.Contains(t, ask(other, method, id, http.StatusBadRequest), "no such task")
	}
	held := func() (n int) {
		server.callers.mu.Lock()
		defer server.callers.mu.Unlock()
		for _, p := range server.callers.byID {
			n += p.requests
		}
		return n
	}
	require.Eventually(t, func() bool { return held() == 1 }, time.Minute, time.Millisecond)
	ask(one, "tasks/cancel", id, http.StatusOK)
	require.Eventually(t, func() bool { return held() == 0 }, time.Minute, time.Millisecond)
	require.Contains(t, ask(one, "tasks/get", id, http.StatusOK), `"status":"cancelled"`)
}
