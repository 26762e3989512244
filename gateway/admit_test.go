package gateway

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"terminalproxy/gateway/access/auth"
	"terminalproxy/gateway/client"
)

// The same token and key give the same id, whatever name the agent asks for. Another token or key
// gives another agent's id. Without a key, or in another role, no id lasts.
func TestAnAgentsIDIsOfItsTokenAndItsKey(t *testing.T) {
	member := func(role auth.Role, token, key, name string) (id string, lasting bool) {
		m := memberOf(auth.Identity{Role: role, TokenID: token}, http.Header{
			http.CanonicalHeaderKey(client.HeaderKey): {key}, http.CanonicalHeaderKey(client.HeaderName): {name},
		})
		return m.ID, m.Lasting
	}
	same, lasting := member(auth.RoleAgent, "token-1", "key-1", "ada")
	require.Regexp(t, "^a-[a-z2-7]{12}$", same)
	require.True(t, lasting)
	for name, c := range map[string]struct {
		role             auth.Role
		token, key, wish string
		want             func(id string) bool
	}{
		"again":         {auth.RoleAgent, "token-1", "key-1", "bert", func(id string) bool { return id == same }},
		"another token": {auth.RoleAgent, "token-2", "key-1", "ada", func(id string) bool { return id != same && id != "" }},
		"no token":      {auth.RoleAgent, "", "key-1", "ada", func(id string) bool { return id != same && id != "" }},
		"another key":   {auth.RoleAgent, "token-1", "key-2", "ada", func(id string) bool { return id != same && id != "" }},
		"no key":        {auth.RoleAgent, "token-1", "", "ada", func(id string) bool { return id == "" }},
		"a viewer":      {auth.RoleViewer, "token-1", "key-1", "ada", func(id string) bool { return id == "" }},
	} {
		id, lasting := member(c.role, c.token, c.key, c.wish)
		require.True(t, c.want(id), "%s: %q beside %q", name, id, same)
		require.Equal(t, id != "", lasting, name)
	}
}
