package e2e_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"terminalproxy/cmd/internal/fakemodel"
)

// When its time is over, an approval of the Agent Client Protocol is refused, and a person
// elsewhere reads why.
func TestAnApprovalIsRefusedAfterItsTime(t *testing.T) {
	w := newWorld(t, "python3")
	s := w.terminal(100, 30)
	s.run(w.terminalAgentEnv() + "gateway chat --with gemini --answer-within 1s leave")
	s.wait("(refused if not answered by ")
	s.wait("· closed: not answered within 1s")
	s.wait(`"optionId": "r"`)
	require.Equal(t, 1, s.status())
}

// Nothing that the agents asked for is done, and their models continue.
func TestRealAgentsAreRefusedAfterTheirTime(t *testing.T) {
	for _, name := range []string{"claude", "opencode"} {
		t.Run(name, func(t *testing.T) {
			clients(t)
			w := newWorld(t)
			c := w.newChat(chatAgentNamed(name))
			c.start("--answer-within 2s 'make a file'")
			c.next()
			c.callShell("touch made-never")
			c.s.wait("· closed: not answered within 2s")
			if name == "claude" { // opencode ends its turn
				require.Contains(t, c.next().Text, "not answered within 2s")
				c.reply(fakemodel.Turn{Say: "GOING ON"})
				c.s.wait("GOING ON")
			}
			require.Equal(t, 1, c.s.status())
			require.NoFileExists(t, w.path("made-never"))
		})
	}
	t.Run("claude in its interface", func(t *testing.T) {
		clients(t)
		b := besideClaudeIn(newWorld(t))
		b.s.run(b.env + "proxy --chat --answer-within 2s claude --permission-mode default")
		b.id = b.w.session()
		b.waitForLog(`"state":"at prompt"`)
		b.prompt()
		b.callShell("touch made-never")
		b.waitForLog(`"why":"not answered within 2s"`)
		require.Contains(t, b.next().Text, "not answered within 2s")
		b.reply(fakemodel.Turn{Say: "GOING ON"})
		b.s.wait("GOING ON")
		require.NotContains(t, b.s.screen(), "Do you want to proceed")
		require.NoFileExists(t, b.w.path("made-never"))
		b.s.wait("❯")
		b.exit()
	})
}
