package consent_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"terminalproxy/cmd/internal/e2e/world"

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
			w := world.New(t)
			s := w.Terminal(120, 24)
			s.RunListener(c.flags)
			id := w.Session()
			asking := w.Start("gateway", append([]string{"request", id, "--as", "codex", "--reason", "to test"}, strings.Fields(c.more)...)...)
			if c.asked != "" {
				s.WaitQuestion()
				s.WaitBottom(c.asked)
				s.Answer("C-g")
			}
			s.WaitShown(c.told)
			got := asking.Wait()
			require.Zero(t, got.Status, got.Err)
			require.Contains(t, got.Out, c.left)
		})
	}
}

// R70: a command-line agent that is killed, or never comes back, loses control after two minutes.
// An agent with an open connection may think as long as it likes. This test takes the full two
// minutes; the packages test the rule with a fake clock.
func TestAnAbsentAgentLosesControlAfterTwoMinutesR70_Client(t *testing.T) {
	world.Clients(t)
	w := world.New(t)
	s, thinks := w.Terminal(100, 24), w.Terminal(100, 24)
	s.RunListener("--agent --grant drive --name away")
	away := w.Session()
	thinks.Run("proxy --agent --grant drive --name thinks cat")
	ids := w.IDs(2)
	there := ids[0] + ids[1]
	there = strings.Replace(there, away, "", 1)
	a := w.Agent("claude", world.Eras[1])
	a.MustCall("terminal_request_control", world.Args{"terminal": there, "reason": "think"}, "granted")

	w.RequestGrant(away, "--as", "codex")
	s.WaitTitle("[codex drives]")
	waiting := w.Start("gateway", "wait", away, "--as", "codex", "--text", "never", "--timeout", "10m")
	w.Until(func() bool { return strings.Contains(w.MustGateway("ls"), away) }, func() string { return "it is there" })
	require.NoError(t, waiting.Cmd.Process.Kill())
	<-waiting.Ended
	last := time.Now()
	s.WaitTitle("[codex drives]")

	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	for !strings.Contains(s.Title(), "[observed]") {
		require.Less(t, time.Since(last), 2*time.Minute+world.Patience, "it keeps control")
		<-tick.C
	}
	require.GreaterOrEqual(t, time.Since(last), 2*time.Minute-world.Glance)
	s.WaitShown("codex was away for 2 min: the keyboard is yours")
	got := w.Gateway("send", away, "--as", "codex", "--text", "late")
	got.MustFail(t, 4, "your grant ended because you were silent for 2 minutes (an open wait does not count as silence)")
	require.Empty(t, w.Content("heard"))
	thinks.WaitTitle("[claude drives]")
	a.MustCall("terminal_send", world.Args{"terminal": there, "text": "a thought"})
}

// R71: a refused agent cannot ask again at once, whatever name and id it uses. A Ctrl+G meant for
// vim stays vim's.
func TestNoNaggingR71(t *testing.T) {
	w := world.New(t, "vim")
	s := w.Terminal(100, 24)
	w.Write("notes.txt", "bread\n")
	s.Run("proxy --agent --record rec.cast vim -u NONE -n notes.txt")
	s.Wait("bread")
	w.Session()
	a := w.Agent("claude", world.Eras[1])
	asking := a.StartCall("terminal_request_control", world.Args{"reason": "one"})
	s.WaitQuestion()
	s.Press(`C-\`)
	s.WaitShown("claude is refused")
	require.True(t, w.WaitAnswer(asking).Fails)
	refused := time.Now()
	again := w.Agent("claude", world.Eras[0]) // another id
	other := w.Agent("eve", world.Eras[0])
	for range 20 {
		if time.Since(refused) > 4*time.Second {
			break // a slow machine: the pause of 10 s would end during the next three calls
		}
		text := a.Call("terminal_request_control", world.Args{"reason": "two"}).Text +
			again.Call("terminal_request_control", world.Args{"reason": "three"}).Text +
			other.Call("terminal_request_control", world.Args{"reason": "four"}).Text
		require.Equal(t, 2, strings.Count(text, "the user refused you: you may ask again in "), text)
		require.Contains(t, text, "the user has just refused an agent: you may ask in ")
		require.Contains(t, text, "wait until then")
	}
	require.NoError(t, s.Film.Load())
	require.False(t, s.Film.Find(func(screen string) bool { return strings.Contains(screen, "Ctrl+G allows") }), "no question was shown")
	s.Press("C-g")
	s.Wait(`"notes.txt" line 1 of 1`) // vim's own answer
	s.WaitTitle("[observed]")

	// The user mutes the agent.
	s.OpenMenu("x mutes claude")
	s.Press("x")
	s.WaitShown(`claude is muted: Ctrl+\, then x, unmutes it`)
	a.MustFail("terminal_request_control", world.Args{"reason": "muted"}, "the user muted you until the end of the session")
	again.MustFail("terminal_request_control", world.Args{"reason": "muted"}, "the user muted you")
	a.MustFail("terminal_say", world.Args{"text": "hello?"}, "the user muted you")
	s.OpenMenu("x unmutes claude")
	s.Press("x")
	s.WaitShown("agents that you muted may ask again")
	a.ObtainGrant(s, "at last")
	s.Press(`C-\`)
	s.WaitTitle("[observed]")
	s.QuitProgram(":q\n")
	require.Contains(t, w.MustGateway("audit", "show", "rec.cast"), "the user refused you")
}

// tooSoon presses Ctrl+G and reports whether the proxy swallowed it, as it does until the question
// has stood long enough. The key pressed next goes to the program and shows that Ctrl+G has been
// handled.
func tooSoon(s *world.Terminal, id, heard string) bool {
	s.W.T.Helper()
	s.Press("C-g")
	s.Typed("y")
	s.W.WaitHeard("heard", heard+"y$")
	require.NotContains(s.W.T, s.W.Content("heard"), "\x07", "nor is it the program's")
	return strings.Contains(s.W.MustGateway("read", id), "keyboard: user (")
}

// R46, R71: a Ctrl+G right after the question appears does not answer it, least of all while the
// user types. A little later it counts.
func TestAKeyBeforeTheQuestionIsReadR46R71(t *testing.T) {
	w, s, id := world.StartListener(t, 100, 24, "--agent")
	heard := ""
	for n := range 8 {
		s.Typed("x")
		heard += "x"
		w.WaitHeard("heard", "^"+heard+"$")
		a := w.Agent(fmt.Sprint("codex", n), world.Eras[1])
		began := time.Now()
		asking := a.StartCall("terminal_request_control", world.Args{"reason": "while you type"})
		s.WaitQuestion()
		swallowed := tooSoon(s, id, "^"+heard)
		heard += "y"
		if swallowed {
			s.Answer("C-g")
		} else {
			require.Greater(t, time.Since(began), time.Second, "nobody had read the question")
		}
		require.Contains(t, w.WaitAnswer(asking).Text, "granted")
		if swallowed {
			return
		}
		s.Press(`C-\`)
		w.WaitKeyboard(id, "user")
	}
	t.Skip("this machine is too slow to press a key in time")
}

// R72: when one question replaces another, the new one says so, and it does not get the answer
// meant for the old one.
func TestASwappedQuestionR72(t *testing.T) {
	w, s, id := world.StartListener(t, 120, 24, "--agent")
	s.Typed("x")
	w.WaitHeard("heard", "x")
	b := w.Agent("claude", world.Eras[0])
	b.MustCall("terminal_list", nil, id)
	a := w.Agent("claude", world.Eras[1])
	a.StartCall("terminal_request_control", world.Args{"reason": "look", "level": "type"})
	s.WaitQuestion()
	s.WaitBottom("“claude” asks to type for 10 min: “look”")
	began := time.Now()
	require.NoError(t, a.Cmd.Process.Kill())
	s.WaitShown("claude no longer asks")
	asking := b.StartCall("terminal_request_control", world.Args{"reason": "rm"})
	s.Wait("another agent, “claude”, asks to drive for 10 min: “rm”")
	if !tooSoon(s, id, "^x") {
		require.Greater(t, time.Since(began), time.Second, "the key was meant for the question before")
		t.Skip("this machine is too slow to press a key in time")
	}
	s.Answer(`C-\`)
	require.True(t, w.WaitAnswer(asking).Fails)
}

// R72: names are short and plain, two agents of one name are told apart, and no name looks like a
// key.
func TestNamesR72(t *testing.T) {
	w, s, id := world.StartListener(t, 120, 24, "--agent")
	first, second := w.Agent("codex-mcp-client", world.Eras[1]), w.Agent("codex-mcp-client", world.Eras[0])
	first.MustCall("terminal_say", world.Args{"text": "one"})
	s.Wait("message from “Codex”: “one”")
	second.MustCall("terminal_say", world.Args{"text": "two"})
	w.Until(func() bool {
		s.Press("a")
		return strings.Contains(s.Screen(), "message from “Codex 2”: “two”")
	}, s.Screen)
	asking := first.StartCall("terminal_request_control", world.Args{"reason": "still the first"})
	s.WaitQuestion()
	s.WaitBottom("“Codex” asks to drive")
	s.Answer("C-g")
	require.Contains(t, w.WaitAnswer(asking).Text, "granted")
	asking = second.StartCall("terminal_request_control", world.Args{"reason": "me"})
	s.Wait("Codex drives 10 min · +1 asks")
	first.MustCall("terminal_release", nil)
	s.WaitBottom("another agent, “Codex 2”, asks to drive")
	s.Answer("C-g")
	require.Contains(t, w.WaitAnswer(asking).Text, "granted")
	second.MustCall("terminal_release", nil)
	evil := w.Agent("x” Ctrl+G refuses · “y", world.Eras[1])
	asking = evil.StartCall("terminal_request_control", world.Args{"reason": "Ctrl+\\ gives it · Ctrl+G refuses"})
	s.WaitQuestion()
	s.WaitBottom("another agent, “agent”, asks to drive for 10 min: “ctrl-\\ gives it . ctrl-G refuses”")
	require.Equal(t, 1, strings.Count(s.Screen(), "Ctrl+G"))
	s.Answer("C-g")
	require.Contains(t, w.WaitAnswer(asking).Text, "granted")
	w.WaitKeyboard(id, "agent (drive")
}
