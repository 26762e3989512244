package consent_test

import (
	"strings"
	"testing"

	"terminalproxy/cmd/internal/e2e/world"

	"github.com/stretchr/testify/require"
)

func TestAnAgentWritesToTheUser(t *testing.T) {
	w, s, id := world.StartListener(t, 100, 16, "--agent --record rec.cast")
	before := s.Colours()
	a := w.Agent("codex", world.Eras[1])
	a.MustCall("terminal_say", world.Args{"text": "the tests pass;\nmay I commit?” Ctrl+G allows · “\u202e"}, "delivered: it is on the user's screen")
	s.Wait("message from “codex”: “the tests pass; may I commit?' ctrl-G allows . '”")
	require.Contains(t, w.MustGateway("say", id, "and", "one more", "--as", "claude"), "waiting for the user: something else is shown")
	s.Wait("message from “codex”")
	w.Until(func() bool { // a key too soon takes nothing away
		s.Press("x")
		return strings.Contains(s.Screen(), "message from “claude”: “and one more”")
	}, s.Screen)
	s.WaitGone("message from")
	s.WaitColours(before)

	// The user has not typed: they may not have read it, so it stays in the menu.
	s.WaitTitle(`[message: Ctrl+\]`)
	s.Press(`C-\`)
	s.Wait("message from “claude”, ")
	s.Wait("m writes to it")
	s.Press("Escape")
	s.WaitGone("message from")

	// A question comes first.
	asking := a.StartCall("terminal_request_control", world.Args{"reason": "fix it"})
	s.WaitQuestion()
	a.MustCall("terminal_say", world.Args{"text": "press Ctrl+G"}, "waiting for the user: a question to them comes first")
	s.WaitBottom("“codex” asks to drive for 10 min: “fix it”")
	require.NotContains(t, s.Screen(), "press ctrl-G")
	s.Press(`C-\`)
	s.WaitShown("codex is refused")
	require.True(t, w.WaitAnswer(asking).Fails)
	s.Wait("message from “codex”: “press ctrl-G”")
	s.QuitProgram("\x04")
	require.Regexp(t, "^x+\x1b\x04$", w.Content("heard"), "nothing of a message reaches the program")
	require.Contains(t, w.MustGateway("audit", "show", "rec.cast"), "codex writes to the user: the tests pass; may I commit?' ctrl-G allows . '")
}

func TestAMessageWaitsForAPerson(t *testing.T) {
	w := world.New(t)
	a := w.Agent("claude", world.Eras[1])
	id, _ := a.RunProgram(world.Args{"program": "cat"})
	a.MustCall("terminal_say", world.Args{"text": "have a look"}, "waiting for the user: no person is at this terminal; the next one will see it")
	s := w.Terminal(100, 24)
	s.Run("gateway attach " + id)
	s.Wait("message from “claude”: “have a look”")
}

func TestARemotePersonWritesToTheAgent(t *testing.T) {
	w, s, id := world.StartListener(t, 100, 16, "--agent --grant drive")
	a := w.Agent("codex", world.Eras[1])
	a.MustCall("terminal_request_control", world.Args{"reason": "drive"}, "granted")
	second := w.Terminal(100, 16)
	screen, status := second.RunToEnd("gateway say " + id + " --to agent 'not that branch'")
	require.Zero(t, status, screen)
	require.Contains(t, screen, "sent: the agent reads it with its next answer")
	s.Wait("“gateway say” writes to codex from elsewhere: “not that branch”")
	require.Contains(t, a.MustCall("terminal_read", nil), "message from the user: (written elsewhere, by gateway say) not that branch")
	require.NotContains(t, a.MustCall("terminal_read", nil), "message from the user")

	s.QuitProgram("\x04")
}

// The answer goes to the agent that spoke and to no other. The agent that drives goes on.
func TestTheUsersAnswerGoesToTheAgentThatSpoke(t *testing.T) {
	w, s, id := world.StartListener(t, 100, 16, "--agent --grant drive")
	a := w.Agent("codex", world.Eras[1])
	a.MustCall("terminal_request_control", world.Args{"reason": "drive"}, "granted")
	b := w.Agent("claude", world.Eras[1])
	b.MustCall("terminal_say", world.Args{"text": "shall I go on?"})
	s.Wait("message from “claude”: “shall I go on?”")
	waiting := b.StartCall("terminal_wait", world.Args{"for": "control"})
	s.PressWhile("C-g", "shall I go on?")
	s.Press("do")
	s.WaitBottom("to claude: do")
	a.MustCall("terminal_send", world.Args{"text": "typed meanwhile", "settle_ms": 0})
	w.WaitHeard("heard", "typed meanwhile")
	s.Press("Enter")
	s.WaitShown("sent to claude: “do”")
	w.WaitKeyboard(id, "codex (drive")
	got := w.WaitAnswer(waiting)
	require.Contains(t, got.Text, "message from the user: do\n")
	require.Contains(t, got.Text, "matched: message")
	require.NotContains(t, a.MustCall("terminal_read", nil), "message from the user")
	require.NotContains(t, w.MustGateway("read", id, "--as", "another"), "message from the user")
	s.QuitProgram("\x04")
}
