package client

import (
	"testing"

	"github.com/stretchr/testify/require"

	"terminalproxy/protocol"
)

// Frames come as the gateway wrote them, and end with the connection.
func TestFramesAreGivenAsTheyAre(t *testing.T) {
	cfg, conns := gateway(t, func(_ int64, m protocol.Message) protocol.Message {
		if protocol.RequestID(m) == "last" {
			return nil
		}
		return &protocol.Done{RequestID: protocol.RequestID(m)}
	})
	f, err := Open(t.Context(), cfg)
	require.NoError(t, err)
	defer f.Close()
	var wrong *protocol.FieldError
	require.ErrorAs(t, f.Send(&protocol.SessionsList{}), &wrong)
	require.NoError(t, f.Send(&protocol.SessionsList{RequestID: "1"}))
	got, err := f.Next()
	require.NoError(t, err)
	require.JSONEq(t, `{"type":"done","requestId":"1"}`, string(got))
	require.NoError(t, f.Send(&protocol.SessionsList{RequestID: "last"}))
	_, err = f.Next()
	require.ErrorIs(t, err, errLost)
	require.EqualValues(t, 1, conns.Load(), "it is not made again")
	f.Close()
	require.Error(t, f.Send(&protocol.SessionsList{RequestID: "2"}))
}
