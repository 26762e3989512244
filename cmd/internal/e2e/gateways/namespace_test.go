package gateways_test

import (
	"testing"

	"terminalproxy/cmd/internal/e2e/world"

	"github.com/stretchr/testify/require"
)

// Tokens of a namespace are made and listed as such. Package hub tests that they see nothing of
// another namespace.
func TestTokensOfANamespace(t *testing.T) {
	w := world.New(t)
	require.Contains(t, w.MustGateway("token", "create", "laptop", "--role", "proxy", "--namespace", "team", "--json"), `"namespace": "team"`)
	require.Contains(t, w.MustGateway("token", "ls"), "proxy of team")
	require.Contains(t, w.MustGateway("token", "ls", "--json"), `"namespace": "team"`)
	require.NotContains(t, w.MustGateway("token", "create", "other", "--role", "agent", "--json"), "namespace")
	w.Gateway("token", "create", "x", "--role", "agent", "--namespace", "a/b").MustFail(t, 1, "namespace")
	w.Gateway("token", "create", "x", "--local", "--namespace", "team").MustFail(t, 2, "leave out --local")
}
