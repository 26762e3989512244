package e2e_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

const heldKeys = "Ctrl+G sends it"

// releaseHeld presses a key until nothing is held back.
func (s *terminal) releaseHeld(key string) {
	s.w.t.Helper()
	s.wait(heldKeys)
	s.pressWhile(key, heldKeys)
}

// pressWhile presses a key as long as a line stands: a key too soon after the line counts as an
// accident.
func (s *terminal) pressWhile(key, line string) {
	s.w.t.Helper()
	pause := time.NewTicker(400 * time.Millisecond)
	defer pause.Stop()
	for end := time.Now().Add(patience); strings.Contains(s.screen(), line); {
		<-pause.C
		if strings.Contains(s.screen(), line) {
			s.press(key)
		}
		require.True(s.w.t, time.Now().Before(end), "the line stays:\n%s", s.screen())
	}
}

// grantTyping gives an agent a grant of level type in a shell, and returns the session's id.
func (s *terminal) grantTyping(name string) (id string) {
	s.w.t.Helper()
	id = s.runBash("--grant type")
	s.w.requestGrant(id, "--level", "type", "--as", name)
	s.waitTitle("[" + name + " types]")
	return id
}

func TestLevelTypeHoldsEnterInAShell(t *testing.T) {
	w := newWorld(t, "bash")
	s := w.terminal(100, 16)
	id := s.grantTyping("codex")
	sending := w.start("gateway", "send", id, "--as", "codex", "--text", "echo hi > said", "--enter")
	s.wait(heldKeys)
	require.Contains(t, s.screen(), `“codex” wants to send <Enter> · runs: "echo hi > said"`)
	s.waitTitle("[agent asks]")
	require.Contains(t, w.mustGateway("read", id), "held: the user has to let it through")
	require.Contains(t, s.screen(), "$ echo hi > said\n", "the text is on the shell's line already")
	require.NoFileExists(t, w.path("said"))
	s.releaseHeld("C-g")
	got := sending.wait()
	require.Zero(t, got.status, got.err)
	require.Equal(t, "hi\n", w.content("said"))

	sending = w.start("gateway", "send", id, "--as", "codex", "--text", "echo no > said", "--enter")
	s.wait(heldKeys)
	s.press(`C-\`)
	got = sending.wait()
	got.mustFail(t, 1, "the user did not let <Enter> through and took the keyboard back")
	require.Contains(t, got.err, "typed: text (14 bytes)")
	require.Contains(t, got.err, `left on the line: "echo no > said"`)
	s.wait(`codex is stopped; left on the line: "echo no > said"`)
	s.waitTitle("[observed]")
	require.Equal(t, 4, w.gateway("send", id, "--as", "codex", "--text", "x").status)
	s.quitProgram("\x15exit\n")
	require.Equal(t, "hi\n", w.content("said"))
}

// The audit log records what the user let through.
func TestTheAuditLogRecordsConfirmedInput(t *testing.T) {
	w, s, id := startListener(t, 100, 16, "--agent --grant type --record session.cast")
	w.mustGateway("request", id, "--as", "codex", "--level", "type", "--reason", "look")
	for _, what := range []string{"--text=free", "enter"} { // it reads single keys, so nothing is free
		sending := w.start("gateway", "send", id, "--as", "codex", what)
		s.releaseHeld("C-g")
		require.Zero(t, sending.wait().status)
	}
	s.press("C-d")
	s.status()
	log := w.mustGateway("audit", "show", "session.cast")
	require.Contains(t, log, "codex types under grant 2, text, 4 bytes: the user let it through\n")
	require.Contains(t, log, "codex types under grant 2, keys, 1 byte: the user let it through\n")
}

// The whole of an input that would submit waits, and an agent is told so in the same words as over
// MCP.
func TestLevelTypeHoldsSeveralKindsOfKeys(t *testing.T) {
	w := newWorld(t)
	s := w.terminal(100, 24)
	s.runListener("--agent --grant type")
	w.session()
	a := w.agent("codex", eras[1])
	a.mustCall("terminal_request_control", args{"reason": "type", "level": "type"}, "granted", "waits until the user lets it through")
	for _, c := range []struct {
		keys  []any
		shown string
		bytes string
	}{
		{[]any{"ctrl-c"}, "<Ctrl-C>", "\x03"},
		{[]any{"ctrl-z"}, "<Ctrl-Z>", "\x1a"},
		{[]any{"alt-x"}, "<Alt-x>", "\x1bx"},
		{[]any{"a", "esc"}, `"a"<Esc>`, "a\x1b"},
		{[]any{"y", "enter"}, `"y"<Enter>`, "y\r"},
		{[]any{"left", "backspace", "tab"}, `<Left><Backspace><Tab>`, "\x1b[D\x7f\t"},
	} {
		before := w.content("heard")
		sending := a.startCall("terminal_send", args{"keys": c.keys, "settle_ms": 0})
		s.wait("“codex” wants to send " + c.shown)
		require.Equal(t, before, w.content("heard"), "nothing of it is typed yet")
		s.releaseHeld("C-g")
		got := w.waitAnswer(sending)
		require.False(t, got.fails, got.text)
		w.until(func() bool { return w.content("heard") == before+c.bytes }, func() string { return fmt.Sprintf("%q", w.content("heard")) })
	}
	sending := a.startCall("terminal_send", args{"enter": true})
	s.releaseHeld(`C-\`)
	got := w.waitAnswer(sending)
	require.True(t, got.fails)
	require.Contains(t, got.text, "the user did not let <Enter> through")
	require.Contains(t, got.text, "do not send it again unless the user tells you to")
	s.quitProgram("\x04")
	require.NotContains(t, strings.TrimSuffix(w.content("heard"), "\x04"), "\x07", "no answer of the user's reaches the program")
}

// R47: the question shows the pending input to the last character, over as many rows as it needs,
// and leaves no trace.
func TestALongInputOpensOverSeveralRowsR47(t *testing.T) {
	w, s, id := startListener(t, 60, 14, "--agent --grant type")
	w.requestGrant(id, "--level", "type", "--as", "codex")
	s.waitTitle("[codex types]")
	s.waitGone("codex may type")
	before := s.colours()
	text := "begin " + strings.Repeat("0123456789 ", 20) + "end"
	sending := w.start("gateway", "send", id, "--as", "codex", "--paste", w.write("long", text+"\n"))
	s.wait(heldKeys)
	// Rows are cut behind blanks and begin with one.
	plain := strings.Join(strings.Fields(s.screen()), " ")
	require.Contains(t, plain, `“codex” wants to send "`+text+`"<Enter>`)
	require.Empty(t, w.content("heard"))
	s.releaseHeld("C-g")
	require.Zero(t, sending.wait().status)
	require.Equal(t, text+"\r", w.waitHeard("heard", "\r$"))
	require.Equal(t, before, s.colours())

	// R66: an input larger than the screen is never put to the user.
	got := w.gateway("send", id, "--as", "codex", "--paste", w.write("longer", strings.Repeat("x", 2000)+"\n"))
	got.mustFail(t, 2, "has no room for all of the text that this would submit: clear the line")
	require.Equal(t, before, s.colours())
	s.waitTitle("[codex types]")
	s.quitProgram("\x04")
}

// R6: the user types on while an input is held: it stays until the user decides.
func TestTypingDecidesNothingR6(t *testing.T) {
	w, s, id := startListener(t, 100, 24, "--agent --grant type")
	w.requestGrant(id, "--level", "type", "--as", "codex")
	s.waitTitle("[codex types]")
	sending := w.start("gateway", "send", id, "--as", "codex", "enter")
	s.wait(heldKeys)
	s.typed("mine")
	require.Equal(t, "mine", w.waitHeard("heard", "mine"))
	s.wait(heldKeys)
	s.releaseHeld("C-g")
	require.Zero(t, sending.wait().status)
	require.Equal(t, "mine\r", w.waitHeard("heard", "\r"))
	s.quitProgram("\x04")
}

func TestWithoutALineTheTitleShowsWhatIsHeld(t *testing.T) {
	w, s, id := startListener(t, 100, 24, "--agent --no-notice --grant type")
	w.requestGrant(id, "--level", "type", "--as", "codex")
	sending := w.start("gateway", "send", id, "--as", "codex", "ctrl-c")
	s.waitTitle(`[codex: Ctrl+G sends <Ctrl-C>, Ctrl+\ refuses]`)
	w.until(func() bool { // a key too soon is an accident
		s.press("C-g")
		return w.content("heard") != ""
	}, s.title)
	require.Zero(t, sending.wait().status)
	require.Equal(t, "\x03", w.content("heard"))
	s.quitProgram("\x04")
}

// An agent may have written what the user pastes, so Ctrl+G in a paste does not count. The user
// sees that it did not count; a key press does.
func TestACtrlGInAPasteAnswersNothing(t *testing.T) {
	w, s, id := startListener(t, 100, 24, "--agent")
	asking := w.start(w.cli, "request", id, "--reason", "look")
	s.waitQuestion()
	require.NotContains(t, s.screen(), "press again")
	require.NoError(t, w.command("tmux", "-S", w.tmux, "set-buffer", "PS1='\\w \a \\$ '\r").Run())
	pause := time.NewTicker(300 * time.Millisecond)
	defer pause.Stop()
	for n := range 8 { // longer than the time in which a key counts as an accident
		<-pause.C
		s.pasteBuffer()
		w.until(func() bool { return strings.Count(w.content("heard"), "$") == n+1 }, s.screen)
		s.waitQuestion()
		s.wait("press again: Ctrl+G allows")
	}
	require.NotContains(t, w.content("heard"), "\a")
	s.answer("C-g")
	require.Zero(t, asking.wait().status)
	s.quitProgram("\x04")
}

// pasteBuffer pastes tmux's buffer without brackets, whatever the program asks for.
func (s *terminal) pasteBuffer() { s.tmux("paste-buffer", "-r") }
