package link

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gorilla/websocket"
	"github.com/stretchr/testify/require"

	"terminalproxy/protocol"
	"terminalproxy/protocol/fake"
)

// gate is a gateway that can be closed: new connections are refused, and existing ones cut.
type gate struct {
	*httptest.Server
	door   Door
	status atomic.Int64 // of refusals; 0 takes connections
	opens  chan *protocol.SessionOpen
	cut    chan struct{}
}

func newGate(t *testing.T, cluster string) *gate {
	t.Helper()
	g := &gate{opens: make(chan *protocol.SessionOpen, 16), cut: make(chan struct{})}
	up := websocket.Upgrader{Subprotocols: []string{protocol.Version}}
	g.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if status := g.status.Load(); status != 0 {
			http.Error(w, "no", int(status))
			return
		}
		ws, err := up.Upgrade(w, r, http.Header{protocol.HeaderCluster: {cluster}})
		if err != nil {
			return
		}
		defer ws.Close()
		go func() { // ends with the connection
			for {
				m, err := (fake.Conn{Conn: ws}).Next()
				if err != nil {
					return
				}
				if open, ok := m.(*protocol.SessionOpen); ok {
					g.opens <- open
				}
			}
		}()
		select {
		case <-g.cut:
		case <-t.Context().Done():
		}
	}))
	t.Cleanup(g.Close)
	addr := g.Listener.Addr().String()
	g.door = Door{URL: "ws://" + addr + protocol.PathProxy, Dial: func(ctx context.Context) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, "tcp", addr)
	}}
	return g
}

// closes refuses new connections with a status, and cuts existing ones.
func (g *gate) closes(status int) {
	g.status.Store(int64(status))
	g.cut <- struct{}{}
}

func (g *gate) name() string { return "ws://" + g.Listener.Addr().String() }

// linkTo runs a link to gates; its reports of moves and troubles come on told.
func linkTo(t *testing.T, gates ...*gate) (told chan string) {
	t.Helper()
	told = make(chan string, 16)
	c := Config{
		Dial: gates[0].door.Dial, URL: gates[0].door.URL, Handle: func(protocol.Message) {},
		Hello:   func() []protocol.Message { return []protocol.Message{hello} },
		Moved:   func(to string, together bool) { told <- fmt.Sprint("moved to ", to, " together ", together) },
		Trouble: func(err error) { told <- err.Error() },
	}
	for _, g := range gates[1:] {
		c.Others = append(c.Others, g.door)
	}
	l := New(c)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() { defer close(done); l.Run(ctx) }()
	t.Cleanup(func() { cancel(); fake.Receive(t, done, "the return of Run") })
	return told
}

// The session opens there with the same opening, and the user is told whether the two gateways know
// each other.
func TestALinkGoesToTheNextGateway(t *testing.T) {
	one, two, alone := newGate(t, "tp"), newGate(t, "tp"), newGate(t, "")
	told := linkTo(t, one, two, alone)
	fake.Receive(t, one.opens, "a session")
	one.closes(http.StatusServiceUnavailable)
	require.Equal(t, hello.SessionID, fake.Receive(t, two.opens, "a session").SessionID)
	require.Equal(t, "moved to "+two.name()+" together true", <-told)
	two.closes(http.StatusTooManyRequests)
	fake.Receive(t, alone.opens, "a session")
	require.Equal(t, "moved to "+alone.name()+" together false", <-told)
	one.status.Store(0)
	alone.closes(http.StatusBadGateway)
	fake.Receive(t, one.opens, "a session")
	require.Equal(t, "moved to "+one.name()+" together false", <-told)
	require.Empty(t, told, "none of that is a trouble")
}

// The link keeps asking the gateway that refused, and says so.
func TestALinkTakesARefusalForAnAnswer(t *testing.T) {
	one, two := newGate(t, ""), newGate(t, "")
	one.status.Store(http.StatusUnauthorized)
	told := linkTo(t, one, two)
	require.Contains(t, fake.Receive(t, told, "the trouble"), one.name()+": the gateway refused the connection (401 Unauthorized): no")
	one.status.Store(0)
	fake.Receive(t, one.opens, "a session")
	require.Empty(t, two.opens)
}

// The link leaves it even while no agent types; the gateway's kernel still takes what is sent.
func TestAGatewayOfSeveralThatStandsStillIsLeft(t *testing.T) {
	release := make(chan struct{})
	still := fake.Gateway(t, func(fake.Conn) { <-release })
	other, opens := newGate(t, ""), make(chan struct{}, 4)
	defer close(release)
	_, _ = link(t, Config{
		Dial: func(ctx context.Context) (net.Conn, error) {
			conn, err := still(ctx)
			return remoteConn{conn}, err
		},
		Others: []Door{other.door}, Urgent: func() bool { return false }, Every: 20 * time.Millisecond,
		Up: func() { opens <- struct{}{} },
	})
	fake.Receive(t, opens, "the first connection")
	fake.Receive(t, other.opens, "the session at the next gateway")
}
