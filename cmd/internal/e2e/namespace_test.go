package e2e_test

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// Tokens of a namespace are made and listed as such. Package hub tests that they see nothing of
// another namespace.
func TestTokensOfANamespace(t *testing.T) {
	w := newWorld(t)
	require.Contains(t, w.mustGateway("token", "create", "laptop", "--role", "proxy", "--namespace", "team", "--json"), `"namespace": "team"`)
	require.Contains(t, w.mustGateway("token", "ls"), "proxy of team")
	require.Contains(t, w.mustGateway("token", "ls", "--json"), `"namespace": "team"`)
	require.NotContains(t, w.mustGateway("token", "create", "other", "--role", "agent", "--json"), "namespace")
	w.gateway("token", "create", "x", "--role", "agent", "--namespace", "a/b").mustFail(t, 1, "namespace")
	w.gateway("token", "create", "x", "--local", "--namespace", "team").mustFail(t, 2, "leave out --local")
}
