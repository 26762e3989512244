package client

import (
	"testing"

	"github.com/stretchr/testify/require"

	"terminalproxy/protocol"
	"terminalproxy/protocol/fake"
)

// A viewer gets all rows of each screen, acknowledges one when it wants the next, and begins afresh
// on another connection.
func TestAViewIsWholeAndAcknowledged(t *testing.T) {
	screen := func(seq uint64, last string) *protocol.Rows {
		return &protocol.Rows{SessionID: "x", Seq: seq, Cols: 80, Rows: 3, Lines: []string{"one", "two", last}, State: &protocol.ViewState{Title: "t"}}
	}
	acked := make(chan uint64, 10)
	conns := 0
	c := start(t, talk(t, func(conn fake.Conn) {
		conns++
		m, err := conn.Next()
		if err != nil || conn.Send(&protocol.Done{RequestID: protocol.RequestID(m)}) != nil {
			return
		}
		if conns == 2 {
			_ = conn.Send(screen(1, "after").Difference(nil)) // of another gateway
			_, _ = conn.Next()
			_ = conn.Send(&protocol.SessionClose{ID: "c", SessionID: "x", ExitCode: 3})
			return
		}
		_ = conn.Send(screen(7, "three").Difference(nil))
		m, _ = conn.Next()
		acked <- m.(*protocol.Ack).Seq
		_ = conn.Send(screen(9, "four").Difference(screen(7, "three")))
	}))
	stream, err := c.View(t.Context(), "x", 0)
	require.NoError(t, err)
	require.Equal(t, "three", (<-stream).(*protocol.Rows).Lines[2])
	next := (<-stream).(*protocol.Rows)
	require.EqualValues(t, 7, <-acked)
	require.Equal(t, []string{"one", "two", "four"}, next.Lines)
	require.Equal(t, "t", next.State.Title)
	require.Equal(t, "after", (<-stream).(*protocol.Rows).Lines[2])
	require.Equal(t, 3, (<-stream).(*protocol.SessionClose).ExitCode)
	_, more := <-stream
	require.False(t, more)
}
