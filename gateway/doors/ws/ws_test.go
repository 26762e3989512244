package ws

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gorilla/websocket"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"terminalproxy/gateway/access/auth"
	"terminalproxy/protocol"
	"terminalproxy/protocol/fake"
	"terminalproxy/protocol/handshake"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m, fake.Lingering()) }

// loop is a switchboard for one peer: messages received go to handled, and messages put into out
// are sent.
type loop struct {
	handled chan protocol.Message
	out     chan protocol.Message
	ended   chan error
	left    chan struct{}
	urgent  atomic.Bool
}

func newLoop() *loop {
	return &loop{
		handled: make(chan protocol.Message, 8), out: make(chan protocol.Message, 8), ended: make(chan error, 8), left: make(chan struct{}),
	}
}

func (l *loop) Handle(m protocol.Message) { l.handled <- m }
func (l *loop) Refuse(e *protocol.Error)  { l.out <- e }
func (l *loop) End(reason error)          { l.ended <- reason }
func (l *loop) Leave()                    { close(l.left) }
func (l *loop) IsUrgent() bool            { return l.urgent.Load() }
func (l *loop) Next(done <-chan struct{}) (protocol.Message, error) {
	select {
	case m := <-l.out:
		return m, nil
	default:
	}
	select {
	case m := <-l.out:
		return m, nil
	case err := <-l.ended:
		return nil, err
	case <-done:
		return nil, errors.New("done")
	}
}

func serve(t *testing.T, l *loop, times Times) (*Server, *websocket.Conn) {
	t.Helper()
	joined := make(chan struct{})
	d := New(Config{
		Authenticate: func(*http.Request) (Access, error) {
			return Access{Join: func() Peer { close(joined); return l }, Limit: 1000}, nil
		},
		CheckOrigin: func(*http.Request) bool { return true },
		CloseCode:   func(error, bool) (int, string) { return websocket.CloseGoingAway, "bye" },
		Times:       times,
	})
	s := httptest.NewServer(d)
	t.Cleanup(s.Close)
	dialer := websocket.Dialer{Subprotocols: []string{protocol.Version}}
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	conn, resp, err := dialer.DialContext(ctx, "ws"+strings.TrimPrefix(s.URL, "http"), nil)
	require.NoError(t, err)
	require.NoError(t, resp.Body.Close())
	t.Cleanup(func() { _ = conn.Close() })
	require.NoError(t, conn.SetReadDeadline(time.Now().Add(2*time.Minute)))
	<-joined // the handshake is over on this end before it is on the other
	return d, conn
}

func TestMessagesGoBothWaysAndLeaveIsTheEnd(t *testing.T) {
	l := newLoop()
	_, conn := serve(t, l, Times{})
	require.NoError(t, conn.WriteMessage(websocket.TextMessage, []byte(`{"type":"done","requestId":"r"}`)))
	require.Equal(t, &protocol.Done{RequestID: "r"}, <-l.handled)
	l.out <- &protocol.Done{RequestID: "s"}
	_, frame, err := conn.ReadMessage()
	require.NoError(t, err)
	require.JSONEq(t, `{"type":"done","requestId":"s"}`, string(frame))
	require.NoError(t, conn.Close())
	<-l.left
}

func TestAnswerThatCannotBeSentIsAnError(t *testing.T) {
	l := newLoop()
	_, conn := serve(t, l, Times{})
	l.out <- &protocol.Watch{SessionID: "not an id"} // unrequested: skipped
	l.out <- &protocol.ReadResult{
		ID: "i", RequestID: "r", SessionID: "x", Frame: &protocol.Frame{Screen: protocol.Screen{Cols: 1, Rows: 1}},
		Text: strings.Repeat("x", protocol.MaxMessage),
	}
	_, frame, err := conn.ReadMessage()
	require.NoError(t, err)
	m, err := protocol.Decode(frame, protocol.MaxMessage)
	require.NoError(t, err)
	refusal, ok := m.(*protocol.Error)
	require.True(t, ok)
	require.Equal(t, "r", refusal.RequestID)
	require.Equal(t, protocol.CodeTooLarge, refusal.Code)
}

// A peer that ignores the close frame is cut off, and its later messages have no effect.
func TestEndIsBounded(t *testing.T) {
	l := newLoop()
	d, conn := serve(t, l, Times{Linger: 20 * time.Millisecond})
	l.ended <- errors.New("over")
	require.NoError(t, d.Close())
	<-l.left
	require.Empty(t, l.handled)
	_ = conn
}

func TestAClosedDoorAdmitsNoOne(t *testing.T) {
	l := newLoop()
	d, conn := serve(t, l, Times{})
	require.NoError(t, conn.Close())
	<-l.left
	require.NoError(t, d.Close())
	s := httptest.NewServer(d)
	defer s.Close()
	dialer := websocket.Dialer{Subprotocols: []string{protocol.Version}}
	_, resp, err := dialer.DialContext(t.Context(), "ws"+strings.TrimPrefix(s.URL, "http"), nil)
	require.ErrorIs(t, err, websocket.ErrBadHandshake)
	require.NoError(t, resp.Body.Close())
	require.Equal(t, http.StatusServiceUnavailable, resp.StatusCode)
}

func TestRefusalIsToldAndOtherErrorsAreNot(t *testing.T) {
	for _, c := range []struct {
		err    error
		status int
		body   string
	}{
		{&auth.Refusal{Status: http.StatusUnauthorized, Say: "a token is wanted"}, http.StatusUnauthorized, "a token is wanted"},
		{errors.New("a secret path"), http.StatusInternalServerError, "could not check"},
	} {
		d := New(Config{Authenticate: func(*http.Request) (Access, error) { return Access{}, c.err }})
		w := httptest.NewRecorder()
		d.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/", nil))
		require.Equal(t, c.status, w.Code)
		require.Contains(t, w.Body.String(), c.body)
		require.NotContains(t, w.Body.String(), "secret")
	}
}

// A peer with a grant that disappears is missed after three pings; one without a grant has its
// usual time, and one that answers stays.
func TestPeerWithAGrantIsMissedSoon(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		join := func(answers bool) *loop {
			l := newLoop()
			d := New(Config{
				Authenticate: func(*http.Request) (Access, error) { return Access{Join: func() Peer { return l }, Limit: 1000}, nil },
				CheckOrigin:  func(*http.Request) bool { return true },
				CloseCode:    func(error, bool) (int, string) { return websocket.CloseGoingAway, "bye" },
				Times:        Times{Ping: time.Hour, Silence: 2 * time.Hour, Urgent: time.Second},
			})
			ln, dial := fake.Pipes()
			server := &http.Server{Handler: d}
			go func() { _ = server.Serve(ln) }() // ends with Close
			conn, resp, err := dial.Connect(t.Context(), "ws://localhost/", nil)
			require.NoError(t, err)
			require.NoError(t, resp.Body.Close())
			go func() { // ends with the connection
				if answers {
					_, _, _ = conn.ReadMessage()
				}
				_, _ = io.Copy(io.Discard, conn.NetConn())
			}()
			t.Cleanup(func() {
				_, _, _ = conn.Close(), d.Close(), server.Close()
				synctest.Wait()
			})
			return l
		}
		hasLeft := func(l *loop) bool {
			synctest.Wait()
			select {
			case <-l.left:
				return true
			default:
				return false
			}
		}
		gone, there := join(false), join(true)
		time.Sleep(30 * time.Minute) // of the test's time
		require.False(t, hasLeft(gone), "without a grant there is no hurry")
		gone.urgent.Store(true)
		there.urgent.Store(true)
		time.Sleep((handshake.MaxMissed + 2) * time.Second)
		require.True(t, hasLeft(gone))
		time.Sleep(time.Minute)
		require.False(t, hasLeft(there), "one that answers stays")
	})
}
