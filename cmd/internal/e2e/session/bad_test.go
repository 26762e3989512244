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
		line string
		want string
	}{
		{"--", "no program given"},
		{"--agent  file", "no program given: its name is empty"},
		{"--nope true", "unknown flag: --nope"},
		{"--grant drive true", "--grant needs --agent"},
		{"--agent --grant all true", `--grant "all": must be type or drive`},
		{"--agent --for soon true", `--for "soon": not a duration`},
		{"--agent --for -1s true", "--for -1s: must not be negative"},
		{"--agent --yield 1 true", "--yield 1: missing unit"},
		{"--agent --snapshot-interval 1ms true", "--snapshot-interval 1ms: must be 10ms to 1m"},
		{"--agent --reclaim-key ctrl-c true", "it interrupts programs"},
		{"--agent --grant-key C-X --reclaim-key ctrl-x true", "--grant-key: ctrl-x takes the keyboard back already"},
		{"--agent --gateway ws://example.com true", "use wss://"},
		{"--agent --allow-remote-grant true", "--allow-remote-grant needs a remote gateway, not the local gateway"},
		{"--agent --token-file no-such-file true", "--token-file"},
		{"--agent --name a\nb true", "--name"},
		{"--agent --notify https://ada:pw@example.com/ true", "--notify: it holds a user name or password"},
		{"--agent --notify off --notify terminal true", "--notify off: there is another --notify"},
		{"--cols 0 true", "--cols 0"},
		{"--log /proc/no/log true", "--log"},
		{"--log log --log-level loud true", `--log-level "loud": unknown level`},
		{"--record no/s.cast touch ran", "--record: no/s.cast: the directory no does not exist"},
		{"--require-tty true", "is not a terminal"},
		{"--status-fd 3 true", "--status-fd 3: must be a descriptor above 2, open for writing"},
		{"--agent --keep true", "--keep: standard input or output is not a terminal"},
		{"--keep true", "--keep needs --agent"},
	}
	for _, tt := range tests {
		got := w.Do("proxy", strings.Split(tt.line, " ")...)
		line, _, _ := strings.Cut(got.Err, "\n")
		require.Equal(t, 2, got.Status, "%q: %s", tt.line, got.Err)
		require.True(t, strings.HasPrefix(line, "proxy: "), "%q: %s", tt.line, got.Err)
		require.Contains(t, line, tt.want, "%q", tt.line)
	}
	require.NoFileExists(t, w.Path("ran"))
}
