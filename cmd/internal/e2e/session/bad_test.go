package session_test

import (
	"net"
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
		{[]string{"--"}, "no program given"},
		{[]string{"--agent", "", "file"}, "no program given: its name is empty"},
		{[]string{"--nope", "true"}, "unknown flag: --nope"},
		{[]string{"--grant", "drive", "true"}, "--grant needs --agent"},
		{[]string{"--agent", "--grant", "all", "true"}, `--grant "all": must be type or drive`},
		{[]string{"--agent", "--for", "soon", "true"}, `--for "soon": not a duration`},
		{[]string{"--agent", "--for", "10", "true"}, "--for 10: missing unit"},
		{[]string{"--agent", "--yield", "1", "true"}, "--yield 1: missing unit"},
		{[]string{"--agent", "--reclaim-key", "ctrl-c", "true"}, "it interrupts programs"},
		{[]string{"--agent", "--reclaim-key", "ctrl-d", "true"}, "told that the input ends"},
		{[]string{"--agent", "--reclaim-key", "ctrl-z", "true"}, "it suspends programs"},
		{[]string{"--agent", "--reclaim-key", "Ctrl+G", "true"}, "it gives the keyboard"},
		{[]string{"--agent", "--reclaim-key", "enter", "true"}, "its byte is also Enter"},
		{[]string{"--agent", "--reclaim-key", "esc", "true"}, "its byte is also Escape"},
		{[]string{"--agent", "--grant-key", "ctrl-c", "true"}, "it interrupts programs"},
		{[]string{"--agent", "--grant-key", "ctrl-a", "true"}, "while they edit a line"},
		{[]string{"--agent", "--grant-key", "ctrl-s", "true"}, "stops and continues the output"},
		{[]string{"--agent", "--grant-key", "enter", "true"}, "its byte is also Enter"},
		{[]string{"--agent", "--grant-key", "ctrl-1", "true"}, "has no byte of its own in every terminal"},
		{[]string{"--agent", "--grant-key", "y", "true"}, "is not Ctrl and one key"},
		{[]string{"--agent", "--grant-key", "", "--reclaim-key", "", "true"}, `--reclaim-key: reclaim key "" is not Ctrl and one key`},
		{[]string{"--agent", "--grant-key", `ctrl-\`, "true"}, "it takes the keyboard back elsewhere"},
		{[]string{"--agent", "--grant-key", "C-X", "--reclaim-key", "ctrl-x", "true"}, "--grant-key: ctrl-x takes the keyboard back already"},
		{[]string{"--grant-key", "ctrl-o", "true"}, "--grant-key needs --agent"},
		{[]string{"--agent", "--for", "-1s", "true"}, "--for -1s: must not be negative"},
		{[]string{"--agent", "--yield", "2h", "true"}, "--yield"},
		{[]string{"--agent", "--snapshot-interval", "1ms", "true"}, "--snapshot-interval 1ms: must be 10ms to 1m"},
		{[]string{"--agent", "--reclaim-key", "f13", "true"}, "--reclaim-key"},
		{[]string{"--agent", "--gateway", "http://x", "true"}, "--gateway"},
		{[]string{"--agent", "--gateway", "ws://example.com", "true"}, "use wss://"},
		{[]string{"--allow-remote-grant", "true"}, "--allow-remote-grant needs --agent"},
		{[]string{"--agent", "--allow-remote-grant", "true"}, "--allow-remote-grant needs a remote gateway, not the local gateway"},
		{[]string{"--allow-remote-keys", "true"}, "--allow-remote-keys needs --agent"},
		{[]string{"--agent", "--token-file", "no-such-file", "true"}, "--token-file"},
		{[]string{"--agent", "--name", "a\nb", "true"}, "--name"},
		{[]string{"--notify", "off", "true"}, "--notify needs --agent"},
		{[]string{"--agent", "--notify", "file:///tmp/x", "true"}, `--notify: scheme "file": must be https or http`},
		{[]string{"--agent", "--notify", "https://ada:pw@example.com/", "true"}, "--notify: it holds a user name or password"},
		{[]string{"--agent", "--notify", "off", "--notify", "terminal", "true"}, "--notify off: there is another --notify"},
		{[]string{"--agent", "--notify-after", "2h", "true"}, "--notify-after 2h0m0s: must be 0s to 1h"},
		{[]string{"--cols", "0", "true"}, "--cols 0"},
		{[]string{"--rows", "100000", "true"}, "--rows 100000"},
		{[]string{"--log", "/proc/no/log", "true"}, "--log"},
		{[]string{"--log", "log", "--log-level", "loud", "true"}, `--log-level "loud": unknown level`},
	}
	for _, tt := range tests {
		got := w.Do("proxy", tt.args...)
		line, _, _ := strings.Cut(got.Err, "\n")
		require.Equal(t, 2, got.Status, "%q: %s", tt.args, got.Err)
		require.True(t, strings.HasPrefix(line, "proxy: "), "%q: %s", tt.args, got.Err)
		require.Contains(t, line, tt.want, "%q", tt.args)
	}
}

func TestBadInputToGateway(t *testing.T) {
	w := world.New(t)
	s := w.Terminal(100, 24)
	none := w.Gateway("ls")
	require.Equal(t, 5, none.Status)
	require.Contains(t, none.Err, "proxy --agent PROGRAM")
	s.RunListener("--agent --grant drive")
	id := w.Session()
	w.RequestGrant(id)
	big := w.Write("big", strings.Repeat("x", 2<<20))
	w.Write("empty", "")
	long := strings.Repeat("long ", 200)
	w.Write("controls", "\x01\x02")
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer func() { _ = taken.Close() }()
	tests := []struct {
		name   string
		args   []string
		status int
		want   string
	}{
		{"unknown command", []string{"frobnicate"}, 2, "frobnicate"},
		{"unknown id", []string{"read", "vim-none"}, 3, "running: " + id},
		{"more than an id", []string{"read", id + "x"}, 3, "running: " + id},
		{"key that does not exist", []string{"send", id, "hyperenter"}, 2, "hyperenter"},
		{"paste of control characters", []string{"send", id, "--paste", w.Path("controls")}, 2, "nothing is left to paste"},
		{"unknown flag", []string{"ls", "--nope"}, 2, "--nope"},
		{"no id", []string{"close"}, 2, "missing ID"},
		{"unknown id to type into", []string{"send", "vim-none", "--text", "x"}, 3, "running: " + id},
		{"unknown id to ask for", []string{"request", "vim-none", "--reason", "x"}, 3, "running: " + id},
		{"unknown id to wait for", []string{"wait", "vim-none", "--exit"}, 3, "running: " + id},
		{"nothing to send", []string{"send", id}, 2, "send"},
		{"empty paste", []string{"send", id, "--paste", w.Path("empty")}, 2, "empty"},
		{"oversize text", []string{"send", id, "--text", strings.Repeat("x", 100_000)}, 2, "the limit is"},
		{"unknown condition", []string{"send", id, "--text", "x", "--until", "sunny"}, 2, "sunny"},
		{"time that is none", []string{"wait", id, "--idle", "soon"}, 2, "soon"},
		{"two conditions", []string{"wait", id, "--exit", "--changed"}, 2, "exactly one"},
		{"timeout", []string{"wait", id, "--exit", "--timeout", "0s"}, 2, "--timeout"},
		{"reason that is too long", []string{"request", id, "--reason", long}, 2, "--reason"},
		{"level", []string{"request", id, "--reason", "x", "--level", "root"}, 2, "drive or type"},
		{"name", []string{"request", id, "--reason", "x", "--as", "a\nb"}, 2, "--as"},
		{"history", []string{"read", id, "--history", "-1"}, 2, "--history"},
		{"gateway", []string{"ls", "--gateway", "gopher://x"}, 2, "gopher://x"},
		{"token file", []string{"ls", "--gateway", "ws://127.0.0.1:1", "--token-file", "no"}, 2, "no"},
		{"role", []string{"token", "create", "x", "--role", "king"}, 2, "proxy, agent, viewer or owner"},
		{"oversize paste", []string{"send", id, "--paste", big}, 2, "longer than"},
		{"paste of no file", []string{"send", id, "--paste", w.Path("no")}, 2, "no such file"},
		{"expression that does not compile", []string{"wait", id, "--regex", "a(b"}, 2, "missing closing )"},
		{"no condition", []string{"wait", id}, 2, "exactly one"},
		{"a program without a name", []string{"run", "--", ""}, 2, "run: no program given: its name is empty"},
		{"a log that is none", []string{"audit", "verify", w.Path("controls")}, 1, "so this is no audit log"},
		{"no reason", []string{"request", id}, 2, "--reason"},
		{"address that another serves", []string{"serve", "--listen", taken.Addr().String()}, 1, "--listen"},
		{"address of another machine", []string{"serve", "--listen", "203.0.113.1:1"}, 2, "--tls-cert"},
		{"address for others without a certificate", []string{"serve", "--listen", "0.0.0.0:0"}, 2, "--tls-cert"},
	}
	for _, tt := range tests {
		got := w.Gateway(tt.args...)
		require.Equal(t, tt.status, got.Status, "%s: %s%s", tt.name, got.Out, got.Err)
		require.True(t, strings.HasPrefix(got.Err, "gateway: "), "%s: %s", tt.name, got.Err)
		require.Contains(t, got.Err, tt.want, tt.name)
	}
	require.Empty(t, w.Content("heard"), "nothing of it was typed")
	s.Typed("on\x04")
	require.Zero(t, s.Status(), "and the session goes on")
	require.Equal(t, "on\x04", w.Content("heard"))
}

func TestBadInputToTools(t *testing.T) {
	w := world.New(t)
	a := w.Agent("claude", world.Eras[1])
	a.MustFail("terminal_read", nil, "there are no terminals", "proxy --agent")
	s := w.Terminal(100, 24)
	s.RunListener("--agent --grant drive")
	id := w.Session()
	a.MustCall("terminal_request_control", world.Args{"reason": "try"}, "granted")
	tests := []struct {
		tool string
		with world.Args
		want string
	}{
		{"terminal_read", world.Args{"terminal": "vim-none"}, id},
		{"terminal_read", world.Args{"terminal": 7}, `"terminal" is a JSON number, must be of type string`},
		{"terminal_read", world.Args{"view": "everything"}, "screen, history, changes"},
		{"terminal_read", world.Args{"page": 1}, `unknown parameter "page"`},
		{"terminal_wait", nil, `"for" is missing`},
		{"terminal_wait", world.Args{"for": "regex", "value": "a(b"}, "missing closing )"},
		{"terminal_wait", world.Args{"for": "text"}, "value"},
		{"terminal_wait", world.Args{"for": "exit", "timeout_ms": 900_000}, "the limit is 240000"},
		{"terminal_send", world.Args{"terminal": "vim-none", "text": "x"}, id},
		{"terminal_send", nil, "text"},
		{"terminal_send", world.Args{"keys": []string{"hyperenter"}}, "hyperenter"},
		{"terminal_send", world.Args{"text": strings.Repeat("x", 100_000)}, "send it in several calls"},
		{"terminal_send", world.Args{"text": "x", "expect_rev": 9_999_999}, "screen"},
		{"terminal_request_control", world.Args{"reason": " "}, `"reason" is empty`},
		{"terminal_request_control", world.Args{"reason": strings.Repeat("because ", 100)}, "make it shorter"},
	}
	for _, tt := range tests {
		a.MustFail(tt.tool, tt.with, tt.want)
	}
	require.Empty(t, w.Content("heard"), "nothing of it was typed")
	s.QuitProgram("on\x04")
}

// The terminal shows ^C where the cursor is, and the shell's prompt begins a line of its own.
func TestAnInterruptEndsItsLine(t *testing.T) {
	w := world.New(t)
	s := w.Terminal(100, 24)
	s.Run("gateway serve --listen 127.0.0.1:0")
	s.Wait("listening on ws://")
	s.Press("C-c")
	require.Zero(t, s.Status())
	require.Contains(t, s.Screen(), "^C\n")
}
