package consent_test

import (
	"testing"

	"terminalproxy/cmd/internal/e2e/world"

	"github.com/stretchr/testify/require"
)

// writeMessage opens the menu and writes a message to the agent. Right after the end of a grant,
// the key would count as one press too many.
func writeMessage(s *world.Terminal, text string) {
	s.W.T.Helper()
	s.OpenMenu("m writes to it")
	s.Typed("m")
	s.Wait("Enter sends")
	s.Typed(text)
	s.Wait(text)
}

func TestTheUserWritesToTheAgent(t *testing.T) {
	w, s, id := world.StartListener(t, 100, 16, "--agent --grant drive")
	a := w.Agent("codex", world.Eras[1])
	a.MustCall("terminal_request_control", world.Args{"reason": "drive"}, "granted")
	s.Press(`C-\`)
	s.WaitShown("codex is stopped")
	s.WaitGone("codex is stopped")
	before := s.Colours()
	writeMessage(s, "not that filex")
	s.WaitBottom("to codex: not that filex")
	s.Press("BSpace", "Enter")
	s.WaitShown("sent to codex: “not that file”")
	// The message comes once, with the next answer of any kind.
	require.Contains(t, a.MustCall("terminal_read", nil), "message from the user: not that file\n"+id+" rev")
	require.NotContains(t, a.MustCall("terminal_read", nil), "message from the user")
	require.NotContains(t, w.MustGateway("read", id, "--as", "another"), "message from the user", "it was for codex")
	s.WaitGone("sent to codex")
	s.WaitColours(before)

	// An abandoned message leaves nothing behind, and the terminal's own replies are not part of
	// it.
	for _, key := range []string{"Escape", `C-\`} {
		writeMessage(s, "never mind")
		s.Press(key)
		s.WaitGone("never mind")
	}
	s.Bytes("\x1b[?1;2c")
	writeMessage(s, "a ")
	s.Bytes("\x1b[200~pas\nted\x1b[201~")
	s.Wait("to codex: a pas ted")
	s.Press("Escape")
	s.WaitGone("Esc closes")
	s.WaitColours(before)
	require.NotContains(t, a.MustCall("terminal_read", nil), "message from the user")
	s.QuitProgram("mine\x04")
	require.Equal(t, "\x1b[?1;2cmine\x04", w.Content("heard"), "nothing of a message reaches the program")
}
