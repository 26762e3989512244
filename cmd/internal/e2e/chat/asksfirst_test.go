package chat_test

import (
	"testing"

	"terminalproxy/cmd/internal/e2e/world"

	"github.com/stretchr/testify/require"
)

// waitMode waits until the world's first session says that its agent is in a mode.
func waitMode(w *world.World, mode string) {
	w.T.Helper()
	w.Until(func() bool {
		listed := w.Sessions()
		return len(listed) > 0 && listed[0].Chat != nil && listed[0].Chat.Mode == mode
	}, func() string { return w.MustGateway("ls", "--json") })
}

// Claude Code asks, even with a new configuration under which it would let a model decide. Its
// mode, and each change of the mode, shows in the conversation.
func TestClaudeAsksFirst_Client(t *testing.T) {
	world.Clients(t)
	w := world.New(t)
	b := world.BesideClaudeIn(w)
	b.Start("")
	waitMode(w, "default")
	b.WaitForLog("the mode is default (asks)")
	b.Prompt()
	b.AskForFile("made-never")
	require.NoFileExists(t, w.Path("made-never"))
	b.S.Press("Escape")
	b.WaitForLog(`"outcome":"interrupted"`)
	b.S.Wait("❯")
	b.S.Press("BTab")
	b.WaitForLog("the mode is acceptEdits (changes files without asking) now")
	waitMode(w, "acceptEdits")
	require.NoFileExists(t, w.Path("made-never"))
	exit(b)

	w.WriteJSON("claude/settings.json", world.Args{"permissions": world.Args{"defaultMode": "plan"}})
	b.S.RunAnew(b.Env + "proxy --chat --name chosen claude")
	b.ID = w.Session()
	b.WaitForLog("the mode is plan (changes nothing)")
	exit(b)
}
