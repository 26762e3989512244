package proxy

import (
	"testing"

	"github.com/stretchr/testify/require"

	"terminalproxy/proxy/input"
	"terminalproxy/proxy/keys"
	"terminalproxy/proxy/secretprompt"
)

// R78 and R26: of the user's keys it is counted how many characters they are, in either encoding, and nothing else.
func TestR78TheUsersKeysAreCounted(t *testing.T) {
	key, err := keys.ParseReclaimKey("ctrl-\\")
	require.NoError(t, err)
	d := &detector{Scanner: keys.NewScanner(key)}
	d.Scan([]byte("aß*\x1b[A\x1b[97u\x1b[97;1:3u\r\x7f\x03\x1b[200~p**\x1b[201~\x1b[I\x1b[1;1R\x1c"), func(input.Unit) {})
	require.Equal(t, secretprompt.Typed{Text: 7, Signs: 3}, d.typed.now())
}
