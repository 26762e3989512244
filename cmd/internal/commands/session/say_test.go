package session

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"terminalproxy/cmd/internal/cli"
	"terminalproxy/cmd/internal/cli/clitest"
	"terminalproxy/protocol"
)

func TestSay(t *testing.T) {
	p := clitest.ShareTerminal(t)
	require.Equal(t, clitest.Result{Out: "delivered: it is on the user's screen\n"}, clitest.Command(t, "say", "sh-1", "all\u202e is", "done", "--as", "ada"))
	require.Equal(t, []string{protocol.FromAgent, "ada", "all is done"}, []string{p.Said[0].From, p.Said[0].AgentName, p.Said[0].Text})
	p.Waiting = protocol.WaitsForSecret
	require.Contains(t, clitest.Command(t, "say", "sh-1", "x").Out, "waiting for the user: the program asks them for a password")
	var got map[string]any
	clitest.Parse(t, clitest.Command(t, "say", "sh-1", "x", "--json"), &got)
	require.Equal(t, map[string]any{"sessionId": "sh-1", "delivered": false, "waiting": "password"}, got)

	for _, c := range []struct {
		args   []string
		status int
		say    string
	}{
		{[]string{"sh-1"}, cli.StatusUsage, "missing TEXT"},
		{[]string{"sh-1", "\u200b"}, cli.StatusUsage, "the text is empty"},
		{[]string{"sh-1", strings.Repeat("x", 301)}, cli.StatusUsage, "301 characters long; the limit is 300"},
		{[]string{"sh-1", "x", "--to", "all"}, cli.StatusUsage, "must be user or agent"},
		{[]string{"sh-1", "x", "--to", "agent", "--as", "ada"}, cli.StatusUsage, "--as cannot be used with --to agent"},
		{[]string{"sh-1", "\u200b", "--to", "agent"}, cli.StatusUsage, "the message is empty"},
		{[]string{"sh-1", strings.Repeat("x", 501), "--to", "agent"}, cli.StatusUsage, "the limit is 500"},
		{[]string{"sh-1", "x", "--to", "agent"}, cli.StatusForbidden, "standard input is not a terminal"},
		{[]string{"sh-9", "x"}, cli.StatusNoSession, "no session"},
	} {
		got := clitest.Command(t, append([]string{"say"}, c.args...)...)
		got.MustFail(t, c.status, c.say)
	}
	t.Setenv("TERMINALPROXY_SESSION", "sh-1")
	require.Contains(t, clitest.Command(t, "say", "sh-1", "x", "--to", "agent").Err, "inside the session sh-1")
	require.Len(t, p.Said, 3, "nothing else was said")
}
