package httpapi

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"terminalproxy/protocol"
)

// R71: HTTP, too, tells an agent that asks too soon when it may ask again.
func TestAnEarlyRequestIsToldWhenToRetryR71(t *testing.T) {
	v := &caller{role: RoleAgent}
	server := serve(t, v)
	refusal := &protocol.Error{Code: protocol.CodeBusy, Message: "the user refused you: you may ask again in 10s", RetryAfterMs: 9001}
	v.answer = func(context.Context, protocol.Message) (protocol.Message, error) { return nil, refusal }
	got := server.do("POST", "/v1/sessions/vim-1/control/request", `{"level":"drive","reason":"x"}`)
	require.Equal(t, 409, got.status)
	require.Equal(t, "10", got.header.Get("Retry-After"))
	require.Contains(t, got.body, `"retryAfterMs":9001`)

	refusal.RetryAfterMs = 0 // until the user opens the menu
	got = server.do("POST", "/v1/sessions/vim-1/control/request", `{"level":"drive","reason":"x"}`)
	require.Empty(t, got.header.Get("Retry-After"))
	require.NotContains(t, got.body, "retryAfterMs")
}
