package main

import (
	"context"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"terminalproxy/gateway"
	"terminalproxy/gateway/auth"
)

// The gateways do not know each other, and the first one does not have the session.
func TestReclaimAsksAllGateways(t *testing.T) {
	isolate(t)
	tokens := t.TempDir() + "/private/tokens"
	store, err := auth.OpenStore(tokens, nil)
	require.NoError(t, err)
	proxies, err := store.Create(auth.Token{Name: "proxies", Role: auth.RoleProxy})
	require.NoError(t, err)
	owner := commandWithInput(t, "", "token", "create", "owner", "--role", "owner", "--tokens", tokens)
	require.Equal(t, statusOK, owner.status, owner.err)
	file := filepath.Join(t.TempDir(), "token")
	require.NoError(t, os.WriteFile(file, []byte(owner.out), 0o600))

	serves := func(p *terminal) string {
		server := gateway.New(gateway.Config{Tokens: store})
		ln, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
		require.NoError(t, err)
		ended := make(chan struct{})
		go func() { // ends with Close
			defer close(ended)
			_ = server.ServeTCP(context.WithoutCancel(t.Context()), ln, nil)
		}()
		t.Cleanup(func() { require.NoError(t, server.Close()); <-ended })
		if p != nil {
			p.publish(t, "ws://"+ln.Addr().String(), func(ctx context.Context) (net.Conn, error) {
				return new(net.Dialer).DialContext(ctx, "tcp", ln.Addr().String())
			}, proxies)
		}
		return "ws://" + ln.Addr().String()
	}
	p, q := &terminal{id: "sh-1"}, &terminal{id: "sh-2"}
	empty, first, second := serves(nil), serves(p), serves(q)
	at := strings.Join([]string{empty, first, second}, ",")
	reclaim := func(args ...string) result {
		return command(t, append([]string{"--gateway", at, "--token-file", file, "reclaim"}, args...)...)
	}
	require.Equal(t, result{0, "the user has the keyboard\n", ""}, reclaim("sh-2"))
	require.Len(t, q.decided, 1)
	require.Empty(t, p.decided)
	reclaim().mustFail(t, statusNoSession, "which session? sh-1 is at "+first+", and sh-2 at "+second)
	reclaim("sh-3").mustFail(t, statusNoSession, `no session "sh-3"`)
	at += ",ws://127.0.0.1:1"
	require.Equal(t, statusOK, reclaim("sh-1").status, "one that does not answer delays nothing")
	reclaim("sh-3").mustFail(t, statusNoGateway, "may be at a gateway that does not answer: ws://127.0.0.1:1")
}
