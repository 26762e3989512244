package httpapi

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"terminalproxy/protocol"
)

func TestInputThatDidNotArriveSaysWhyAndWhatToDo(t *testing.T) {
	v := &caller{role: RoleAgent}
	server := serve(t, v)
	for _, c := range []struct {
		result protocol.InputResult
		status int
		say    string
	}{
		{protocol.InputResult{Status: protocol.StatusRefused, Reason: protocol.CodeNoGrant}, 403, "you do not have the keyboard: ask with POST control/request first"},
		{protocol.InputResult{Status: protocol.StatusRefused, Reason: protocol.CodeScreenChanged, Frame: frame()}, 412, "look with GET screen before you type again"},
		{protocol.InputResult{Status: protocol.StatusRefused, Reason: protocol.CodeBlackout}, 423, "the user hides the screen"},
		{protocol.InputResult{Status: protocol.StatusDropped, Ended: protocol.ReasonReclaimed, WrittenBytes: 2, DroppedBytes: 3}, 409, "the user took the keyboard back; 2 bytes reached the program, 3 did not"},
	} {
		v.answer = func(context.Context, protocol.Message) (protocol.Message, error) { return &c.result, nil }
		got := server.do("POST", "/v1/sessions/vim-1/input", `{"data":"hello"}`)
		require.Equal(t, c.status, got.status)
		require.Contains(t, got.body, c.say)
		require.Contains(t, got.body, `"result":{`)
	}
}

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
