package e2e_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// writeMessage opens the menu and writes a message to the agent. Right after the end of a grant,
// the key would count as one press too many.
func (s *terminal) writeMessage(text string) {
	s.w.t.Helper()
	const menu = "m writes to it"
	pause := s.openMenuWith(menu)
	for !strings.Contains(s.screen(), "Enter sends") {
		<-pause
		if strings.Contains(s.screen(), menu) {
			s.typed("m")
			s.wait("Enter sends")
		}
	}
	s.typed(text)
	s.wait(text)
}

// openMenuWith presses the key until the menu shows these words. It returns ticks that leave the
// menu time to be drawn.
func (s *terminal) openMenuWith(words string) <-chan time.Time {
	s.w.t.Helper()
	pause := time.NewTicker(900 * time.Millisecond)
	s.w.t.Cleanup(pause.Stop)
	for end := time.Now().Add(patience); !strings.Contains(s.screen(), words); {
		s.press(`C-\`)
		require.True(s.w.t, time.Now().Before(end), "the menu does not open:\n%s", s.screen())
		<-pause.C
	}
	return pause.C
}

func TestTheUserWritesToTheAgent(t *testing.T) {
	w, s, id := startListener(t, 100, 16, "--agent --grant drive")
	a := w.agent("codex", eras[1])
	a.mustCall("terminal_request_control", args{"reason": "drive"}, "granted")
	s.press(`C-\`)
	s.wait("codex is stopped")
	s.waitGone("codex is stopped")
	before := s.colours()
	s.writeMessage("not that filex")
	require.Contains(t, s.bottom(), "to codex: not that filex")
	s.press("BSpace", "Enter")
	s.wait("sent to codex: “not that file”")
	// The message comes once, with the next answer of any kind.
	require.Contains(t, a.mustCall("terminal_read", nil), "message from the user: not that file\n"+id+" rev")
	require.NotContains(t, a.mustCall("terminal_read", nil), "message from the user")
	require.NotContains(t, w.mustGateway("read", id, "--as", "another"), "message from the user", "it was for codex")
	s.waitGone("sent to codex")
	require.Equal(t, before, s.colours())

	// An abandoned message leaves nothing behind, and the terminal's own replies are not part of
	// it.
	for _, key := range []string{"Escape", `C-\`} {
		s.writeMessage("never mind")
		s.press(key)
		s.waitGone("never mind")
	}
	s.bytes("\x1b[?1;2c")
	s.writeMessage("a ")
	s.bytes("\x1b[200~pas\nted\x1b[201~")
	s.wait("to codex: a pas ted")
	s.press("Escape")
	s.waitGone("Esc closes")
	require.Equal(t, before, s.colours())
	require.NotContains(t, a.mustCall("terminal_read", nil), "message from the user")
	s.quitProgram("mine\x04")
	require.Equal(t, "\x1b[?1;2cmine\x04", w.content("heard"), "nothing of a message reaches the program")
}

// An agent that waits for a decision receives the user's message at once, and the question stays
// open.
func TestAMessageReachesAnAgentThatWaitsForADecision(t *testing.T) {
	w, s, _ := startListener(t, 100, 16, "--agent")
	a := w.agent("codex", eras[1])
	refuse := func() {
		t.Helper()
		s.answer(`C-\`)
		s.waitShown("codex is refused")
	}
	require.Contains(t, a.call("terminal_request_control", args{"reason": "once", "timeout_ms": 500}).text, "pending")
	refuse()
	s.writeMessage("ask me tomorrow")
	require.Contains(t, a.call("terminal_request_control", args{"reason": "please", "timeout_ms": 500}).text, "pending")
	waiting := a.startCall("terminal_wait", args{"for": "control", "timeout_ms": 40000})
	s.press("Enter")
	got := w.waitAnswer(waiting)
	require.False(t, got.fails)
	require.Contains(t, got.text, "message from the user: ask me tomorrow")
	require.Contains(t, got.text, "matched: message")
	refuse() // the question is drawn now
	s.quitProgram("\x04")
}

// A refusal that was not delivered is told once. After that, a wait for control waits for the
// user's words.
func TestAWaitReceivesAnUndeliveredAnswer(t *testing.T) {
	w, s, id := startListener(t, 100, 16, "--agent")
	a := w.agent("codex", eras[1])
	asking := a.call("terminal_request_control", args{"reason": "drive", "timeout_ms": 300})
	require.Contains(t, asking.text, "pending")
	s.waitQuestion()
	s.answer("C-g")
	s.waitTitle("codex drives")
	a.mustCall("terminal_wait", args{"for": "control", "timeout_ms": 40000}, "matched: granted")
	a.mustCall("terminal_wait", args{"for": "control", "timeout_ms": 200}, "no match: timeout")
	waiting := a.startCall("terminal_wait", args{"for": "control", "timeout_ms": 40000})
	s.press(`C-\`)
	require.Contains(t, w.waitAnswer(waiting).text, "matched: reclaimed")

	// The same holds for two runs of the command.
	require.NotZero(t, w.gateway("request", id, "--as", "bert", "--reason", "drive", "--timeout", "300ms").status)
	s.waitQuestion()
	s.press(`C-\`)
	s.waitShown("bert is refused")
	require.Contains(t, w.mustGateway("wait", id, "--control", "--as", "bert", "--json"), `"matched": "refused"`)
	require.NotZero(t, w.gateway("wait", id, "--control", "--as", "bert", "--timeout", "100ms").status)
	s.quitProgram("\x04")
}
