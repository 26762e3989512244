package alert_test

import (
	"context"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"terminalproxy/proxy/display/alert"
)

func env(pairs ...string) func(string) string {
	return func(name string) string {
		for i := 0; i < len(pairs); i += 2 {
			if pairs[i] == name {
				return pairs[i+1]
			}
		}
		return ""
	}
}

const says = "claude asks in vim-k3f9"

func TestWhichTerminalTakesWhat(t *testing.T) {
	for _, c := range []struct {
		env  func(string) string
		want string
	}{
		{env("TERM", "xterm-kitty"), "\x1b]99;i=proxy:o=unfocused;" + says + "\x1b\\"},
		{env("TERM", "xterm-ghostty"), "\x1b]777;notify;proxy;" + says + "\x1b\\"},
		{env("TERM", "foot-extra"), "\x1b]777;notify;proxy;" + says + "\x1b\\"},
		{env("TERM", "xterm-256color", "TERM_PROGRAM", "WezTerm"), "\x1b]777;notify;proxy;" + says + "\x1b\\"},
		{env("TERM", "xterm-256color", "TERM_PROGRAM", "iTerm.app"), "\x1b]9;" + says + "\x1b\\"},
		{env("TERM", "xterm-256color", "LC_TERMINAL", "iTerm2"), "\x1b]9;" + says + "\x1b\\"},
		{env("TERM", "xterm-256color"), ""},
		{env("TERM", "linux"), ""},
		{env("TERM", "screen-256color", "STY", "1.x"), ""},
	} {
		require.Equal(t, c.want, string(alert.Terminal{Env: c.env}.Bytes(says)))
	}
	require.Equal(t, "\x1b]9;"+says+"\x1b\\", string(alert.Terminal{Env: env("TERM", "xterm-256color"), Forced: true}.Bytes(says)))
}

func TestThroughTmux(t *testing.T) {
	around := env("TMUX", "/tmp/tmux-0/default,1,0", "TERM", "tmux-256color", "TERM_PROGRAM", "tmux", "LC_TERMINAL", "iTerm2")
	for _, c := range []struct {
		names  []string
		passes bool
		forced bool
		want   string
	}{
		{[]string{"ghostty 1.2.0", "xterm-256color"}, true, false, "\x1bPtmux;\x1b\x1b]777;notify;proxy;" + says + "\x1b\x1b\\\x1b\\"},
		{[]string{"", "xterm-kitty"}, true, false, "\x1bPtmux;\x1b\x1b]99;i=proxy:o=unfocused;" + says + "\x1b\x1b\\\x1b\\"},
		{[]string{"ghostty 1.2.0", "xterm-256color"}, false, false, ""},
		{[]string{"ghostty 1.2.0", "xterm-256color"}, false, true, ""},
		{[]string{"XTerm(390)", "xterm-256color"}, true, false, ""},
		{[]string{"XTerm(390)", "xterm-256color"}, true, true, "\x1bPtmux;\x1b\x1b]9;" + says + "\x1b\x1b\\\x1b\\"},
	} {
		term := alert.Terminal{Env: around, Forced: c.forced, Tmux: func(context.Context) ([]string, bool) { return c.names, c.passes }}
		require.Equal(t, c.want, string(term.Bytes(says)), c)
	}
}

// Whatever an agent or a session is called, the string ends where it should and says one thing.
func TestNoTextIsAControlStringR43(t *testing.T) {
	for _, term := range []string{"xterm-kitty", "xterm-ghostty", "iterm2"} {
		for _, text := range []string{"a\x1b\\\x1b[2J", "a\ab", "a\u009cb", "a;b;c", "7;exec", "ä\u202e世", "\x00\r\n"} {
			got := string(alert.Terminal{Env: env("TERM", term)}.Bytes(text))
			require.True(t, strings.HasPrefix(got, "\x1b]") && strings.HasSuffix(got, "\x1b\\"))
			body := strings.TrimSuffix(strings.TrimPrefix(got, "\x1b]"), "\x1b\\")
			for _, r := range body {
				require.True(t, r >= ' ' && r <= '~', "%q", got)
			}
			most := map[string]int{"xterm-kitty": 2, "xterm-ghostty": 3, "iterm2": 1}[term]
			require.Equal(t, most, strings.Count(body, ";"), got)
			require.NotRegexp(t, `^9;\d`, body, "ConEmu's commands")
		}
	}
}
