package gateway

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"terminalproxy/gateway/access/auth"
	"terminalproxy/protocol"
)

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
