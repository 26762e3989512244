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

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"terminalproxy/protocol"
	"terminalproxy/protocol/fake"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m, fake.Lingering()) }

// gateway serves a gateway that answers each message, or ends the connection on nil. answer is told
// the connection's number.
func gateway(t *testing.T, answer func(n int64, m protocol.Message) protocol.Message) (Config, *atomic.Int64) {
	t.Helper()
	conns := new(atomic.Int64)
	return talk(t, func(c fake.Conn) {
		n := conns.Add(1)
		for m, err := c.Next(); err == nil; m, err = c.Next() {
			if reply := answer(n, m); reply == nil || c.Send(reply) != nil {
				return
			}
		}
	}), conns
}

// talk serves a gateway whose every line the test writes.
func talk(t *testing.T, serve func(fake.Conn)) Config {
	t.Helper()
	return Config{URL: "ws://localhost" + protocol.PathAgent, Dial: fake.Gateway(t, serve)}
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
	cfg, conns := gateway(t, func(_ int64, m protocol.Message) protocol.Message {
		return &protocol.SessionsListResult{RequestID: protocol.RequestID(m), Sessions: []protocol.SessionInfo{{SessionID: "x"}}}
	})
	c := start(t, cfg)
	require.Zero(t, conns.Load())
	for range 3 {
		list, err := c.Sessions(fake.Within(t))
		require.NoError(t, err)
		require.Len(t, list, 1)
	}
	require.Equal(t, int64(1), conns.Load())
	require.NoError(t, c.Close())
	_, err := c.Sessions(fake.Within(t))
	require.ErrorIs(t, err, ErrClosed)
}

func TestErrorsOfTheWireComeBackAsTheyAre(t *testing.T) {
	cfg, _ := gateway(t, func(_ int64, m protocol.Message) protocol.Message {
		return &protocol.Error{RequestID: protocol.RequestID(m), Code: protocol.CodeBlackout, Message: "hidden"}
	})
	c := start(t, cfg)
	_, err := c.Read(fake.Within(t), &protocol.Read{SessionID: "x"})
	refusal := new(protocol.Error)
	require.ErrorAs(t, err, &refusal)
	require.Equal(t, protocol.CodeBlackout, refusal.Code)
	_, err = c.Read(fake.Within(t), &protocol.Read{SessionID: "no id"})
	require.ErrorAs(t, err, &refusal)
	require.Equal(t, "sessionId", refusal.Field, "the caller's own mistake is found before it is sent")
}

func TestReadsAndWaitsAreRepeatedInTheRemainingTime(t *testing.T) {
	limits := make(chan int64, 8)
	cfg, _ := gateway(t, func(n int64, m protocol.Message) protocol.Message {
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
	r, err := c.Wait(fake.Within(t), &protocol.Wait{SessionID: "x", Until: protocol.Until{Exit: true}, TimeoutMs: 5000})
	require.NoError(t, err)
	require.True(t, r.Met)
	require.Equal(t, int64(5000), <-limits)
	require.Less(t, <-limits, int64(5000))
}

// Promise 5: no input is typed twice, and an unknown outcome is reported.
func TestLostReceiptOfAnInput(t *testing.T) {
	ids := make(chan string, 8)
	answer := func(n int64, m protocol.Message) protocol.Message {
		ids <- protocol.RequestID(m)
		if n == 1 {
			return nil
		}
		return &protocol.InputResult{ID: "i", RequestID: protocol.RequestID(m), SessionID: "x", Status: protocol.StatusWritten}
	}
	t.Run("lasting identity: asked again under the same id", func(t *testing.T) {
		cfg, _ := gateway(t, answer)
		cfg.Key = "secret"
		r, err := start(t, cfg).Input(fake.Within(t), &protocol.Input{SessionID: "x", Data: "y"})
		require.NoError(t, err)
		require.Equal(t, protocol.StatusWritten, r.Status)
		require.Equal(t, <-ids, <-ids)
	})
	t.Run("another agent each time: not repeated", func(t *testing.T) {
		cfg, conns := gateway(t, answer)
		_, err := start(t, cfg).Input(fake.Within(t), &protocol.Input{SessionID: "x", Data: "y"})
		refusal := new(protocol.Error)
		require.ErrorAs(t, err, &refusal)
		require.Equal(t, protocol.CodeUnavailable, refusal.Code)
		require.Contains(t, refusal.Message, "it is unknown whether the terminal.input took effect")
		require.Equal(t, int64(1), conns.Load())
	})
}

func TestRequestEndsWithItsContextAndNotTheConnection(t *testing.T) {
	asked := make(chan string, 1)
	cfg, conns := gateway(t, func(_ int64, m protocol.Message) protocol.Message {
		if ask, ok := m.(*protocol.ControlRequest); ok {
			asked <- ask.AgentName
			return &protocol.Done{RequestID: "somebody-elses"}
		}
		return &protocol.Done{RequestID: protocol.RequestID(m)}
	})
	cfg.Name = "claude"
	c := start(t, cfg)
	ctx, cancel := context.WithCancel(t.Context())
	name := ""
	go func() { name = <-asked; cancel() }() // ends when it is asked
	_, _, err := c.Request(ctx, &protocol.ControlRequest{SessionID: "x", Level: protocol.LevelDrive, Why: "please"})
	require.ErrorIs(t, err, context.Canceled)
	require.Equal(t, "claude", name)
	require.NoError(t, c.Release(fake.Within(t), &protocol.ControlRelease{SessionID: "x"}))
	_, err = c.SendNote(fake.Within(t), &protocol.Note{SessionID: "x", Text: "hello"})
	require.NoError(t, err)
	require.Equal(t, int64(1), conns.Load())
}

// R48: the address comes from the user; no redirect changes it.
func TestRedirectsAreNotFollowedR48(t *testing.T) {
	var reached atomic.Bool
	elsewhere := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { reached.Store(true) }))
	defer elsewhere.Close()
	s := httptest.NewServer(http.RedirectHandler(elsewhere.URL, http.StatusTemporaryRedirect))
	defer s.Close()
	_, err := start(t, configFor(s)).Sessions(fake.Within(t))
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
		_, err := start(t, configFor(s)).Sessions(fake.Within(t))
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
	_, err := start(t, cfg).Sessions(fake.Within(t))
	lost := new(Unreachable)
	require.ErrorAs(t, err, &lost)
	require.Contains(t, lost.Error(), cfg.URL)
	_, err = start(t, cfg).Subscribe(fake.Within(t), "x", 0)
	require.ErrorAs(t, err, &lost)
	_, err = start(t, Config{}).Sessions(fake.Within(t))
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
	cfg.Name, cfg.Key, cfg.Transient, cfg.Header = "a\r\nX-Evil: 1", "secret", true, http.Header{"Authorization": {"Bearer t"}}
	_, err := start(t, cfg).Sessions(fake.Within(t))
	require.Error(t, err)
	h := <-seen
	require.Equal(t, []string{"aX-Evil: 1", "secret", "Bearer t"}, []string{h.Get(HeaderName), h.Get(HeaderKey), h.Get("Authorization")})
	require.Empty(t, h.Get("X-Evil"))
	require.NotEmpty(t, h.Get(HeaderPassing))
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
	cfg, _ := gateway(t, func(_ int64, m protocol.Message) protocol.Message {
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
