package owner

import (
	"context"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"terminalproxy/cmd/internal/cli"
	"terminalproxy/cmd/internal/cli/clitest"
	"terminalproxy/gateway"
	"terminalproxy/gateway/access/auth"
)

// The gateways do not know each other, and the first one does not have the session.
func TestReclaimAsksAllGateways(t *testing.T) {
	clitest.Isolate(t)
	tokens := t.TempDir() + "/private/tokens"
	store, err := auth.OpenStore(tokens, nil)
	require.NoError(t, err)
	proxies, err := store.Create(auth.Token{Name: "proxies", Role: auth.RoleProxy})
	require.NoError(t, err)
	owner := clitest.CommandWithInput(t, "", "token", "create", "owner", "--role", "owner", "--tokens", tokens)
	require.Equal(t, cli.StatusOK, owner.Status, owner.Err)
	file := filepath.Join(t.TempDir(), "token")
	require.NoError(t, os.WriteFile(file, []byte(owner.Out), 0o600))

	serves := func(p *clitest.Terminal) string {
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
			p.Publish(t, "ws://"+ln.Addr().String(), func(ctx context.Context) (net.Conn, error) {
				return new(net.Dialer).DialContext(ctx, "tcp", ln.Addr().String())
			}, proxies)
		}
		return "ws://" + ln.Addr().String()
	}
	p, q := &clitest.Terminal{ID: "sh-1"}, &clitest.Terminal{ID: "sh-2"}
	empty, first, second := serves(nil), serves(p), serves(q)
	at := strings.Join([]string{empty, first, second}, ",")
	reclaim := func(args ...string) clitest.Result {
		return clitest.Command(t, append([]string{"--gateway", at, "--token-file", file, "reclaim"}, args...)...)
	}
	require.Equal(t, clitest.Result{Out: "the user has the keyboard\n"}, reclaim("sh-2"))
	require.Len(t, q.Decided, 1)
	require.Empty(t, p.Decided)
	reclaim().MustFail(t, cli.StatusNoSession, "which session? sh-1 is at "+first+", and sh-2 at "+second)
	reclaim("sh-3").MustFail(t, cli.StatusNoSession, `no session "sh-3"`)
	at += ",ws://127.0.0.1:1"
	require.Equal(t, cli.StatusOK, reclaim("sh-1").Status, "one that does not answer delays nothing")
	reclaim("sh-3").MustFail(t, cli.StatusNoGateway, "may be at a gateway that does not answer: ws://127.0.0.1:1")
}
