package ws

import (
	"bytes"
	"context"
	"crypto/tls"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gorilla/websocket"
	"github.com/stretchr/testify/require"

	"terminalproxy/protocol"
	"terminalproxy/protocol/fake"
)

// carried is a loop whose messages are put without waiting.
type carried struct {
	*loop
	mu   sync.Mutex
	turn func()
	due  []protocol.Message
	busy bool
}

func (c *carried) SetNotify(turn func()) {
	c.mu.Lock()
	c.turn = turn
	c.mu.Unlock()
}

func (c *carried) put(m protocol.Message) {
	c.mu.Lock()
	c.due = append(c.due, m)
	turn := c.turn
	if c.busy {
		turn = func() {}
	}
	c.busy = true
	c.mu.Unlock()
	turn()
}

func (c *carried) TryNext() (protocol.Message, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.due) == 0 {
		c.busy = false
		return nil, nil //nolint:nilnil // no message
	}
	m := c.due[0]
	c.due = c.due[1:]
	return m, nil
}

// carries serves a carried peer, over TLS or without, through sockets or pipes, and returns its other
// end.
func carries(t *testing.T, secure, piped bool, times Times) (*carried, *websocket.Conn) {
	t.Helper()
	peer, ready := &carried{loop: newLoop()}, make(chan struct{})
	d := New(Config{
		Authenticate: func(*http.Request) (Access, error) {
			return Access{Limit: 1000, Join: func() Peer { return peer }}, nil
		},
		CheckOrigin: func(*http.Request) bool { return true },
		CloseCode:   func(error, bool) (int, string) { return websocket.CloseGoingAway, "bye" },
		Times:       times,
	})
	s := httptest.NewUnstartedServer(d)
	dialer := websocket.Dialer{Subprotocols: []string{protocol.Version}}
	if piped {
		require.NoError(t, s.Listener.Close())
		ln, dial := fake.Pipes()
		s.Listener = ln
		dialer.NetDialContext = func(ctx context.Context, _, _ string) (net.Conn, error) { return dial(ctx) }
	}
	if secure {
		s.StartTLS()
		dialer.TLSClientConfig = &tls.Config{RootCAs: s.Client().Transport.(*http.Transport).TLSClientConfig.RootCAs, ServerName: "example.com"} //nolint:gosec // a test's
	} else {
		s.Start()
	}
	t.Cleanup(s.Close)
	t.Cleanup(func() { require.NoError(t, d.Close()) })
	conn, resp, err := dialer.DialContext(t.Context(), "ws"+strings.TrimPrefix(s.URL, "http"), nil)
	require.NoError(t, err)
	require.NoError(t, resp.Body.Close())
	t.Cleanup(func() { _ = conn.Close() })
	require.NoError(t, conn.WriteMessage(websocket.TextMessage, []byte(`{"type":"done","requestId":"r"}`)))
	go func() { <-peer.handled; close(ready) }() // ends with the message
	<-ready
	return peer, conn
}

// The peer reads nothing while messages of all sizes are put, and no put waits. The answer to the
// peer's ping comes between two of the messages.
func TestACarriedPeerGetsAllInOrder(t *testing.T) {
	for _, secure := range []bool{false, true} {
		t.Run(fmt.Sprint("secure ", secure), func(t *testing.T) {
			peer, conn := carries(t, secure, false, Times{})
			const messages = 300
			said := func(i int) *protocol.Output {
				return &protocol.Output{ID: "o", SessionID: "vim-1", Seq: uint64(i), DataB64: bytes.Repeat([]byte("x"), 1+i*i/3)}
			}
			for i := range messages {
				peer.put(said(i))
				if i == messages/2 {
					require.NoError(t, conn.WriteControl(websocket.PingMessage, []byte("p"), time.Now().Add(2*time.Minute)))
				}
			}
			pongs := 0
			conn.SetPongHandler(func(string) error { pongs++; return nil })
			require.NoError(t, conn.SetReadDeadline(time.Now().Add(2*time.Minute)))
			for i := range messages {
				_, frame, err := conn.ReadMessage()
				require.NoError(t, err)
				m, err := protocol.Decode(frame, protocol.MaxMessage)
				require.NoError(t, err)
				require.Equal(t, said(i), m)
			}
			for last := messages; pongs == 0; last++ {
				peer.put(said(0))
				_, _, err := conn.ReadMessage()
				require.NoError(t, err, "a pong is on its way")
			}
		})
	}
}

// The peer is cut off after the time limit of one frame. Over TLS its end takes five seconds more:
// crypto/tls tries to say goodbye.
func TestACarriedPeerThatReadsNothingIsCutOff(t *testing.T) {
	for _, secure := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			peer, _ := carries(t, secure, true, Times{Write: time.Second})
			began := time.Now()
			peer.put(&protocol.Output{ID: "o", SessionID: "vim-1", DataB64: make([]byte, 32<<10)})
			<-peer.left
			require.Equal(t, map[bool]time.Duration{false: time.Second, true: 6 * time.Second}[secure], time.Since(began), "of the test's time")
		})
	}
}

// The head of RFC 6455, section 5.2.
func TestTheHeadOfAFrame(t *testing.T) {
	for size, head := range map[int]string{
		0: "8100", 125: "817d", 126: "817e007e", 65535: "817effff", 65536: "817f0000000000010000",
	} {
		require.Equal(t, head, fmt.Sprintf("%x", appendTextHead(nil, size)))
		require.Equal(t, len(head)/2, headSize(size))
	}
}
