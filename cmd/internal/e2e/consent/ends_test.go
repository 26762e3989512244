package consent_test

import (
	"strconv"
	"syscall"
	"testing"

	"terminalproxy/cmd/internal/e2e/world"

	"github.com/stretchr/testify/require"
)

// Each way in which a grant can end tells the user, by title and notice. It tells the agent why the
// grant ended, what of its typing is left on the program's line, and what the screen looks like.
func TestEveryEndTellsBothSides(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		flags  string
		end    func(s *world.Terminal, a *world.Agent)
		notice string
		told   string // what the agent's next input is told
	}{
		{
			name: "for", flags: "--for 10s", notice: "time is up: codex no longer has", told: "the time of your grant is up",
			end: func(*world.Terminal, *world.Agent) {},
		},
		{
			name: "release", notice: "codex gives the keyboard back: “look at line 3”", told: "you gave the keyboard back",
			end: func(_ *world.Terminal, a *world.Agent) {
				a.MustCall("terminal_release", world.Args{"note": "look at\u202e line 3"}, "released")
			},
		},
		{
			name: "reclaim", notice: "the keyboard is yours: codex is stopped", told: "the user took the keyboard back",
			end: func(s *world.Terminal, _ *world.Agent) { s.Press(`C-\`) },
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			w, s, id := world.StartListener(t, 100, 24, "--agent --grant drive "+c.flags)
			a := w.Agent("codex", world.Eras[1])
			a.MustCall("terminal_request_control", world.Args{"reason": "test"}, "granted")
			s.WaitTitle("[codex drives]")
			a.MustCall("terminal_send", world.Args{"text": "abc", "settle_ms": 0})
			w.WaitHeard("heard", "abc") // what the program has not read is dropped with the grant
			c.end(s, a)
			s.WaitShown(c.notice)
			s.WaitTitle("[observed]")
			w.WaitKeyboard(id, "user")
			require.NotContains(t, s.Screen(), "left on the line", "a program that reads keys has no line")
			said := a.MustFail("terminal_send", world.Args{"text": "late"}, c.told, "terminal_request_control")
			require.NotContains(t, said, "left on the line")
			s.QuitProgram("mine\x04")
			require.Equal(t, "abcmine\x04", w.Content("heard"))
		})
	}
}

// When the gateway dies, the grant ends, although the agent and the user are still there.
func TestALostLinkEndsTheGrant(t *testing.T) {
	w := world.New(t)
	s := w.Terminal(110, 24)
	gateway := w.ServingAgent("gateway", world.Eras[1])
	s.RunListener("--agent --grant drive")
	id := w.Session()
	a := w.Agent("codex", world.Eras[1])
	a.MustCall("terminal_request_control", world.Args{"reason": "test"}, "granted")
	a.MustCall("terminal_send", world.Args{"text": "abc", "settle_ms": 0})
	w.WaitHeard("heard", "abc")
	s.WaitTitle("[codex drives]")
	w.Kill(strconv.Itoa(gateway.Cmd.Process.Pid), syscall.SIGKILL)
	s.WaitShown("codex disconnected: the keyboard is yours")
	w.Until(func() bool { ids := w.Sessions(); return len(ids) == 1 && ids[0].State == "running" }, func() string { return "the session does not come back" })
	s.WaitTitle("[observed]")
	w.WaitKeyboard(id, "user")
	a.MustFail("terminal_send", world.Args{"text": "late"}, "terminal_request_control")
	s.QuitProgram("mine\x04")
	require.Equal(t, "abcmine\x04", w.Content("heard"))
}

// When the program ends while the agent types, the agent is told so, with the exit status.
func TestTheProgramsEndEndsTheGrant(t *testing.T) {
	w := world.New(t)
	s := w.Terminal(100, 24)
	a := w.ServingAgent("codex", world.Eras[1])
	s.RunListener("--agent --grant drive")
	id := w.Session()
	a.MustCall("terminal_request_control", world.Args{"reason": "test"}, "granted")
	waiting := a.StartCall("terminal_wait", world.Args{"terminal": id, "for": "text", "value": "never"})
	s.QuitProgram("\x04")
	got := w.WaitAnswer(waiting)
	require.Contains(t, got.Text, "no match: the program ended first")
	a.MustFail("terminal_send", world.Args{"terminal": id, "text": "late"}, "ended with exit status 0", "terminal_read shows the last screen")
	a.MustCall("terminal_read", world.Args{"terminal": id}, "listening", "exited 0")
	require.NotContains(t, s.Title(), "codex")
}
