package chat_test

import (
	"slices"
	"strings"
	"testing"

	"terminalproxy/cmd/internal/dev/fakemodel"
	"terminalproxy/cmd/internal/e2e/world"

	"github.com/stretchr/testify/require"
)

// A hosted agent sees the terminals that the user shares, and types there after one yes, given at
// the terminal. It asks in the conversation for its other tools as before.
func TestHostedAgentsUseSharedTerminals_Client(t *testing.T) {
	for _, a := range world.ChatAgents {
		t.Run(a.Name, func(t *testing.T) {
			w := world.New(t)
			c := w.NewChat(a)
			user := w.Terminal(100, 24)
			id := user.RunBash("")
			c.S.Run(c.Env + "gateway chat --terminals --with " + a.Name + a.With)
			c.S.Wait("Ctrl+D")
			for {
				c.Say("look at my terminal")
				q := c.Next()
				if strings.Contains(string(q.Body), "terminal_list") || offersSearch(q) {
					break
				}
				c.Reply(fakemodel.Turn{Say: "NOT YET"}) // it takes a moment to offer the tools to its model
				c.S.Wait("NOT YET")
			}
			c.StartCall("terminal_list", nil)
			require.Contains(t, c.Next().Result, id)
			c.StartCall("terminal_request_control", world.Args{"terminal": id, "reason": "to run a command"})
			user.Answer("C-g")
			require.Contains(t, c.Next().Result, "granted")
			c.StartCall("terminal_send", world.Args{"terminal": id, "text": "echo TYPED-$((40+2))\n"})
			require.Contains(t, c.Next().Result, "TYPED-42")
			user.Wait("TYPED-42")
			require.NotContains(t, c.S.Screen(), "allow once")
			require.NotContains(t, string(c.Open.Body), "terminal_run", "it starts programs only with a yes in the conversation")
			c.CallShell("touch asked")
			c.S.Wait("touch asked")
			c.S.Wait("allow once")
		})
	}
}

// offersSearch reports whether the model can search for tools that are held back.
func offersSearch(q fakemodel.Request) bool {
	return slices.ContainsFunc(q.Tools, func(t fakemodel.Tool) bool { return t.Name == "tool_search" })
}
