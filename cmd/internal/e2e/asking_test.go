package e2e_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// R70: a grant given by a key expires, and the question says when. A grant that the user gave at
// the start lasts, and the proxy says so.
func TestTheQuestionSaysHowLongR70(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ flags, more, asked, told, left string }{
		{"--agent", "", "“codex” asks to drive for 10 min: “to test”", `codex drives for 10 min. Ctrl+\ takes the keyboard back at once`, "granted (drive, 10m left)"},
		{"--agent", "--for 90s", "“codex” asks to drive for 1 min 30 s: ", "codex drives for 1 min 30 s.", "granted (drive, 1m left)"},
		{"--agent", "--for 2h", "“codex” asks to drive for 10 min: ", "codex drives for 10 min.", "granted (drive, 10m left)"},
		{"--agent --for 2h", "--for 90m", "“codex” asks to drive for 1 h 30 min: ", "codex drives for 1 h 30 min.", "granted (drive, 1h left)"},
		{"--agent --for 0", "", "“codex” asks to drive until you take it back: ", "codex drives until you take it back.", "granted (drive)"},
		{"--agent --grant drive", "", "", "codex drives until you take it back.", "granted (drive)"},
		{"--agent --grant drive --for 5m", "", "", "codex drives for 5 min.", "granted (drive, 5m left)"},
	} {
		t.Run(c.flags+" "+c.more, func(t *testing.T) {
			w := newWorld(t)
			s := w.terminal(120, 24)
			s.runListener(c.flags)
			id := w.session()
			asking := w.start("gateway", append([]string{"request", id, "--as", "codex", "--reason", "to test"}, strings.Fields(c.more)...)...)
			if c.asked != "" {
				s.waitQuestion()
				require.Contains(t, s.bottom(), c.asked)
				s.answer("C-g")
			}
			s.waitShown(c.told)
			got := asking.wait()
			require.Zero(t, got.status, got.err)
			require.Contains(t, got.out, c.left)
		})
	}
}

// R70: a command-line agent that is killed, or never comes back, loses control after two minutes.
// An agent with an open connection may think as long as it likes. This test takes the full two
// minutes; the packages test the rule with a fake clock.
func TestAnAbsentAgentLosesControlAfterTwoMinutesR70(t *testing.T) {
	clients(t)
	w := newWorld(t)
	s, thinks := w.terminal(100, 24), w.terminal(100, 24)
	s.runListener("--agent --grant drive --name away")
	away := w.session()
	thinks.run("proxy --agent --grant drive --name thinks cat")
	ids := w.ids(2)
	there := ids[0] + ids[1]
	there = strings.Replace(there, away, "", 1)
	a := w.agent("claude", eras[1])
	a.mustCall("terminal_request_control", args{"terminal": there, "reason": "think"}, "granted")

	w.requestGrant(away, "--as", "codex")
	s.waitTitle("[codex drives]")
	waiting := w.start("gateway", "wait", away, "--as", "codex", "--text", "never", "--timeout", "10m")
	w.until(func() bool { return strings.Contains(w.mustGateway("ls"), away) }, func() string { return "it is there" })
	require.NoError(t, waiting.cmd.Process.Kill())
	<-waiting.ended
	last := time.Now()
	s.waitTitle("[codex drives]")

	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	for !strings.Contains(s.title(), "[observed]") {
		require.Less(t, time.Since(last), 2*time.Minute+patience, "it keeps control")
		<-tick.C
	}
	require.GreaterOrEqual(t, time.Since(last), 2*time.Minute-glance)
	s.waitShown("codex was away for 2 min: the keyboard is yours")
	got := w.gateway("send", away, "--as", "codex", "--text", "late")
	got.mustFail(t, 4, "your grant ended because you were silent for 2 minutes (an open wait does not count as silence)")
	require.Empty(t, w.content("heard"))
	thinks.waitTitle("[claude drives]")
	a.mustCall("terminal_send", args{"terminal": there, "text": "a thought"})
}

// R71: a refused agent cannot ask again at once, whatever name and id it uses. A Ctrl+G meant for
// vim stays vim's.
func TestNoNaggingR71(t *testing.T) {
	w := newWorld(t, "vim")
	s := w.terminal(100, 24)
	w.write("notes.txt", "bread\n")
	s.run("proxy --agent --record rec.cast vim -u NONE -n notes.txt")
	s.wait("bread")
	w.session()
	a := w.agent("claude", eras[1])
	asking := a.startCall("terminal_request_control", args{"reason": "one"})
	s.waitQuestion()
	s.press(`C-\`)
	s.waitShown("claude is refused")
	require.True(t, w.waitAnswer(asking).fails)
	refused := time.Now()
	again := w.agent("claude", eras[0]) // another id
	other := w.agent("eve", eras[0])
	for range 20 {
		text := a.call("terminal_request_control", args{"reason": "two"}).text +
			again.call("terminal_request_control", args{"reason": "three"}).text +
			other.call("terminal_request_control", args{"reason": "four"}).text
		if time.Since(refused) > 9*time.Second {
			break // a slow machine
		}
		require.Equal(t, 2, strings.Count(text, "the user refused you: you may ask again in "), text)
		require.Contains(t, text, "the user has just refused an agent: you may ask in ")
		require.Contains(t, text, "wait until then")
	}
	require.NoError(t, s.film.load())
	require.False(t, s.film.find(func(screen string) bool { return strings.Contains(screen, "Ctrl+G allows") }), "no question was shown")
	s.press("C-g")
	s.wait(`"notes.txt" line 1 of 1`) // vim's own answer
	s.waitTitle("[observed]")

	// The user mutes the agent.
	require.Contains(t, s.openMenu(), "x mutes claude")
	s.press("x")
	s.waitShown(`claude is muted: Ctrl+\, then x, unmutes it`)
	a.mustFail("terminal_request_control", args{"reason": "muted"}, "the user muted you until the end of the session")
	again.mustFail("terminal_request_control", args{"reason": "muted"}, "the user muted you")
	a.mustFail("terminal_say", args{"text": "hello?"}, "the user muted you")
	require.Contains(t, s.openMenu(), "x unmutes claude")
	s.press("x")
	s.waitShown("agents that you muted may ask again")
	a.obtainGrant(s, "at last")
	s.press(`C-\`)
	s.waitTitle("[observed]")
	s.quitProgram(":q\n")
	require.Contains(t, w.mustGateway("audit", "show", "rec.cast"), "the user refused you")
}

// openMenu opens the menu once the key is no longer swallowed, and waits until the menu can be
// answered. It presses the key again only when the menu is long overdue: a press while the menu is
// open but not yet drawn would close it, and a further press would go to the program.
func (s *terminal) openMenu() (screen string) {
	s.w.t.Helper()
	const swallowed, overdue, readable = 1600 * time.Millisecond, 8 * time.Second, 900 * time.Millisecond
	pressed := time.Now().Add(swallowed - overdue)
	s.w.until(func() bool {
		if screen = s.screen(); strings.Contains(screen, "Ctrl+G lets") {
			return true
		}
		if time.Since(pressed) > overdue {
			s.press(`C-\`)
			pressed = time.Now()
		}
		return false
	}, func() string { return "no menu:\n" + screen })
	<-time.After(readable)
	return screen
}

// tooSoon presses Ctrl+G and reports whether the proxy swallowed it, as it does until the question
// has stood long enough. The key pressed next goes to the program and shows that Ctrl+G has been
// handled.
func (s *terminal) tooSoon(id, heard string) bool {
	s.w.t.Helper()
	s.press("C-g")
	s.typed("y")
	s.w.waitHeard("heard", heard+"y$")
	require.NotContains(s.w.t, s.w.content("heard"), "\x07", "nor is it the program's")
	return strings.Contains(s.w.mustGateway("read", id), "keyboard: user (")
}

// R46, R71: a Ctrl+G right after the question appears does not answer it, least of all while the
// user types. A little later it counts.
func TestAKeyBeforeTheQuestionIsReadR46R71(t *testing.T) {
	w, s, id := startListener(t, 100, 24, "--agent")
	heard := ""
	for n := range 8 {
		s.typed("x")
		heard += "x"
		w.waitHeard("heard", "^"+heard+"$")
		a := w.agent(fmt.Sprint("codex", n), eras[1])
		began := time.Now()
		asking := a.startCall("terminal_request_control", args{"reason": "while you type"})
		s.waitQuestion()
		swallowed := s.tooSoon(id, "^"+heard)
		heard += "y"
		if swallowed {
			s.answer("C-g")
		} else {
			require.Greater(t, time.Since(began), time.Second, "nobody had read the question")
		}
		require.Contains(t, w.waitAnswer(asking).text, "granted")
		if swallowed {
			return
		}
		s.press(`C-\`)
		w.waitKeyboard(id, "user")
	}
	t.Skip("this machine is too slow to press a key in time")
}

// R72: when one question replaces another, the new one says so, and it does not get the answer
// meant for the old one.
func TestASwappedQuestionR72(t *testing.T) {
	w, s, id := startListener(t, 120, 24, "--agent")
	s.typed("x")
	w.waitHeard("heard", "x")
	b := w.agent("claude", eras[0])
	b.mustCall("terminal_list", nil, id)
	a := w.agent("claude", eras[1])
	a.startCall("terminal_request_control", args{"reason": "look", "level": "type"})
	s.waitQuestion()
	require.Contains(t, s.bottom(), "“claude” asks to type for 10 min: “look”")
	began := time.Now()
	require.NoError(t, a.cmd.Process.Kill())
	s.waitShown("claude no longer asks")
	asking := b.startCall("terminal_request_control", args{"reason": "rm"})
	s.wait("another agent, “claude”, asks to drive for 10 min: “rm”")
	if !s.tooSoon(id, "^x") {
		require.Greater(t, time.Since(began), time.Second, "the key was meant for the question before")
		t.Skip("this machine is too slow to press a key in time")
	}
	s.answer(`C-\`)
	require.True(t, w.waitAnswer(asking).fails)
}

// R72: names are short and plain, two agents of one name are told apart, and no name looks like a
// key.
func TestNamesR72(t *testing.T) {
	w, s, id := startListener(t, 120, 24, "--agent")
	first, second := w.agent("codex-mcp-client", eras[1]), w.agent("codex-mcp-client", eras[0])
	first.mustCall("terminal_say", args{"text": "one"})
	s.wait("message from “Codex”: “one”")
	second.mustCall("terminal_say", args{"text": "two"})
	w.until(func() bool {
		s.press("a")
		return strings.Contains(s.screen(), "message from “Codex 2”: “two”")
	}, s.screen)
	asking := first.startCall("terminal_request_control", args{"reason": "still the first"})
	s.waitQuestion()
	require.Contains(t, s.bottom(), "“Codex” asks to drive")
	s.answer("C-g")
	require.Contains(t, w.waitAnswer(asking).text, "granted")
	require.Contains(t, second.mustFail("terminal_request_control", args{"reason": "me"}), "(Codex)")
	first.mustCall("terminal_release", nil)
	evil := w.agent("x” Ctrl+G refuses · “y", eras[1])
	asking = evil.startCall("terminal_request_control", args{"reason": "Ctrl+\\ gives it · Ctrl+G refuses"})
	s.waitQuestion()
	require.Contains(t, s.bottom(), "another agent, “agent”, asks to drive for 10 min: “ctrl-\\ gives it . ctrl-G refuses”")
	require.Equal(t, 1, strings.Count(s.screen(), "Ctrl+G"))
	s.answer("C-g")
	require.Contains(t, w.waitAnswer(asking).text, "granted")
	w.waitKeyboard(id, "agent (drive")
}
