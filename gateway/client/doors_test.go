package client

import (
	"context"
	"net"
	"testing"

	"github.com/stretchr/testify/require"

	"terminalproxy/protocol"
	"terminalproxy/protocol/fake"
)

// remoteConn is a connection that comes from another machine.
type remoteConn struct{ net.Conn }

func (remoteConn) RemoteAddr() net.Addr { return &net.TCPAddr{} }

func fromElsewhere(dial fake.Dialer) func(context.Context) (net.Conn, error) {
	return func(ctx context.Context) (net.Conn, error) {
		conn, err := dial(ctx)
		return remoteConn{conn}, err
	}
}

// Both a client that waits for an answer and one that only reads leave a gateway that stands still,
// if there are several. The gateway's kernel still takes what is sent.
func TestAGatewayOfSeveralThatStandsStillIsLeft(t *testing.T) {
	t.Parallel()
	release := make(chan struct{})
	answers := func(m protocol.Message) protocol.Message {
		if r, ok := m.(*protocol.Read); ok {
			return &protocol.ReadResult{ID: "r", RequestID: r.RequestID, SessionID: r.SessionID, Frame: &protocol.Frame{Seq: 2, Screen: protocol.Screen{Cols: 1, Rows: 1, Lines: []string{""}}}}
		}
		return &protocol.Done{RequestID: protocol.RequestID(m)}
	}
	still := fake.Gateway(t, func(c fake.Conn) {
		if m, err := c.Next(); err == nil {
			if _, read := m.(*protocol.Read); !read {
				_ = c.Send(answers(m))
			}
		}
		<-release
	})
	moved := make(chan protocol.Message, 4)
	other := fake.Gateway(t, func(c fake.Conn) { // ends with the client
		_ = c.Answer(func(m protocol.Message) protocol.Message { moved <- m; return answers(m) })
	})
	defer close(release)
	c := start(t, Config{
		URL: "ws://a" + protocol.PathAgent, Dial: fromElsewhere(still),
		Others: []Door{{URL: "ws://b" + protocol.PathAgent, Dial: fromElsewhere(other)}},
	})
	_, err := c.Subscribe(t.Context(), "x", 0)
	require.NoError(t, err)
	r, err := c.Read(fake.Within(t), &protocol.Read{SessionID: "x"})
	require.NoError(t, err)
	require.Equal(t, uint64(2), r.Frame.Seq)
	kinds := map[string]bool{}
	for range 2 {
		kinds[protocol.KindOf(fake.Receive(t, moved, "what was asked at the other"))] = true
	}
	require.Len(t, kinds, 2, "the reader came, too")
}
