package consent_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"terminalproxy/cmd/internal/e2e/world"

	"github.com/stretchr/testify/require"
)

func TestLevelTypeHoldsEnterInAShell(t *testing.T) {
	w := world.New(t, "bash")
	s := w.Terminal(100, 16)
	id := s.RunBash("--grant type --record s.cast")
	w.RequestGrant(id, "--level", "type", "--as", "codex")
	s.WaitTitle("[codex types]")
	sending := w.Start("gateway", "send", id, "--as", "codex", "--text", "echo hi > said", "--enter")
	s.Wait(world.HeldKeys)
	s.Wait(`“codex” wants to send <Enter> · runs: "echo hi > said"`)
	s.WaitTitle("[agent asks]")
	world.WaitRead(w, id, "held: the user has to let it through")
	s.Wait("$ echo hi > said\n")
	require.NoFileExists(t, w.Path("said"))
	s.ReleaseHeld("C-g")
	got := sending.Wait()
	require.Zero(t, got.Status, got.Err)
	require.Equal(t, "hi\n", w.Content("said"))

	sending = w.Start("gateway", "send", id, "--as", "codex", "--text", "echo no > said", "--enter")
	s.Wait(world.HeldKeys)
	s.Press(`C-\`)
	got = sending.Wait()
	got.MustFail(t, 1, "the user did not let <Enter> through and took the keyboard back")
	require.Contains(t, got.Err, "typed: text (14 bytes)")
	require.Contains(t, got.Err, `left on the line: "echo no > said"`)
	s.WaitShown(`codex is stopped; left on the line: "echo no > said"`)
	s.WaitTitle("[observed]")
	require.Equal(t, 4, w.Gateway("send", id, "--as", "codex", "--text", "x").Status)
	s.QuitProgram("\x15exit\n")
	require.Equal(t, "hi\n", w.Content("said"))
	require.Contains(t, w.MustGateway("audit", "show", "s.cast"), "codex types under grant 2, text, then keys, 15 bytes: the user let it through\n")
}

// The whole of an input that would submit waits, and an agent is told so in the same words as over
// MCP.
func TestLevelTypeHoldsSeveralKindsOfKeys(t *testing.T) {
	w := world.New(t)
	s := w.Terminal(100, 24)
	s.RunListener("--agent --grant type")
	w.Session()
	a := w.Agent("codex", world.Eras[1])
	a.MustCall("terminal_request_control", world.Args{"reason": "type", "level": "type"}, "granted", "waits until the user approves it")
	for _, c := range []struct {
		keys  []any
		shown string
		bytes string
	}{
		{[]any{"ctrl-c"}, "<Ctrl-C>", "\x03"},
		{[]any{"a", "esc"}, `"a"<Esc>`, "a\x1b"},
		{[]any{"left", "backspace", "tab"}, `<Left><Backspace><Tab>`, "\x1b[D\x7f\t"},
	} {
		before := w.Content("heard")
		sending := a.StartCall("terminal_send", world.Args{"keys": c.keys, "settle_ms": 0})
		s.Wait("“codex” wants to send " + c.shown)
		require.Equal(t, before, w.Content("heard"), "nothing of it is typed yet")
		s.ReleaseHeld("C-g")
		got := w.WaitAnswer(sending)
		require.False(t, got.Fails, got.Text)
		w.Until(func() bool { return w.Content("heard") == before+c.bytes }, func() string { return fmt.Sprintf("%q", w.Content("heard")) })
	}
	sending := a.StartCall("terminal_send", world.Args{"enter": true})
	s.ReleaseHeld(`C-\`)
	got := w.WaitAnswer(sending)
	require.True(t, got.Fails)
	require.Contains(t, got.Text, "the user did not let <Enter> through")
	require.Contains(t, got.Text, "do not send it again unless the user tells you to")
	s.QuitProgram("\x04")
	require.NotContains(t, strings.TrimSuffix(w.Content("heard"), "\x04"), "\x07", "no answer of the user's reaches the program")
}

// R47: the question shows the pending input to the last character, over as many rows as it needs,
// and leaves no trace.
func TestALongInputOpensOverSeveralRowsR47(t *testing.T) {
	w, s, id := world.StartListener(t, 60, 14, "--agent --grant type")
	w.RequestGrant(id, "--level", "type", "--as", "codex")
	s.WaitTitle("[codex types]")
	s.WaitGone("codex may type")
	before := s.Colours()
	text := "begin " + strings.Repeat("0123456789 ", 20) + "end"
	sending := w.Start("gateway", "send", id, "--as", "codex", "--paste", w.Write("long", text+"\n"))
	s.Wait(world.HeldKeys)
	// Rows are cut behind blanks and begin with one.
	plain := strings.Join(strings.Fields(s.Screen()), " ")
	require.Contains(t, plain, `“codex” wants to send "`+text+`"<Enter>`)
	require.Empty(t, w.Content("heard"))
	s.ReleaseHeld("C-g")
	require.Zero(t, sending.Wait().Status)
	require.Equal(t, text+"\r", w.WaitHeard("heard", "\r$"))
	s.WaitColours(before)

	// R66: an input larger than the screen is never put to the user.
	got := w.Gateway("send", id, "--as", "codex", "--paste", w.Write("longer", strings.Repeat("x", 2000)+"\n"))
	got.MustFail(t, 2, "has no room for all of the text that this would submit: clear the line")
	s.WaitColours(before)
	s.WaitTitle("[codex types]")
	s.QuitProgram("\x04")
}

// R6: the user types on while an input is held: it stays until the user decides.
func TestTypingDecidesNothingR6(t *testing.T) {
	w, s, id := world.StartListener(t, 100, 24, "--agent --grant type")
	w.RequestGrant(id, "--level", "type", "--as", "codex")
	s.WaitTitle("[codex types]")
	sending := w.Start("gateway", "send", id, "--as", "codex", "enter")
	s.Wait(world.HeldKeys)
	s.Typed("mine")
	require.Equal(t, "mine", w.WaitHeard("heard", "mine"))
	s.Wait(world.HeldKeys)
	s.ReleaseHeld("C-g")
	require.Zero(t, sending.Wait().Status)
	require.Equal(t, "mine\r", w.WaitHeard("heard", "\r"))
	s.QuitProgram("\x04")
}

// R46: an agent may have written what the user pastes, so Ctrl+G in a paste does not count, however
// long the question stands. The user sees that it did not count; a key press does.
func TestACtrlGInAPasteAnswersNothingR46(t *testing.T) {
	w, s, id := world.StartListener(t, 100, 24, "--agent")
	asking := w.Start(w.CLI, "request", id, "--reason", "look")
	s.WaitQuestion()
	require.NotContains(t, s.Screen(), "press again")
	require.NoError(t, w.Command("tmux", "-S", w.Tmux, "set-buffer", "PS1='\\w \a \\$ '\r").Run())
	<-time.After(1600 * time.Millisecond) // longer than a key counts as an accident
	s.Tmux("paste-buffer", "-r")          // without brackets, whatever the program asks for
	w.WaitContent("heard", "PS1='\\w  \\$ '\r")
	s.Wait("press again: Ctrl+G allows")
	s.Answer("C-g")
	require.Zero(t, asking.Wait().Status)
	s.QuitProgram("\x04")
}
