package e2e_test

import (
	"strconv"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

// Each way in which a grant can end tells the user, by title and notice. It tells the agent why the
// grant ended, what of its typing is left on the program's line, and what the screen looks like.
func TestEveryEndTellsBothSides(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name    string
		flags   string
		seconds int
		end     func(w *world, s *terminal, a *agent, proxy string)
		notice  string
		told    string // what the agent's next input is told
	}{
		{
			name: "for", flags: "--for 3s", seconds: 3600, notice: "time is up: codex no longer has", told: "the time of your grant is up",
			end: func(*world, *terminal, *agent, string) {},
		},
		{
			name: "seconds", seconds: 3, notice: "time is up: codex no longer has", told: "the time of your grant is up",
			end: func(*world, *terminal, *agent, string) {},
		},
		{
			name: "release", notice: "codex gives the keyboard back: “look at line 3”", told: "you gave the keyboard back",
			end: func(_ *world, _ *terminal, a *agent, _ string) {
				a.mustCall("terminal_release", args{"note": "look at\u202e line 3"}, "released")
			},
		},
		{
			name: "reclaim", notice: "the keyboard is yours: codex is stopped", told: "the user took the keyboard back",
			end: func(_ *world, s *terminal, _ *agent, _ string) { s.press(`C-\`) },
		},
		{
			name: "signal", notice: "the keyboard is yours: codex is stopped", told: "the user took the keyboard back",
			end: func(w *world, _ *terminal, _ *agent, proxy string) { w.kill(proxy, syscall.SIGUSR1) },
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t)
			s := w.terminal(100, 24)
			proxy := s.runListener("--agent --grant drive " + c.flags)
			id := w.session()
			a := w.agent("codex", eras[1])
			with := args{"reason": "test"}
			if c.seconds > 0 {
				with["seconds"] = c.seconds
			}
			a.mustCall("terminal_request_control", with, "granted")
			s.waitTitle("[codex drives]")
			a.mustCall("terminal_send", args{"text": "abc", "settle_ms": 0})
			w.waitHeard("heard", "abc") // what the program has not read is dropped with the grant
			c.end(w, s, a, proxy)
			s.wait(c.notice)
			s.waitTitle("[observed]")
			w.waitKeyboard(id, "user")
			require.NotContains(t, s.screen(), "left on the line", "a program that reads keys has no line")
			said := a.mustFail("terminal_send", args{"text": "late"}, c.told, "terminal_request_control")
			require.NotContains(t, said, "left on the line")
			s.quitProgram("mine\x04")
			require.Equal(t, "abcmine\x04", w.content("heard"))
		})
	}
}

// When the gateway dies, the grant ends, although the agent and the user are still there.
func TestALostLinkEndsTheGrant(t *testing.T) {
	w := newWorld(t)
	s := w.terminal(110, 24)
	gateway := w.servingAgent("gateway", eras[1])
	s.runListener("--agent --grant drive")
	id := w.session()
	a := w.agent("codex", eras[1])
	a.mustCall("terminal_request_control", args{"reason": "test"}, "granted")
	a.mustCall("terminal_send", args{"text": "abc", "settle_ms": 0})
	w.waitHeard("heard", "abc")
	s.waitTitle("[codex drives]")
	w.kill(strconv.Itoa(gateway.cmd.Process.Pid), syscall.SIGKILL)
	s.waitShown("codex disconnected: the keyboard is yours")
	w.until(func() bool { ids := w.sessions(); return len(ids) == 1 && ids[0].State == "running" }, func() string { return "the session does not come back" })
	s.waitTitle("[observed]")
	w.waitKeyboard(id, "user")
	a.mustFail("terminal_send", args{"text": "late"}, "terminal_request_control")
	s.quitProgram("mine\x04")
	require.Equal(t, "abcmine\x04", w.content("heard"))
}

// When the program ends while the agent types, the agent is told so, with the exit status.
func TestTheProgramsEndEndsTheGrant(t *testing.T) {
	w := newWorld(t)
	s := w.terminal(100, 24)
	a := w.servingAgent("codex", eras[1])
	s.runListener("--agent --grant drive")
	id := w.session()
	a.mustCall("terminal_request_control", args{"reason": "test"}, "granted")
	waiting := a.startCall("terminal_wait", args{"terminal": id, "for": "text", "value": "never", "timeout_ms": 40000})
	s.quitProgram("\x04")
	got := w.waitAnswer(waiting)
	require.Contains(t, got.text, "no match: the program ended first")
	a.mustFail("terminal_send", args{"terminal": id, "text": "late"}, "ended with exit status 0", "terminal_read shows the last screen")
	a.mustCall("terminal_read", args{"terminal": id}, "listening", "exited 0")
	require.NotContains(t, s.title(), "codex")
}
