package client

import (
	"io"
	"net/http"
	"testing"
	"testing/synctest"

	"github.com/gorilla/websocket"
	"github.com/stretchr/testify/require"

	"terminalproxy/protocol"
	"terminalproxy/protocol/fake"
)

// pipedGateway serves a gateway in memory, so that its time can be the test's.
func pipedGateway(t *testing.T, serve func(fake.Conn)) fake.Dialer {
	t.Helper()
	ln, dial := fake.Pipes()
	up := websocket.Upgrader{Subprotocols: []string{protocol.Version}}
	server := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if conn, err := up.Upgrade(w, r, nil); err == nil {
			serve(fake.Conn{Conn: conn})
			_ = conn.Close()
		}
	})}
	go func() { _ = server.Serve(ln) }() // ends with Close
	t.Cleanup(func() { _ = server.Close() })
	return dial
}

// Both a client that waits for an answer and one that only reads leave a gateway that stands still,
// if there are several. The gateway's kernel still takes what is sent.
func TestAGatewayOfSeveralThatStandsStillIsLeft(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		answers := func(m protocol.Message) protocol.Message {
			if r, ok := m.(*protocol.Read); ok {
				return &protocol.ReadResult{ID: "r", RequestID: r.RequestID, SessionID: r.SessionID, Frame: &protocol.Frame{Seq: 2, Screen: protocol.Screen{Cols: 1, Rows: 1, Lines: []string{""}}}}
			}
			return &protocol.Done{RequestID: protocol.RequestID(m)}
		}
		still := pipedGateway(t, func(c fake.Conn) {
			if m, err := c.Next(); err == nil {
				if _, read := m.(*protocol.Read); !read {
					_ = c.Send(answers(m))
				}
			}
			_, _ = io.Copy(io.Discard, c.NetConn())
		})
		moved := make(chan protocol.Message, 4)
		other := pipedGateway(t, func(c fake.Conn) {
			_ = c.Answer(func(m protocol.Message) protocol.Message { moved <- m; return answers(m) })
		})
		c := start(t, Config{
			URL: "ws://a" + protocol.PathAgent, Dial: still, Others: []Door{{URL: "ws://b" + protocol.PathAgent, Dial: other}},
		})
		_, err := c.Subscribe(t.Context(), "x", 0)
		require.NoError(t, err)
		r, err := c.Read(t.Context(), &protocol.Read{SessionID: "x"})
		require.NoError(t, err)
		require.Equal(t, uint64(2), r.Frame.Seq)
		kinds := map[string]bool{}
		for range 2 {
			kinds[protocol.KindOf(<-moved)] = true
		}
		require.Len(t, kinds, 2, "the reader came, too")
	})
}
