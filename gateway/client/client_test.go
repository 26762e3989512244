package client

import (
	"context"
	"net"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"

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

// No input is typed twice, and no decision that gives more is taken twice: an unknown outcome is
// reported. A client that keeps its identity repeats its input under the same id.
func TestLostAnswer(t *testing.T) {
	decide := func(m protocol.ControlDecide) func(context.Context, *Client) error {
		m.SessionID, m.By = "x", "me"
		return func(ctx context.Context, c *Client) error { return c.Decide(ctx, &m) }
	}
	input := func(ctx context.Context, c *Client) error {
		_, err := c.Input(ctx, &protocol.Input{SessionID: "x", Data: "y"})
		return err
	}
	for name, c := range map[string]struct {
		ask     func(context.Context, *Client) error
		key     string
		unknown string // "" if it is repeated
	}{
		"input of a lasting identity": {input, "secret", ""},
		"input of another each time":  {input, "", "terminal.input"},
		"take back":                   {decide(protocol.ControlDecide{}), "", ""},
		"hide":                        {decide(protocol.ControlDecide{Hide: protocol.HideOn}), "", ""},
		"grant":                       {decide(protocol.ControlDecide{Grant: true}), "", "terminal.control.decide"},
		"show":                        {decide(protocol.ControlDecide{Hide: protocol.HideOff}), "", "terminal.control.decide"},
	} {
		t.Run(name, func(t *testing.T) {
			ids := make(chan string, 8)
			cfg, conns := gateway(t, func(n int64, m protocol.Message) protocol.Message {
				ids <- protocol.RequestID(m)
				switch {
				case n == 1:
					return nil
				case protocol.KindOf(m) == "terminal.input":
					return &protocol.InputResult{ID: "i", RequestID: protocol.RequestID(m), SessionID: "x", Status: protocol.StatusWritten}
				}
				return &protocol.Done{RequestID: protocol.RequestID(m)}
			})
			cfg.Key = c.key
			err := c.ask(fake.Within(t), start(t, cfg))
			if c.unknown == "" {
				require.NoError(t, err)
				require.Equal(t, <-ids, <-ids)
				return
			}
			require.ErrorContains(t, err, "it is unknown whether the "+c.unknown+" took effect")
			require.Equal(t, int64(1), conns.Load())
		})
	}
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

// A refusal is a sentence, and not asked for again. The viewers' path is tried only if the token may
// not use the agents', whose refusal says more.
func TestRefusalOfEachPath(t *testing.T) {
	var paths []string
	status := map[string]int{}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		paths = append(paths, r.URL.Path)
		http.Error(w, "because of "+r.URL.Path, status[r.URL.Path])
	}))
	defer s.Close()
	for _, c := range []struct {
		agent, view int
		want        []string
		code        protocol.Code
	}{
		{403, 403, []string{protocol.PathAgent, protocol.PathView}, protocol.CodeForbidden},
		{401, 403, []string{protocol.PathAgent}, protocol.CodeUnauthorized},
		{400, 403, []string{protocol.PathAgent}, protocol.CodeUnavailable},
	} {
		cfg := configFor(s)
		cfg.ViewURL = "ws://" + s.Listener.Addr().String() + protocol.PathView
		paths, status = nil, map[string]int{protocol.PathAgent: c.agent, protocol.PathView: c.view}
		_, err := start(t, cfg).Sessions(fake.Within(t))
		refusal := new(protocol.Error)
		require.ErrorAs(t, err, &refusal)
		require.Equal(t, c.code, refusal.Code)
		require.Contains(t, refusal.Message, "because of "+protocol.PathAgent)
		require.Equal(t, c.want, paths)
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
