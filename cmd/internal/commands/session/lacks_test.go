package session

import (
	"encoding/json"
	"log/slog"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"terminalproxy/cmd/internal/cli"
	"terminalproxy/cmd/internal/cli/clitest"
	"terminalproxy/gateway"
	"terminalproxy/gateway/access/auth"
	"terminalproxy/gateway/cluster"
	"terminalproxy/gateway/hub"
	"terminalproxy/protocol"
)

// An incomplete list says so on standard error and in JSON, and so does the error for a session
// that is not found. The gateway belongs to a cluster whose NATS servers do not answer.
func TestAnIncompleteListSaysSo(t *testing.T) {
	clitest.Isolate(t)
	store, err := auth.OpenStore(t.TempDir()+"/private/tokens", nil)
	require.NoError(t, err)
	token, err := store.Create(auth.Token{Name: "agent", Role: auth.RoleAgent})
	require.NoError(t, err)
	file := filepath.Join(t.TempDir(), "token")
	require.NoError(t, os.WriteFile(file, []byte(token), 0o600))
	server := gateway.New(gateway.Config{Tokens: store})
	joined, err := cluster.Join(cluster.Config{
		Log: slog.New(slog.DiscardHandler), Servers: []string{"nats://127.0.0.1:1"}, Hub: server.Switchboard(),
		Admit: func(m hub.Member) (cluster.Seat, error) { return server.Admit(m) },
	})
	require.NoError(t, err)
	t.Cleanup(joined.Close)
	url := clitest.ServeTCP(t, server)
	at := func(args ...string) clitest.Result {
		return clitest.Command(t, append([]string{"--gateway", url, "--token-file", file}, args...)...)
	}
	const words = "this gateway cannot reach the others because no NATS server answers: it knows only its own sessions"
	list := at("ls")
	require.Equal(t, cli.StatusOK, list.Status)
	require.Regexp(t, `^gateway: the list of sessions is incomplete: since [0-9:]{8} `+words+"\n$", list.Err)
	list = at("ls", "--json")
	var got struct{ Incomplete protocol.Incomplete }
	require.NoError(t, json.Unmarshal([]byte(list.Out), &got))
	require.Equal(t, words, got.Incomplete.Why)
	require.NotZero(t, got.Incomplete.Since)
	for _, args := range [][]string{{"read", "sh-1"}, {"wait", "sh-1", "--exit"}, {"read"}} {
		missing := at(args...)
		require.Equal(t, cli.StatusNoSession, missing.Status)
		require.Contains(t, missing.Err, words, args)
	}
}
