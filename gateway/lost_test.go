package gateway

import (
	"net/http"
	"testing"

	"github.com/gorilla/websocket"
	"github.com/stretchr/testify/require"

	"terminalproxy/gateway/access/auth"
	"terminalproxy/protocol"
	"terminalproxy/protocol/fake"
)

// The requests of programs that speak plain HTTP continue over the next connection of the session's
// proxy, under the same ids.
func TestHTTPRequestsOutlastALostLink(t *testing.T) {
	addr, tokens, _ := tcp(t, Config{})
	proxy := rawProxy(t, bearer(addr, tokens[auth.RoleProxy]), "vim-1")
	agent := bearer(addr, tokens[auth.RoleAgent]).plain(t)
	typed, waited := startRequest(agent, "input", `{"data":"ls"}`), startRequest(agent, "wait", `{"until":{"text":"$"},"timeoutMs":60000}`)
	ids := map[string]string{}
	listen := func(ws *websocket.Conn) {
		for range 2 {
			m := hear[protocol.Message](t, ws)
			if before := ids[protocol.KindOf(m)]; before != "" {
				require.Equal(t, before, protocol.RequestID(m), "by it the proxy knows what it has typed")
			}
			ids[protocol.KindOf(m)] = protocol.RequestID(m)
		}
	}
	listen(proxy)
	require.NoError(t, proxy.Close())
	proxy = bearer(addr, tokens[auth.RoleProxy]).mustConnect(t, protocol.PathProxy)
	message(t, proxy, fake.Opening("vim-1"))
	listen(proxy)
	message(t, proxy, &protocol.InputResult{ID: "i", RequestID: ids["terminal.input"], SessionID: "vim-1", Status: protocol.StatusWritten})
	message(t, proxy, &protocol.WaitResult{ID: "w", RequestID: ids["terminal.wait"], SessionID: "vim-1", Met: true})
	require.Contains(t, (<-typed).body, `"status":"written"`)
	require.Contains(t, (<-waited).body, `"met":true`)
}

// A gateway that ends does not know what became of an input, and says so.
func TestAnHTTPInputOfAnEndingGateway(t *testing.T) {
	_, tokens, store := tcp(t, Config{})
	s := New(Config{Tokens: store})
	addr := serveTCP(t, s, nil)
	proxy := rawProxy(t, bearer(addr, tokens[auth.RoleProxy]), "vim-1")
	typed := startRequest(bearer(addr, tokens[auth.RoleAgent]).plain(t), "input", `{"data":"ls"}`)
	hear[*protocol.Input](t, proxy)
	s.hub.Close()
	got := <-typed
	require.Equal(t, http.StatusServiceUnavailable, got.status)
	require.Contains(t, got.body, "it is unknown whether this was typed: try again with the same requestId")
}

type httpAnswer struct {
	status int
	body   string
}

// startRequest returns the answer to a pending request about session vim-1.
func startRequest(c *httpClient, what, body string) <-chan httpAnswer {
	out := make(chan httpAnswer, 1)
	go func() { // ends with the answer
		status, text := c.do("POST", at+what, body)
		out <- httpAnswer{status, text}
	}()
	return out
}
