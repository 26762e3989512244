package consent_test

import (
	"strings"
	"testing"

	"terminalproxy/cmd/internal/e2e/world"

	"github.com/stretchr/testify/require"
)

// R70: a grant given by a key expires, and the question says when. A grant that the user gave at
// the start lasts, and the proxy says so.
func TestTheQuestionSaysHowLongR70(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ flags, more, asked, told, left string }{
		{"--agent", "", "“codex” asks to drive for 10 min: “to test”", `codex drives for 10 min. Ctrl+\ takes the keyboard back at once`, "granted (drive, 10m left)"},
		{"--agent", "--for 2h", "“codex” asks to drive for 10 min: ", "codex drives for 10 min.", "granted (drive, 10m left)"},
		{"--agent --for 0", "", "“codex” asks to drive until you take it back: ", "codex drives until you take it back.", "granted (drive)"},
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

// R71: the user mutes a refused agent, which then may neither ask nor write, whatever id it has. A
// Ctrl+G meant for vim stays vim's. How long a refused agent waits is tested with a fake clock.
func TestNoNaggingR71(t *testing.T) {
	w := world.New(t, "vim")
	s := w.Terminal(100, 24)
	w.Write("notes.txt", "bread\n")
	s.Run("proxy --agent --record rec.cast vim -u NONE -n notes.txt")
	s.Wait("bread")
	w.Session()
	a, other := w.Agent("claude", world.Eras[1]), w.Agent("claude", world.Eras[0])
	asking := a.StartCall("terminal_request_control", world.Args{"reason": "one"})
	s.Answer(`C-\`)
	require.True(t, w.WaitAnswer(asking).Fails)
	s.OpenMenu("x mutes claude")
	s.Press("x")
	s.WaitShown(`claude is muted: Ctrl+\, then x, unmutes it`)
	for _, muted := range []*world.Agent{a, other} {
		muted.MustFail("terminal_request_control", world.Args{"reason": "muted"}, "the user muted you until the end of the session")
	}
	a.MustFail("terminal_say", world.Args{"text": "hello?"}, "the user muted you")
	s.Press("C-g")
	s.Wait(`"notes.txt" line 1 of 1`) // vim's own answer
	s.OpenMenu("x unmutes claude")
	s.Press("x")
	s.WaitShown("agents that you muted may ask again")
	a.ObtainGrant(s, "at last")
	s.Press(`C-\`)
	s.WaitTitle("[observed]")
	s.QuitProgram(":q\n")
	require.Contains(t, w.MustGateway("audit", "show", "rec.cast"), "the user muted you until the end of the session")
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
	s.Wait("Codex drives 10 min · Codex 2 asks")
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
