package e2e_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// waitInner waits for the session inside another, and returns its id.
func (w *world) waitInner(outer string) (id string) {
	w.t.Helper()
	w.until(func() bool {
		for _, s := range w.sessions() {
			if s.ParentSessionID == outer {
				id = s.SessionID
			}
		}
		return id != ""
	}, func() string { return w.gateway("ls").out })
	return id
}

// A message to any other session is refused with a reason.
func TestMessagesOnlyReachAnAgentInside(t *testing.T) {
	w := newWorld(t)
	s := w.terminal(100, 24)
	s.run("proxy --agent --name outer sh")
	outer := w.session()
	s.typed("gateway run -- sleep 1000 &\n")
	inner := w.waitInner(outer)
	w.gateway("chat", "send", outer, "hello", "--to", "nowhere").mustFail(t, 3, "--to nowhere: there is no such session\nhint: inside "+outer+" run: "+inner)
	w.gateway("chat", "send", outer, "hello", "--to", outer).mustFail(t, 2, "--to "+outer+": is that session itself")
	w.gateway("chat", "send", inner, "hello", "--to", outer).mustFail(t, 1, "--to "+outer+": does not run inside "+inner+"\nhint: nothing runs inside "+inner)
	w.gateway("chat", "send", outer, "hello", "--to", inner).mustFail(t, 1, "--to "+inner+": there is no coding agent to talk to\nhint: to type there: gateway attach "+inner)
	w.mustGateway("close", inner)
}

// Claude Code without a terminal, started in another session's terminal, gets the message.
func TestAMessageReachesAnAgentInside(t *testing.T) {
	clients(t)
	w := newWorld(t)
	c := w.newChat(chatAgentNamed("claude"))
	c.s.run("proxy --agent --name outer sh")
	outer := w.session()
	c.s.typed(c.env + "gateway run --chat -- claude &\n")
	inner := w.waitInner(outer)
	w.until(func() bool {
		return strings.Contains(w.mustGateway("chat", "log", inner, "--json"), `"state":"at prompt"`)
	}, c.s.screen)
	require.Contains(t, w.mustGateway("chat", "send", outer, "hello inside", "--to", inner), "sent to "+inner)
	require.Contains(t, c.next().Text, "hello inside")
	w.mustGateway("close", inner)
}
