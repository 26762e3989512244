package httpapi

import (
	"context"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"terminalproxy/protocol"
)

// R38: an agent writes to the user and an owner to the agent; the body cannot turn one into the
// other.
func TestTheTokenDecidesTheWriterR38(t *testing.T) {
	for role, from := range map[string]string{RoleAgent: protocol.FromAgent, RoleOwner: protocol.FromUser} {
		var asked protocol.Message
		v := &caller{role: role, answer: func(_ context.Context, m protocol.Message) (protocol.Message, error) {
			asked = m
			return &protocol.Done{RequestID: protocol.RequestID(m), Waiting: protocol.WaitsForAnswer}, nil
		}}
		server := serve(t, v)
		got := server.do("POST", "/v1/sessions/vim-1/message", `{"text":"done"}`)
		require.Equal(t, http.StatusOK, got.status, got.body)
		require.JSONEq(t, `{"requestId":"made-up","waiting":"question"}`, got.body)
		require.Equal(t, &protocol.Note{RequestID: "made-up", SessionID: "vim-1", From: from, Text: "done"}, asked)
		for body, say := range map[string]string{
			`{"text":"done","from":"user"}`: "leave it out", `{"text":""}`: "is missing", `{"say":"x","text":"y"}`: "the request takes requestId, agentName, by, text",
		} {
			got := server.do("POST", "/v1/sessions/vim-1/message", body)
			require.Equal(t, http.StatusBadRequest, got.status)
			require.Contains(t, got.body, say)
		}
	}
}
