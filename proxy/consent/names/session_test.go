package names_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"terminalproxy/protocol"
	"terminalproxy/proxy/consent/names"
)

// The id is valid whatever the session's name is, and unique.
func TestTheIDOfASession(t *testing.T) {
	for name, want := range map[string]string{
		"vim": "vim", "my notes/é\x1b": "my_notes___", "a.b_c:d-e": "a.b_c:d-e", strings.Repeat("x", 40): strings.Repeat("x", 32), "": "",
	} {
		id := names.NewSessionID(name)
		require.Regexp(t, `^`+want+`-[a-z2-7]{4}$`, id)
		require.True(t, protocol.ValidID(id), id)
	}
	require.NotEqual(t, names.NewSessionID("vim"), names.NewSessionID("vim"))
}
