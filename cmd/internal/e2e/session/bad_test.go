package session_test

import (
	"strings"
	"testing"

	"terminalproxy/cmd/internal/e2e/world"

	"github.com/stretchr/testify/require"
)

func TestBadInputToProxy(t *testing.T) {
	w := world.New(t)
	tests := []struct {
		args []string
		want string
	}{
		{nil, "no program given"},
		{[]string{"--agent", "", "file"}, "no program given: its name is empty"},
		{[]string{"--nope", "true"}, "unknown flag: --nope"},
		{[]string{"--grant", "drive", "true"}, "--grant needs --agent"},
		{[]string{"--agent", "--grant", "all", "true"}, `--grant "all": must be type or drive`},
		{[]string{"--agent", "--for", "soon", "true"}, `--for "soon": not a duration`},
		{[]string{"--agent", "--for", "-1s", "true"}, "--for -1s: must not be negative"},
		{[]string{"--agent", "--yield", "1", "true"}, "--yield 1: missing unit"},
		{[]string{"--agent", "--snapshot-interval", "1ms", "true"}, "--snapshot-interval 1ms: must be 10ms to 1m"},
		{[]string{"--agent", "--reclaim-key", "ctrl-c", "true"}, "it interrupts programs"},
		{[]string{"--agent", "--grant-key", "C-X", "--reclaim-key", "ctrl-x", "true"}, "--grant-key: ctrl-x takes the keyboard back already"},
		{[]string{"--agent", "--gateway", "ws://example.com", "true"}, "use wss://"},
		{[]string{"--agent", "--allow-remote-grant", "true"}, "--allow-remote-grant needs a remote gateway, not the local gateway"},
		{[]string{"--agent", "--token-file", "no-such-file", "true"}, "--token-file"},
		{[]string{"--agent", "--name", "a\nb", "true"}, "--name"},
		{[]string{"--agent", "--notify", "https://ada:pw@example.com/", "true"}, "--notify: it holds a user name or password"},
		{[]string{"--agent", "--notify", "off", "--notify", "terminal", "true"}, "--notify off: there is another --notify"},
		{[]string{"--cols", "0", "true"}, "--cols 0"},
		{[]string{"--log", "/proc/no/log", "true"}, "--log"},
		{[]string{"--log", "log", "--log-level", "loud", "true"}, `--log-level "loud": unknown level`},
		{[]string{"--record", "no/s.cast", "touch", "ran"}, "--record: no/s.cast: the directory no does not exist"},
		{[]string{"--require-tty", "true"}, "is not a terminal"},
		{[]string{"--status-fd", "3", "true"}, "--status-fd 3: must be a descriptor above 2, open for writing"},
		{[]string{"--agent", "--keep", "true"}, "--keep: standard input or output is not a terminal"},
		{[]string{"--keep", "true"}, "--keep needs --agent"},
	}
	for _, tt := range tests {
		got := w.Do("proxy", tt.args...)
		line, _, _ := strings.Cut(got.Err, "\n")
		require.Equal(t, 2, got.Status, "%q: %s", tt.args, got.Err)
		require.True(t, strings.HasPrefix(line, "proxy: "), "%q: %s", tt.args, got.Err)
		require.Contains(t, line, tt.want, "%q", tt.args)
	}
	require.NoFileExists(t, w.Path("ran"))
}
