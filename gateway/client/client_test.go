package client

import (
	"context"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gorilla/websocket"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"terminalproxy/protocol"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const soon = 10 * time.Second

func within(t *testing.T) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), soon)
	t.Cleanup(cancel)
	return ctx
}

// fake is a gateway written without our own: answer is called for every message; nil ends the connection. The number
// says which connection it is.
func fake(t *testing.T, answer func(n int64, m protocol.Message) protocol.Message) (Config, *atomic.Int64) {
	t.Helper()
	conns := new(atomic.Int64)
	upgrader := websocket.Upgrader{Subprotocols: []string{protocol.Version}}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		ws, err := upgrader.Upgrade(w, r, nil)
		if err != nil {
			return
		}
		defer func() { _ = ws.Close() }()
		n := conns.Add(1)
		for {
			_, frame, err := ws.ReadMessage()
			if err != nil {
				return
			}
			m, err := protocol.Decode(frame, protocol.MaxAgentMessage)
			if err != nil {
				return
			}
			reply := answer(n, m)
			if reply == nil {
				return
			}
			out, err := protocol.Encode(reply)
			if err != nil || ws.WriteMessage(websocket.TextMessage, out) != nil {
				return
			}
		}
	}))
	t.Cleanup(s.Close)
	return configFor(s), conns
}

func configFor(s *httptest.Server) Config {
	addr := s.Listener.Addr().String()
	return Config{
		URL:  "ws://" + addr + protocol.PathAgent,
		Dial: func(ctx context.Context) (net.Conn, error) { return new(net.Dialer).DialContext(ctx, "tcp", addr) },
	}
}

func start(t *testing.T, cfg Config) *Client {
	t.Helper()
	c := New(cfg)
	t.Cleanup(func() { require.NoError(t, c.Close()) })
	return c
}

func TestItConnectsAtTheFirstCall(t *testing.T) {
	cfg, conns := fake(t, func(_ int64, m protocol.Message) protocol.Message {
		return &protocol.SessionsListResult{RequestID: protocol.RequestID(m), Sessions: []protocol.SessionInfo{{SessionID: "x"}}}
	})
	c := start(t, cfg)
	require.Zero(t, conns.Load())
	for range 3 {
		list, err := c.Sessions(within(t))
		require.NoError(t, err)
		require.Len(t, list, 1)
	}
	require.Equal(t, int64(1), conns.Load())
	require.NoError(t, c.Close())
	_, err := c.Sessions(within(t))
	require.ErrorIs(t, err, ErrClosed)
}

func TestErrorsOfTheWireComeBackAsTheyAre(t *testing.T) {
	cfg, _ := fake(t, func(_ int64, m protocol.Message) protocol.Message {
		return &protocol.Error{RequestID: protocol.RequestID(m), Code: protocol.CodeBlackout, Message: "hidden"}
	})
	c := start(t, cfg)
	_, err := c.Read(within(t), &protocol.Read{SessionID: "x"})
	refusal := new(protocol.Error)
	require.ErrorAs(t, err, &refusal)
	require.Equal(t, protocol.CodeBlackout, refusal.Code)
	_, err = c.Read(within(t), &protocol.Read{SessionID: "no id"})
	require.ErrorAs(t, err, &refusal)
	require.Equal(t, "sessionId", refusal.Field, "the caller's own mistake is found before it is sent")
}

func TestReadsAndWaitsAreRepeatedInTheTimeThatIsLeft(t *testing.T) {
	limits := make(chan int64, 8)
	cfg, _ := fake(t, func(n int64, m protocol.Message) protocol.Message {
		w, ok := m.(*protocol.Wait)
		if !ok {
			return nil
		}
		limits <- w.TimeoutMs
		if n == 1 {
			time.Sleep(5 * time.Millisecond) // time passes
			return nil
		}
		return &protocol.WaitResult{ID: "w", RequestID: w.RequestID, SessionID: w.SessionID, Met: true}
	})
	c := start(t, cfg)
	r, err := c.Wait(within(t), &protocol.Wait{SessionID: "x", Until: protocol.Until{Exit: true}, TimeoutMs: 5000})
	require.NoError(t, err)
	require.True(t, r.Met)
	require.Equal(t, int64(5000), <-limits)
	require.Less(t, <-limits, int64(5000))
}

// Promise 5: nothing typed is doubled, and what is not known is said.
func TestLostReceiptOfAnInput(t *testing.T) {
	ids := make(chan string, 8)
	gateway := func(n int64, m protocol.Message) protocol.Message {
		ids <- protocol.RequestID(m)
		if n == 1 {
			return nil
		}
		return &protocol.InputResult{ID: "i", RequestID: protocol.RequestID(m), SessionID: "x", Status: protocol.StatusWritten}
	}
	t.Run("lasting identity: asked again under the same id", func(t *testing.T) {
		cfg, _ := fake(t, gateway)
		cfg.Key = "secret"
		r, err := start(t, cfg).Input(within(t), &protocol.Input{SessionID: "x", Data: "y"})
		require.NoError(t, err)
		require.Equal(t, protocol.StatusWritten, r.Status)
		require.Equal(t, <-ids, <-ids)
	})
	t.Run("another agent each time: not repeated", func(t *testing.T) {
		cfg, conns := fake(t, gateway)
		_, err := start(t, cfg).Input(within(t), &protocol.Input{SessionID: "x", Data: "y"})
		refusal := new(protocol.Error)
		require.ErrorAs(t, err, &refusal)
		require.Equal(t, protocol.CodeUnavailable, refusal.Code)
		require.Contains(t, refusal.Message, "not known")
		require.Equal(t, int64(1), conns.Load())
	})
}

func TestRequestEndsWithItsContextAndNotTheConnection(t *testing.T) {
	asked := make(chan struct{}, 1)
	cfg, conns := fake(t, func(_ int64, m protocol.Message) protocol.Message {
		if _, ok := m.(*protocol.ControlRequest); ok {
			asked <- struct{}{}
			return &protocol.Done{RequestID: "somebody-elses"}
		}
		return &protocol.Done{RequestID: protocol.RequestID(m)}
	})
	c := start(t, cfg)
	ctx, cancel := context.WithCancel(t.Context())
	go func() { <-asked; cancel() }()
	_, _, err := c.Request(ctx, &protocol.ControlRequest{SessionID: "x", Level: protocol.LevelDrive, Why: "please"})
	require.ErrorIs(t, err, context.Canceled)
	require.NoError(t, c.Release(within(t), &protocol.ControlRelease{SessionID: "x"}))
	_, err = c.Say(within(t), &protocol.Note{SessionID: "x", Text: "hello"})
	require.NoError(t, err)
	require.Equal(t, int64(1), conns.Load())
}

// A wait whose caller went away is taken back: it would use up the proxy's for as long as it lasts.
func TestAWaitIsTakenBackWithItsContext(t *testing.T) {
	asked, cancelled := make(chan string, 1), make(chan string, 1)
	cfg, _ := fake(t, func(_ int64, m protocol.Message) protocol.Message {
		switch m := m.(type) {
		case *protocol.Wait:
			asked <- m.RequestID
		case *protocol.Cancel:
			cancelled <- m.SessionID + " " + m.RequestID
		}
		return &protocol.Done{RequestID: "somebody-elses"}
	})
	c := start(t, cfg)
	ctx, cancel := context.WithCancel(t.Context())
	id := ""
	go func() { id = <-asked; cancel() }() // ends when the wait is asked for
	_, err := c.Wait(ctx, &protocol.Wait{SessionID: "x", Until: protocol.Until{Exit: true}})
	require.ErrorIs(t, err, context.Canceled)
	require.Equal(t, "x "+id, <-cancelled)
}

func TestRequestIsGrantedOrRefused(t *testing.T) {
	cfg, _ := fake(t, func(_ int64, m protocol.Message) protocol.Message {
		ask, _ := m.(*protocol.ControlRequest)
		if ask.Level == protocol.LevelType {
			return &protocol.ControlGrant{ID: "g", SessionID: "x", RequestID: ask.RequestID, AgentName: ask.AgentName, Epoch: 7}
		}
		return &protocol.ControlRevoke{ID: "v", SessionID: "x", RequestID: ask.RequestID, Reason: protocol.ReasonRefused}
	})
	cfg.Name = "claude"
	c := start(t, cfg)
	grant, revoke, err := c.Request(within(t), &protocol.ControlRequest{SessionID: "x", Level: protocol.LevelType, Why: "please"})
	require.NoError(t, err)
	require.Nil(t, revoke)
	require.Equal(t, "claude", grant.AgentName)
	grant, revoke, err = c.Request(within(t), &protocol.ControlRequest{SessionID: "x", Level: protocol.LevelDrive, Why: "please"})
	require.NoError(t, err)
	require.Nil(t, grant)
	require.Equal(t, protocol.ReasonRefused, revoke.Reason)
}

// R48: the address comes from the user; nobody on the way changes it.
func TestR48RedirectsAreNotFollowed(t *testing.T) {
	var reached atomic.Bool
	elsewhere := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { reached.Store(true) }))
	defer elsewhere.Close()
	s := httptest.NewServer(http.RedirectHandler(elsewhere.URL, http.StatusTemporaryRedirect))
	defer s.Close()
	_, err := start(t, configFor(s)).Sessions(within(t))
	require.ErrorContains(t, err, "307")
	require.False(t, reached.Load())
}

func TestRefusalsAreSentencesAndNotRepeated(t *testing.T) {
	for status, code := range map[int]protocol.Code{401: protocol.CodeUnauthorized, 403: protocol.CodeForbidden, 400: protocol.CodeUnavailable} {
		var tries atomic.Int64
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			tries.Add(1)
			http.Error(w, "because", status)
		}))
		_, err := start(t, configFor(s)).Sessions(within(t))
		refusal := new(protocol.Error)
		require.ErrorAs(t, err, &refusal)
		require.Equal(t, code, refusal.Code)
		require.Contains(t, refusal.Message, "because")
		require.Equal(t, int64(1), tries.Load())
		s.Close()
	}
}

func TestUnreachable(t *testing.T) {
	s := httptest.NewServer(http.NotFoundHandler())
	cfg := configFor(s)
	s.Close()
	_, err := start(t, cfg).Sessions(within(t))
	lost := new(Unreachable)
	require.ErrorAs(t, err, &lost)
	require.Contains(t, lost.Error(), cfg.URL)
	_, err = start(t, cfg).Subscribe(within(t), "x", 0)
	require.ErrorAs(t, err, &lost)
	_, err = start(t, Config{}).Sessions(within(t))
	require.ErrorContains(t, err, "set Dial and URL")
}

func TestHeadersSayWho(t *testing.T) {
	seen := make(chan http.Header, 1)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		seen <- r.Header.Clone()
		http.Error(w, "", http.StatusForbidden)
	}))
	defer s.Close()
	cfg := configFor(s)
	cfg.Name, cfg.Key, cfg.Header = "a\r\nX-Evil: 1", "secret", http.Header{"Authorization": {"Bearer t"}}
	_, err := start(t, cfg).Sessions(within(t))
	require.Error(t, err)
	h := <-seen
	require.Equal(t, []string{"aX-Evil: 1", "secret", "Bearer t"}, []string{h.Get(HeaderName), h.Get(HeaderKey), h.Get("Authorization")})
	require.Empty(t, h.Get("X-Evil"))
	require.Len(t, cfg.Header, 1, "the caller's header is not changed")
}

func TestSlowSubscriberGetsTheNewest(t *testing.T) {
	var queue []protocol.Message
	for i := range uint64(1000) {
		queue = enqueue(queue, &protocol.Snapshot{Seq: i})
		if i == 500 {
			queue = enqueue(queue, &protocol.ControlGrant{})
		}
	}
	require.Len(t, queue, 2)
	require.IsType(t, &protocol.ControlGrant{}, queue[0])
	require.Equal(t, uint64(999), queue[1].(*protocol.Snapshot).Seq)
}

func TestSubscriptionEndsWithTheSession(t *testing.T) {
	cfg, _ := fake(t, func(_ int64, m protocol.Message) protocol.Message {
		if _, ok := m.(*protocol.SessionsSubscribe); ok {
			return &protocol.Done{RequestID: protocol.RequestID(m)}
		}
		return nil
	})
	c := start(t, cfg)
	ctx, cancel := context.WithCancel(t.Context())
	stream, err := c.Subscribe(ctx, "x", time.Second)
	require.NoError(t, err)
	cancel()
	_, open := <-stream
	require.False(t, open)
	stream, err = c.Subscribe(t.Context(), "x", time.Second)
	require.NoError(t, err)
	require.NoError(t, c.Close())
	_, open = <-stream
	require.False(t, open, "Close ends it")
	_, err = c.Subscribe(t.Context(), strings.Repeat("x", 200), 0)
	require.ErrorContains(t, err, "sessionId")
}
