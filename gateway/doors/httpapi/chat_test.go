package httpapi

import (
	"context"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"terminalproxy/protocol"
)

func TestTheConversationOverHTTP(t *testing.T) {
	var asked protocol.Message
	hidden, nothing := false, false
	v := &caller{role: RoleOwner, answer: func(ctx context.Context, m protocol.Message) (protocol.Message, error) {
		if _, lists := m.(*protocol.SessionsList); lists && !hidden {
			return plain(ctx, m)
		}
		asked = m
		switch m.(type) {
		case *protocol.SessionsList:
			return &protocol.SessionsListResult{Sessions: []protocol.SessionInfo{{SessionID: "vim-1", Blackout: &protocol.Hidden{Why: protocol.BlackoutUser}}}}, nil
		case *protocol.ChatSubscribe:
			if nothing {
				<-ctx.Done()
				return nil, ctx.Err()
			}
		}
		return plain(ctx, m)
	}}
	server := serve(t, v)
	got := server.do("GET", "/v1/sessions/vim-1/chat?after=3", "")
	require.JSONEq(t, `{"sessionId":"vim-1","lost":2,"records":[{"number":6,"at":5,"request":{"id":"t1","tool":"Bash","input":{"command":"make"},"allows":[{"verdict":"once"}]}}]}`, got.body)
	nothing = true
	got = server.do("GET", "/v1/sessions/vim-1/chat?after=6&timeoutMs=1", "")
	require.JSONEq(t, `{"sessionId":"vim-1","records":[]}`, got.body)
	server.do("POST", "/v1/sessions/vim-1/chat/answer", `{"request":"t1","answer":{"words":"no"},"by":"ada"}`)
	require.Equal(t, &protocol.ChatAnswer{RequestID: "made-up", SessionID: "vim-1", Request: "t1", By: "ada", Answer: protocol.ChatReply{Words: "no"}}, asked)
	v.role = RoleAgent
	require.Equal(t, http.StatusForbidden, server.do("POST", "/v1/sessions/vim-1/chat/answer", `{"request":"t1","answer":{}}`).status)
	hidden, asked = true, nil
	got = server.do("GET", "/v1/sessions/vim-1/chat", "")
	require.Contains(t, got.body, `"code":"blackout"`)
	_, listed := asked.(*protocol.SessionsList)
	require.True(t, listed, "a hidden conversation is not asked for")
}
