package chat_test

import (
	"testing"

	"terminalproxy/cmd/internal/dev/fakemodel"
	"terminalproxy/cmd/internal/e2e/world"

	"github.com/stretchr/testify/require"
)

// When its time is over, an approval of the Agent Client Protocol is refused, and a person
// elsewhere reads why.
func TestAnApprovalIsRefusedAfterItsTime(t *testing.T) {
	w := world.New(t, "python3")
	s := w.Terminal(100, 30)
	s.Run(askingAgentEnv(w) + "gateway chat --with gemini --answer-within 1s leave")
	s.Wait("(refused if not answered by ")
	s.Wait("· closed: not answered within 1s")
	s.Wait(`"optionId": "r"`)
	require.Equal(t, 1, s.Status())
}

// Nothing that Claude Code asked for is done, and its model continues.
func TestClaudeIsRefusedAfterItsTime_Client(t *testing.T) {
	t.Run("line by line", func(t *testing.T) {
		world.Clients(t)
		w := world.New(t)
		c := w.NewChat(world.ChatAgentNamed("claude"))
		start(c, "--answer-within 2s 'make a file'")
		c.Next()
		c.CallShell("touch made-never")
		c.S.Wait("· closed: not answered within 2s")
		require.Contains(t, c.Next().Text, "not answered within 2s")
		c.Reply(fakemodel.Turn{Say: "GOING ON"})
		c.S.Wait("GOING ON")
		require.Equal(t, 1, c.S.Status())
		require.NoFileExists(t, w.Path("made-never"))
	})
	t.Run("in its interface", func(t *testing.T) {
		world.Clients(t)
		b := world.BesideClaudeIn(world.New(t))
		b.S.Run(b.Env + "proxy --chat --answer-within 2s claude --permission-mode default")
		b.ID = b.W.Session()
		b.WaitForLog(`"state":"at prompt"`)
		b.Prompt()
		b.CallShell("touch made-never")
		b.WaitForLog(`"why":"not answered within 2s"`)
		require.Contains(t, b.Next().Text, "not answered within 2s")
		b.Reply(fakemodel.Turn{Say: "GOING ON"})
		b.S.Wait("GOING ON")
		require.NotContains(t, b.S.Screen(), "Do you want to proceed")
		require.NoFileExists(t, b.W.Path("made-never"))
		b.S.Wait("❯")
		exit(b)
	})
}
