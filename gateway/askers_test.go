package gateway

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"terminalproxy/gateway/access/auth"
	"terminalproxy/gateway/access/secrets"
	"terminalproxy/protocol/fake"
)

// A program that no sudo, ssh or git started, as this test, gets nothing from the local socket; a
// question by one that did not show itself before is refused; and over TCP there is no such path.
func TestOnlyAHelperAsks(t *testing.T) {
	d := serveSocket(t, New(Config{}))
	conn, err := d.dial(fake.Within(t))
	require.NoError(t, err)
	defer conn.Close()
	sealed := false
	answer, err := secrets.Ask(fake.Within(t), conn, func() { sealed = true }, secrets.Question{Kind: "secret", Prompt: "Password: "})
	require.Empty(t, answer)
	require.IsType(t, secrets.Refusal(""), err)
	require.ErrorContains(t, err, "only sudo, ssh, git and gpg may ask")
	require.False(t, sealed, "it ends before the program asks")

	c := d.plain(t)
	require.Contains(t, c.mustAnswer(http.StatusForbidden, "POST", secrets.PathAsk, `{"requestId":"r","kind":"secret"}`), "run the command, not the helper")
	c.mustAnswer(http.StatusForbidden, "POST", secrets.PathAsk, `{`)
	c.mustAnswer(http.StatusForbidden, "POST", secrets.PathHello, ``)
	c.mustAnswer(http.StatusMethodNotAllowed, "GET", secrets.PathAsk, ``)

	addr, tokens, _ := tcp(t, Config{})
	for _, role := range auth.Roles {
		web := bearer(addr, tokens[role]).plain(t)
		for _, path := range []string{secrets.PathHello, secrets.PathAsk} {
			web.mustAnswer(http.StatusNotFound, "POST", path, `{}`)
		}
	}
}
