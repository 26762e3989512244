package chat_test

import (
	"strings"
	"testing"

	"terminalproxy/cmd/internal/e2e/world"

	"github.com/stretchr/testify/require"
)

// waitInner waits for the session inside another, and returns its id.
func waitInner(w *world.World, outer string) (id string) {
	w.T.Helper()
	w.Until(func() bool {
		for _, s := range w.Sessions() {
			if s.ParentSessionID == outer {
				id = s.SessionID
			}
		}
		return id != ""
	}, func() string { return w.Gateway("ls").Out })
	return id
}

// A message to any other session is refused with a reason.
func TestMessagesOnlyReachAnAgentInside(t *testing.T) {
	w := world.New(t)
	s := w.Terminal(100, 24)
	s.Run("proxy --agent --name outer sh")
	outer := w.Session()
	s.Typed("gateway run -- sleep 1000 &\n")
	inner := waitInner(w, outer)
	w.Gateway("chat", "send", outer, "hello", "--to", "nowhere").MustFail(t, 3, "--to nowhere: there is no such session\nhint: inside "+outer+" run: "+inner)
	w.Gateway("chat", "send", outer, "hello", "--to", outer).MustFail(t, 2, "--to "+outer+": is that session itself")
	w.Gateway("chat", "send", inner, "hello", "--to", outer).MustFail(t, 1, "--to "+outer+": does not run inside "+inner+"\nhint: nothing runs inside "+inner)
	w.Gateway("chat", "send", outer, "hello", "--to", inner).MustFail(t, 1, "--to "+inner+": there is no coding agent to talk to\nhint: to type there: gateway attach "+inner)
	w.MustGateway("close", inner)
}

// Claude Code without a terminal, started in another session's terminal, gets the message.
func TestAMessageReachesAnAgentInside_Client(t *testing.T) {
	world.Clients(t)
	w := world.New(t)
	c := w.NewChat(world.ChatAgentNamed("claude"))
	c.S.Run("proxy --agent --name outer sh")
	outer := w.Session()
	c.S.Typed(c.Env + "gateway run --chat -- claude &\n")
	inner := waitInner(w, outer)
	w.Until(func() bool {
		return strings.Contains(w.MustGateway("chat", "log", inner, "--json"), `"state":"at prompt"`)
	}, c.S.Screen)
	require.Contains(t, w.MustGateway("chat", "send", outer, "hello inside", "--to", inner), "sent to "+inner)
	require.Contains(t, c.Next().Text, "hello inside")
	w.MustGateway("close", inner)
}
