package agents_test

import (
	"testing"

	"terminalproxy/cmd/internal/dev/fakemodel"
	"terminalproxy/cmd/internal/e2e/world"

	"github.com/stretchr/testify/require"
)

// Agents whose shell has a background wake their model by the exit of gateway wait there.
func TestAgentsAreWokenByTheirShell_Client(t *testing.T) {
	for _, tt := range []struct {
		agent, start, ready string
		with                world.Args
	}{
		{"claude", "claude --setting-sources user --permission-mode default --allowedTools Bash", `(?m)^❯`, world.Args{"run_in_background": true}},
		{"copilot", "copilot --allow-all-tools", `Interactive ·`, world.Args{"mode": "async"}},
	} {
		t.Run(tt.agent, func(t *testing.T) {
			c := world.New(t).NewChat(world.ChatAgentNamed(tt.agent))
			w := c.W
			user := w.Terminal(100, 24)
			user.Run("proxy --agent bash -c 'read; echo BUILD ENDED; cat'")
			id := w.Session()
			c.S.Run(c.Env + tt.start)
			c.S.Match(tt.ready)
			c.Say("tell me when the build ends")
			c.Next()
			tt.with["command"] = "gateway wait " + id + " --text 'BUILD ENDED' --timeout 10m"
			tt.with["description"] = "wait for the build"
			c.StartCall(c.Agent.Shell, tt.with)
			require.Contains(t, c.Next().Result, "background")
			c.Reply(fakemodel.Turn{Say: "I WAIT"})
			c.S.Wait("I WAIT")
			user.Press("Enter")
			require.Regexp(t, `"wait for the build".* complete`, c.Next().Prompt)
			c.Reply(fakemodel.Turn{Say: "ALL DONE"})
			c.S.Wait("ALL DONE")
		})
	}
}
