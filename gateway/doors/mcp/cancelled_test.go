package mcp

import (
	"context"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"terminalproxy/protocol"
)

// A cancelled request gets no answer, nor does the notification. Other requests get theirs.
func TestACancelledRequestGetsNoAnswer(t *testing.T) {
	const ping = `{"jsonrpc":"2.0","id":7,"method":"ping"}`
	for _, tt := range []struct {
		name, id, cancel string
		answered         bool
	}{
		{"a number", "3", `{"requestId":3}`, false},
		{"a number for a text", `"3"`, `{"requestId":3}`, true},
		{"another request", "3", `{"requestId":4}`, true},
		{"no request", "3", `{}`, true},
		{"not an id", "3", `{"requestId":{}}`, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			f := newFake()
			waits, goes, ended := make(chan struct{}), make(chan struct{}), make(chan struct{})
			f.wait = func(ctx context.Context, _ *protocol.Wait) (*protocol.WaitResult, error) {
				defer close(ended)
				close(waits)
				select {
				case <-ctx.Done():
					return nil, context.Cause(ctx)
				case <-goes:
					return &protocol.WaitResult{Met: true}, nil
				}
			}
			c := dialServer(t, New(Config{Terminals: f}))
			shakeHands(t, c)
			c.send(t, `{"jsonrpc":"2.0","id":`+tt.id+`,"method":"tools/call","params":{"name":"terminal_wait","arguments":{"for":"text","value":"x"}}}`+"\n")
			<-waits
			c.send(t, `{"jsonrpc":"2.0","method":"notifications/cancelled","params":`+tt.cancel+"}\n")
			if tt.answered {
				close(goes)
				id, err := strconv.Unquote(tt.id)
				if err != nil {
					require.InEpsilon(t, 3, c.next(t)["id"], 0)
				} else {
					require.Equal(t, id, c.next(t)["id"])
				}
			}
			<-ended
			c.send(t, ping+"\n")
			require.InEpsilon(t, 7, c.next(t)["id"], 0)
			require.NoError(t, c.in.Close())
			require.NoError(t, <-c.ended)
			for line := range c.lines {
				require.NotContains(t, string(line), `"id":`+tt.id, "no answer at the end, either")
			}
		})
	}
}

func TestFewCancelledRequestsAreRemembered(t *testing.T) {
	var c cancelledRequests
	for i := range 10 * maxCancelled {
		c.add(float64(i))
	}
	require.Len(t, c.ids, maxCancelled)
	require.True(t, c.removeAnswered([]byte(`{"jsonrpc":"2.0","id":2559,"result":{}}`)))
	require.False(t, c.removeAnswered([]byte(`{"jsonrpc":"2.0","id":2559,"result":{}}`)), "once")
	require.False(t, c.removeAnswered([]byte(`{"jsonrpc":"2.0","id":2558,"method":"ping"}`)), "a request of the server's")
}

// shakeHands sends what an MCP client begins with.
func shakeHands(t *testing.T, c *lineClient) {
	t.Helper()
	c.send(t, `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"c","version":"1"}}}`+"\n")
	require.InEpsilon(t, 1, c.next(t)["id"], 0)
	c.send(t, `{"jsonrpc":"2.0","method":"notifications/initialized"}`+"\n")
}
