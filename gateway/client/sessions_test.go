package client

import (
	"testing"

	"github.com/stretchr/testify/require"

	"terminalproxy/protocol"
	"terminalproxy/protocol/fake"
)

// The list survives a change of gateway, which sends all of it anew.
func TestTheListOfSessionsIsWatched(t *testing.T) {
	conns := 0
	c := start(t, talk(t, func(conn fake.Conn) {
		conns++
		m, err := conn.Next()
		if err != nil || conn.Send(&protocol.Done{RequestID: protocol.RequestID(m)}) != nil {
			return
		}
		_ = conn.Send(&protocol.SessionsChanged{Full: true, Sessions: []protocol.SessionInfo{{SessionID: "x", Cols: conns}}})
		if conns == 1 {
			_ = conn.Send(&protocol.SessionsChanged{Sessions: []protocol.SessionInfo{}, Gone: []string{"x"}})
			return
		}
		_, _ = conn.Next()
	}))
	stream, err := c.WatchSessions(t.Context())
	require.NoError(t, err)
	require.Equal(t, 1, (<-stream).(*protocol.SessionsChanged).Sessions[0].Cols)
	require.Equal(t, []string{"x"}, (<-stream).(*protocol.SessionsChanged).Gone)
	again := (<-stream).(*protocol.SessionsChanged)
	require.True(t, again.Full)
	require.Equal(t, 2, again.Sessions[0].Cols)
}
