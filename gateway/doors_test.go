package gateway

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"net"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"terminalproxy/gateway/access/auth"
	"terminalproxy/gateway/client"
	"terminalproxy/gateway/endpoint"
	"terminalproxy/protocol"
	"terminalproxy/protocol/fake"
)

// station is a gateway at a fixed address that stops and starts again.
type station struct {
	t     *testing.T
	store *auth.Store
	ready chan error // of the running gateway
	*Server

	addr string
}

func newStation(t *testing.T, store *auth.Store) *station {
	t.Helper()
	s := &station{t: t, store: store, addr: "127.0.0.1:0"}
	s.start()
	t.Cleanup(s.stop)
	return s
}

func (s *station) start() {
	s.t.Helper()
	ln, err := (&net.ListenConfig{}).Listen(s.t.Context(), "tcp", s.addr)
	require.NoError(s.t, err)
	s.addr, s.Server, s.ready = ln.Addr().String(), New(Config{Tokens: s.store}), make(chan error, 1)
	go func() { s.ready <- s.ServeTCP(context.Background(), ln, nil) }() // ends with goes
}

func (s *station) stop() {
	if s.Server == nil {
		return
	}
	require.NoError(s.t, s.Close())
	require.NoError(s.t, <-s.ready)
	s.Server = nil
}

// waitForSession waits for a session there.
func (s *station) waitForSession(token string) {
	s.t.Helper()
	c := client.New(clientConfig(s.t, token, "ws://"+s.addr))
	require.Eventually(s.t, func() bool {
		list, err := c.Sessions(fake.Within(s.t))
		return err == nil && len(list) > 0
	}, fake.Soon, fake.Soon/1000)
	require.NoError(s.t, c.Close())
}

// clientConfig returns a configuration with which a client reaches several gateways, with a token.
func clientConfig(t *testing.T, token string, raw string) client.Config {
	t.Helper()
	all, err := endpoint.Parse(raw)
	require.NoError(t, err)
	all.Token = token
	var doors []client.Door
	for _, e := range all.All() {
		doors = append(doors, client.Door{Dial: e.DialContext, URL: e.URL(protocol.PathAgent), Header: e.Header()})
	}
	return client.Config{Dial: doors[0].Dial, URL: doors[0].URL, Header: doors[0].Header, Others: doors[1:], Name: "tester"}
}

func twoStations(t *testing.T) (a, b *station, tokens map[auth.Role]string) {
	t.Helper()
	_, tokens, store := tcp(t, Config{})
	return newStation(t, store), newStation(t, store), tokens
}

// The client moves to the other gateway and back as the same agent. It asks, types and looks as
// before, each thing once.
func TestAClientGoesFromOneGatewayToTheOther(t *testing.T) {
	a, b, tokens := twoStations(t)
	at := map[*station]*fake.Proxy{}
	for _, s := range []*station{a, b} {
		at[s] = startProxy(t, bearer(s.addr, tokens[auth.RoleProxy]), "vim-1")
		s.waitForSession(tokens[auth.RoleAgent])
	}
	cfg := clientConfig(t, tokens[auth.RoleAgent], "ws://"+a.addr+",ws://"+b.addr)
	cfg.Key = "0123456789abcdef0123456789abcdef"
	c := client.New(cfg)
	t.Cleanup(func() { require.NoError(t, c.Close()) })
	types := func(s *station) string {
		r, err := c.Input(fake.Within(t), &protocol.Input{SessionID: "vim-1", Data: "x"})
		require.NoError(t, err)
		require.Equal(t, protocol.StatusWritten, r.Status)
		return fake.Receive(t, at[s].Typed, "the input").AgentID
	}
	me := types(a)
	look, err := c.Subscribe(fake.Within(t), "vim-1", 0)
	require.NoError(t, err)
	fake.Receive(t, look, "a snapshot")
	for _, move := range []struct{ from, to *station }{{a, b}, {b, a}} {
		move.from.stop()
		require.Equal(t, me, types(move.to), "it is the same agent")
		fake.Receive(t, look, "a snapshot of the other gateway")
		move.from.start()
		move.from.waitForSession(tokens[auth.RoleAgent])
		require.Equal(t, me, types(move.to), "it stays where it is")
	}
	for _, p := range at {
		require.Empty(t, p.Typed, "nothing twice")
	}
	a.stop()
	b.stop()
	late, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	_, err = c.Sessions(late)
	require.Error(t, err)
}

// If the first gateway is down, the next one is used. If all are down, the error names them all.
func TestTheFirstThatAnswersIsTaken(t *testing.T) {
	a, b, tokens := twoStations(t)
	a.stop()
	c := client.New(clientConfig(t, tokens[auth.RoleAgent], "ws://"+a.addr+",ws://"+b.addr))
	_, err := c.Sessions(fake.Within(t))
	require.NoError(t, err)
	require.NoError(t, c.Close())
	b.stop()
	c = client.New(clientConfig(t, tokens[auth.RoleAgent], "ws://"+a.addr+",ws://"+b.addr))
	_, err = c.Sessions(fake.Within(t))
	gone := new(client.Unreachable)
	require.ErrorAs(t, err, &gone)
	require.ErrorContains(t, err, "ws://"+a.addr+": ")
	require.ErrorContains(t, err, "ws://"+b.addr+": ")
	require.NoError(t, c.Close())
}

// A token that one gateway refuses is not tried at another.
func TestARefusalIsAnAnswer(t *testing.T) {
	_, _, foreign := tcp(t, Config{})
	a, b, tokens := twoStations(t)
	stranger := newStation(t, foreign)
	c := client.New(clientConfig(t, tokens[auth.RoleAgent], "ws://"+stranger.addr+",ws://"+b.addr))
	_, err := c.Sessions(fake.Within(t))
	refused := new(protocol.Error)
	require.ErrorAs(t, err, &refused)
	require.Equal(t, protocol.CodeUnauthorized, refused.Code)
	require.ErrorContains(t, err, "ws://"+stranger.addr+": ")
	require.NoError(t, c.Close())

	require.NoError(t, a.store.Revoke("the-agent"))
	c = client.New(clientConfig(t, tokens[auth.RoleAgent], "ws://"+a.addr+",ws://"+b.addr))
	_, err = c.Sessions(fake.Within(t))
	require.ErrorAs(t, err, &refused)
	require.NoError(t, c.Close())
}

// The gateway with the wrong certificate learned nothing from the client and told it nothing, so
// the next one is asked.
func TestAWrongCertificateIsReported(t *testing.T) {
	donor := httptest.NewTLSServer(nil)
	defer donor.Close()
	_, tokens, store := tcp(t, Config{})
	wrong := serveTCP(t, New(Config{Tokens: store}), &tls.Config{Certificates: donor.TLS.Certificates})
	good := newStation(t, store)
	all, err := endpoint.Parse("wss://" + wrong + ",ws://" + good.addr)
	require.NoError(t, err)
	all.Token, all.TLS = tokens[auth.RoleAgent], &tls.Config{RootCAs: x509.NewCertPool()}
	cfg := clientConfig(t, tokens[auth.RoleAgent], "wss://"+wrong+",ws://"+good.addr)
	cfg.Dial = all.All()[0].DialContext
	said := make(chan string, 4)
	cfg.Skipped = func(gateway string, why error) { said <- gateway + " " + why.Error() }
	c := client.New(cfg)
	_, err = c.Sessions(fake.Within(t))
	require.NoError(t, err)
	require.Contains(t, fake.Receive(t, said, "the word about it"), "wss://"+wrong+" ")
	require.NoError(t, c.Close())
}
