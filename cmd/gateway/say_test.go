package main

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"terminalproxy/protocol"
)

func TestSay(t *testing.T) {
	p := shareTerminal(t)
	require.Equal(t, result{0, "delivered: it is on the user's screen\n", ""}, command(t, "say", "sh-1", "all\u202e is", "done", "--as", "ada"))
	require.Equal(t, []string{protocol.FromAgent, "ada", "all is done"}, []string{p.said[0].From, p.said[0].AgentName, p.said[0].Text})
	p.waiting = protocol.WaitsForSecret
	require.Contains(t, command(t, "say", "sh-1", "x").out, "waiting for the user: the program asks them for a password")
	var got map[string]any
	parse(t, command(t, "say", "sh-1", "x", "--json"), &got)
	require.Equal(t, map[string]any{"sessionId": "sh-1", "delivered": false, "waiting": "password"}, got)

	for _, c := range []struct {
		args   []string
		status int
		say    string
	}{
		{[]string{"sh-1"}, statusUsage, "missing argument"},
		{[]string{"sh-1", "\u200b"}, statusUsage, "the text is empty"},
		{[]string{"sh-1", strings.Repeat("x", 301)}, statusUsage, "301 characters long; the limit is 300"},
		{[]string{"sh-1", "x", "--to", "all"}, statusUsage, "must be user or agent"},
		{[]string{"sh-1", "x", "--to", "agent", "--as", "ada"}, statusUsage, "--as cannot be used with --to agent"},
		{[]string{"sh-1", "\u200b", "--to", "agent"}, statusUsage, "the message is empty"},
		{[]string{"sh-1", strings.Repeat("x", 501), "--to", "agent"}, statusUsage, "the limit is 500"},
		{[]string{"sh-1", "x", "--to", "agent"}, statusForbidden, "standard input is not a terminal"},
		{[]string{"sh-9", "x"}, statusNoSession, "no session"},
	} {
		got := command(t, append([]string{"say"}, c.args...)...)
		got.mustFail(t, c.status, c.say)
	}
	t.Setenv("TERMINALPROXY_SESSION", "sh-1")
	require.Contains(t, command(t, "say", "sh-1", "x", "--to", "agent").err, "inside the session sh-1")
	require.Len(t, p.said, 3, "nothing else was said")
}
