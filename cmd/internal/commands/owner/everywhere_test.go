package owner

import (
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

	serves := func(terminals ...*clitest.Terminal) string {
		url := clitest.ServeTCP(t, gateway.New(gateway.Config{Tokens: store}))
		for _, p := range terminals {
			p.Publish(t, url, clitest.DialTCP(url), proxies)
		}
		return url
	}
	p, q := &clitest.Terminal{ID: "sh-1"}, &clitest.Terminal{ID: "sh-2"}
	empty, first, second := serves(), serves(p), serves(q)
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
