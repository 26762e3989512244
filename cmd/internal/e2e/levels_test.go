package e2e_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

const heldKeys = "Ctrl+G sends it"

// lets presses a key until nothing is held any more.
func (s *terminal) lets(key string) {
	s.w.t.Helper()
	s.wait(heldKeys)
	s.presses(key, heldKeys)
}

// presses presses a key for as long as a line stands: one that comes too soon after it counts as an accident.
func (s *terminal) presses(key, line string) {
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

// typist gives an agent a grant of level type in a shell and returns the session's id.
func (s *terminal) typist(name string) (id string) {
	s.w.t.Helper()
	id = s.bash("--grant type")
	s.w.granted(id, "--level", "type", "--as", name)
	s.titled("[" + name + " types]")
	return id
}

func TestLevelTypeHoldsEnterInAShell(t *testing.T) {
	w := newWorld(t, "bash")
	s := w.terminal(100, 16)
	id := s.typist("codex")
	sending := w.start("gateway", "send", id, "--as", "codex", "--text", "echo hi > said", "--enter")
	s.wait(heldKeys)
	require.Contains(t, s.screen(), `“codex” wants to send <Enter> · runs: "echo hi > said"`)
	s.titled("[agent asks]")
	require.Contains(t, w.good("read", id), "held: the user has to let it through")
	require.Contains(t, s.screen(), "$ echo hi > said\n", "the text is on the shell's line already")
	require.NoFileExists(t, w.path("said"))
	s.lets("C-g")
	got := sending.wait()
	require.Zero(t, got.status, got.err)
	require.Equal(t, "hi\n", w.content("said"))

	sending = w.start("gateway", "send", id, "--as", "codex", "--text", "echo no > said", "--enter")
	s.wait(heldKeys)
	s.press(`C-\`)
	got = sending.wait()
	require.Equal(t, 1, got.status)
	require.Contains(t, got.err, "the user did not let <Enter> through and took the keyboard back")
	require.Contains(t, got.err, "typed: text (14 bytes)")
	require.Contains(t, got.err, `left on the line: "echo no > said"`)
	s.wait(`codex is stopped; left on the line: "echo no > said"`)
	s.titled("[observed]")
	require.Equal(t, 4, w.gateway("send", id, "--as", "codex", "--text", "x").status)
	s.quits("\x15exit\n")
	require.Equal(t, "hi\n", w.content("said"))
}

// R47: what would be sent is shown to the last character, over as many rows as it takes, and leaves no trace.
func TestR47ALongInputOpensOverSeveralRows(t *testing.T) {
	w, s, id := listening(t, 60, 14, "--agent --grant type")
	w.granted(id, "--level", "type", "--as", "codex")
	s.titled("[codex types]")
	s.waitGone("codex may type")
	before := s.colours()
	text := "begin " + strings.Repeat("0123456789 ", 20) + "end"
	sending := w.start("gateway", "send", id, "--as", "codex", "--paste", w.write("long", text+"\n"))
	s.wait(heldKeys)
	// Rows are cut behind blanks and begin with one.
	plain := strings.Join(strings.Fields(s.screen()), " ")
	require.Contains(t, plain, `“codex” wants to send "`+text+`"<Enter>`)
	require.Empty(t, w.content("heard"))
	s.lets("C-g")
	require.Zero(t, sending.wait().status)
	require.Equal(t, text+"\r", w.listens("heard", "\r$"))
	require.Equal(t, before, s.colours())

	// R66: more than the screen holds is not put to the user at all.
	got := w.gateway("send", id, "--as", "codex", "--paste", w.write("longer", strings.Repeat("x", 2000)+"\n"))
	require.Equal(t, 2, got.status)
	require.Contains(t, got.err, "has no room for all that this would submit")
	require.Equal(t, before, s.colours())
	s.titled("[codex types]")
	s.quits("\x04")
}
