package link

import (
	"context"
	"net"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"terminalproxy/protocol/fake"
	"terminalproxy/protocol/handshake"
)

// remoteConn is a connection that comes from another machine.
type remoteConn struct{ net.Conn }

func (remoteConn) RemoteAddr() net.Addr { return &net.TCPAddr{} }

// Its host disappears, which no kernel reports. A gateway that answers stays.
func TestALostGatewayIsNoticedSoonWhileAnAgentTypes(t *testing.T) {
	release, pings, conns := make(chan struct{}), make(chan struct{}, 100), atomic.Int64{}
	reach := fake.Gateway(t, func(conn fake.Conn) {
		if conns.Add(1) == 1 {
			<-release // it reads nothing, and answers no ping
			return
		}
		answer := conn.PingHandler()
		conn.SetPingHandler(func(data string) error {
			pings <- struct{}{}
			return answer(data)
		})
		for m := hear(t, conn); m != nil; { // ends with the link
			m = hear(t, conn)
		}
	})
	defer close(release)
	var urgent atomic.Bool
	var looks atomic.Int64
	ups, downs := make(chan struct{}, 4), make(chan struct{}, 4)
	_, stop := link(t, Config{
		Dial: func(ctx context.Context) (net.Conn, error) {
			conn, err := reach(ctx)
			return remoteConn{conn}, err
		},
		Urgent: func() bool { looks.Add(1); return urgent.Load() }, Every: 200 * time.Millisecond,
		Up: func() { ups <- struct{}{} }, Down: func() { downs <- struct{}{} },
	})
	<-ups
	for looks.Load() < handshake.MaxMissed+2 {
		time.Sleep(time.Millisecond)
	}
	require.Empty(t, downs, "without a grant there is no hurry")
	urgent.Store(true)
	fake.Receive(t, downs, "the end of a connection that answers no ping")
	<-ups
	for range handshake.MaxMissed + 2 {
		fake.Receive(t, pings, "a ping")
	}
	stop()
	require.Len(t, downs, 1)
}
