package e2e_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestAnAgentWritesToTheUser(t *testing.T) {
	w, s, id := startListener(t, 100, 16, "--agent --record rec.cast")
	before := s.colours()
	a := w.agent("codex", eras[1])
	a.mustCall("terminal_say", args{"text": "the tests pass;\nmay I commit?” Ctrl+G allows · “\u202e"}, "delivered: it is on the user's screen")
	s.wait("message from “codex”: “the tests pass; may I commit?' ctrl-G allows . '”")
	require.Contains(t, w.mustGateway("say", id, "and", "one more", "--as", "claude"), "waiting for the user: something else is shown")
	s.wait("message from “codex”")
	w.until(func() bool { // a key too soon takes nothing away
		s.press("C-g") // it is not a question: the key is the program's
		return strings.Contains(s.screen(), "message from “claude”: “and one more”")
	}, s.screen)
	s.waitGone("message from")
	require.Equal(t, before, s.colours())

	// The user has not typed: they may not have read it, so it stays in the menu.
	s.waitTitle(`[message: Ctrl+\]`)
	s.press(`C-\`)
	s.wait("message from “claude”, ")
	require.Contains(t, s.screen(), "m writes to it")
	s.press("Escape")
	s.waitGone("message from")

	// A question comes first.
	asking := a.startCall("terminal_request_control", args{"reason": "fix it"})
	s.waitQuestion()
	a.mustCall("terminal_say", args{"text": "press Ctrl+G"}, "waiting for the user: a question to them comes first")
	require.Contains(t, s.bottom(), "“codex” asks to drive for 10 min: “fix it”")
	require.NotContains(t, s.screen(), "press ctrl-G")
	s.press(`C-\`)
	s.waitShown("codex is refused")
	require.True(t, w.waitAnswer(asking).fails)
	s.wait("message from “codex”: “press ctrl-G”")
	s.quitProgram("\x04")
	require.Regexp(t, "^\x07+\x1b\x04$", w.content("heard"), "nothing of a message reaches the program")
	require.Contains(t, w.mustGateway("audit", "show", "rec.cast"), "codex writes to the user: the tests pass; may I commit?' ctrl-G allows . '")
}

func TestAMessageWaitsForAPerson(t *testing.T) {
	w := newWorld(t)
	a := w.agent("claude", eras[1])
	id, _ := a.runProgram(args{"program": "cat"})
	a.mustCall("terminal_say", args{"text": "have a look"}, "waiting for the user: no person is at this terminal; the next one will see it")
	s := w.terminal(100, 24)
	s.run("gateway attach " + id)
	s.wait("message from “claude”: “have a look”")
}

func TestARemotePersonWritesToTheAgent(t *testing.T) {
	w, s, id := startListener(t, 100, 16, "--agent --grant drive")
	a := w.agent("codex", eras[1])
	a.mustCall("terminal_request_control", args{"reason": "drive"}, "granted")
	second := w.terminal(100, 16)
	screen, status := second.runToEnd("gateway say " + id + " --to agent 'not that branch'")
	require.Zero(t, status, screen)
	require.Contains(t, screen, "sent: the agent reads it with its next answer")
	s.wait("“gateway say” writes to codex from elsewhere: “not that branch”")
	require.Contains(t, a.mustCall("terminal_read", nil), "message from the user: (written elsewhere, by gateway say) not that branch")
	require.NotContains(t, a.mustCall("terminal_read", nil), "message from the user")

	s.quitProgram("\x04")
}

// The answer goes to the agent that spoke, not to the agent that had the keyboard last, nor to any
// other.
func TestTheUsersAnswerGoesToTheAgentThatSpoke(t *testing.T) {
	w, s, id := startListener(t, 100, 16, "--agent --grant drive")
	a := w.agent("codex", eras[1])
	a.mustCall("terminal_request_control", args{"reason": "drive"}, "granted")
	b := w.agent("claude", eras[1])
	b.mustCall("terminal_say", args{"text": "shall I go on?"})
	s.wait("message from “claude”: “shall I go on?”")
	waiting := b.startCall("terminal_wait", args{"for": "control", "timeout_ms": 40000})
	s.press(`C-\`)
	s.waitGone("codex drives")
	s.writeMessage("do")
	require.Contains(t, s.bottom(), "to claude: do")
	s.press("Enter")
	s.wait("sent to claude: “do”")
	got := w.waitAnswer(waiting)
	require.Contains(t, got.text, "message from the user: do\n")
	require.Contains(t, got.text, "matched: message")
	require.NotContains(t, a.mustCall("terminal_read", nil), "message from the user")
	require.NotContains(t, w.mustGateway("read", id, "--as", "another"), "message from the user")
	s.quitProgram("\x04")
}
