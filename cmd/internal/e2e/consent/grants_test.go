package consent_test

import (
	"fmt"
	"strings"
	"testing"

	"terminalproxy/cmd/internal/e2e/world"

	"github.com/stretchr/testify/require"
)

// sight is a program and its screen, for the tests of the line over the bottom row.
type sight struct {
	name, needs, line string
	ready             string // stands on the screen when it is drawn
}

var sights = []sight{
	{"vim", "vim", "vim -u NONE -n -c 'syntax off' -c 'set number' long.txt", "line 3"},
	{"a shell on a full screen", "bash", "bash --noprofile --rcfile bashrc -i", "$"},
}

func TestTheQuestionLeavesNoTrace(t *testing.T) {
	t.Parallel()
	for _, at := range sights {
		t.Run(at.name, func(t *testing.T) {
			w := world.New(t, at.needs)
			s := w.Terminal(100, 16)
			w.Write("long.txt", world.LongText(60))
			s.Run("proxy --agent " + at.line)
			s.Wait(at.ready)
			if at.needs == "bash" {
				s.Typed(`cat long.txt; printf '\e[1;31mcoloured to the \e[44mend\e[0m'` + "\n")
				s.Wait("coloured to the end$")
				s.Typed("not yet sent")
				s.Wait("not yet sent")
			}
			id := w.Session()
			w.MustGateway("wait", id, "--idle", "300ms")
			before, cursor := s.Colours(), s.Format("#{cursor_x},#{cursor_y} #{cursor_flag}")
			asking := w.Start("gateway", "request", id, "--reason", "see whether it leaves a trace")
			s.WaitQuestion()
			require.Equal(t, cursor, s.Format("#{cursor_x},#{cursor_y} #{cursor_flag}"), "while the line is there")
			s.Press(`C-\`)
			s.WaitGone("Ctrl+G")
			refused := asking.Wait()
			require.Equal(t, 1, refused.Status)
			require.Contains(t, refused.Err, "the user declined")
			s.WaitGone("is refused")
			s.WaitColours(before)
			require.Equal(t, cursor, s.Format("#{cursor_x},#{cursor_y} #{cursor_flag}"))
			s.WaitTitle("[observed]")
		})
	}
}

// DESIGN's first promise, on the whole path.
func TestNoAgentByteAfterReclaimInAFlood(t *testing.T) {
	w := world.New(t)
	s := w.Terminal(100, 24)
	s.RunListener("--agent --grant drive --yield 0s")
	w.Session()
	a := w.Agent("flooder", world.Eras[1])
	a.MustCall("terminal_request_control", world.Args{"reason": "flood"}, "granted")
	grows := func(by int) {
		from := len(w.Content("heard"))
		w.Until(func() bool { return len(w.Content("heard")) >= from+by }, func() string { return "the flood has stopped" })
	}
	for round := range 2 {
		told := flood(w, a)
		grows(20_000)
		s.Press(`C-\`)
		s.Typed("uuu")
		got := w.WaitAnswer(told)
		require.True(t, got.Fails)
		require.Contains(t, got.Text, "the user took the keyboard back")
		a.MustFail("terminal_send", world.Args{"text": "AAA"}, "terminal_request_control")
		w.Until(func() bool { return strings.HasSuffix(w.Content("heard"), "Auuu") },
			func() string { return fmt.Sprintf("round %d: not the user's keys at the end of what it read", round) })
		a.ObtainGrant(s, "flood again")
	}
	heard := w.Content("heard")
	require.Equal(t, 2, strings.Count(heard, "uuu"))
	require.Equal(t, strings.Count(heard, "A")+6, len(heard))
}

// The pause is long enough to be looked at. That it ends by itself is tested with a fake clock
// (R6, plays of the pump), and by the sign (R69).
func TestTheUsersKeysPauseTheAgentAndArriveWhole(t *testing.T) {
	w := world.New(t)
	s := w.Terminal(100, 24)
	s.RunListener("--agent --grant drive --yield 1h")
	w.Session()
	a := w.Agent("codex", world.Eras[0])
	a.MustCall("terminal_request_control", world.Args{"reason": "type on"}, "granted")
	ended := flood(w, a)
	w.Until(func() bool { return len(w.Content("heard")) > 3000 }, func() string { return "no flood" })
	s.Typed("MY WORDS")
	s.WaitTitle("[codex paused]")
	require.Regexp(t, `^A+MY WORDS$`, w.WaitHeard("heard", "MY WORDS"))
	s.Press(`C-\`)
	require.Contains(t, w.WaitAnswer(ended).Text, "the user took the keyboard back")
	require.Regexp(t, `^A+MY WORDS$`, w.Content("heard"))
}

func TestGrantDriveIsForTheFirstThatAsks(t *testing.T) {
	w, s, id := world.StartListener(t, 120, 24, "--agent --grant drive")
	w.RequestGrant(id, "--as", "first")
	asking := w.Start("gateway", "request", id, "--reason", "me too", "--as", "second")
	s.Wait("“second” asks to drive, and waits: ")
	s.Wait("first drives · second asks")
	require.Equal(t, 4, w.Gateway("send", id, "--as", "second", "--text", "x").Status)
	w.MustGateway("release", id, "--as", "first")
	s.Answer(`C-\`)
	require.Equal(t, 1, asking.Wait().Status, "the wish was for one agent only")
}

// Without the line over the program, the window's title asks.
func TestWithoutALineTheTitleAsks(t *testing.T) {
	w, s, id := world.StartListener(t, 100, 24, "--agent --no-notice")
	before := s.Colours()
	asking := w.Start("gateway", "request", id, "--reason", "quietly", "--as", "codex", "--level", "type")
	s.WaitTitle(`[“codex” asks to type for 10 min: Ctrl+G allows · Ctrl+\ refuses]`)
	s.WaitColours(before)
	s.PressWhile("C-g", "Ctrl+G allows")
	require.Zero(t, asking.Wait().Status)
	sending := w.Start("gateway", "send", id, "--as", "codex", "ctrl-c")
	s.WaitTitle(`[“codex” wants to send <Ctrl-C>: Ctrl+G sends it · Ctrl+\ refuses and stops codex]`)
	s.PressWhile("C-g", "send <Ctrl-C>")
	require.Zero(t, sending.Wait().Status)
	w.WaitContent("heard", "\x03")
	s.WaitColours(before)
}

func TestTheMenu(t *testing.T) {
	w, s, id := world.StartListener(t, 120, 24, "--agent")
	before := s.Colours()
	s.Press(`C-\`)
	s.WaitShown("no agent has the keyboard")
	s.Typed("x")
	s.WaitGone("no agent has the keyboard")
	require.Equal(t, "x", w.WaitHeard("heard", "x"), "any other key closes and reaches the program")
	s.WaitColours(before)

	// Once the line can be read, the second press of the key reaches the program.
	s.OpenMenu("sends the key")
	s.Press(`C-\`)
	require.Equal(t, "x\x1c", w.WaitHeard("heard", "\x1c"))
	s.WaitColours(before)

	s.OpenMenu("Ctrl+G lets the next agent")
	s.Press("C-g")
	s.WaitShown("the next agent that asks will drive")
	w.RequestGrant(id, "--as", "codex")
	w.MustGateway("send", id, "--as", "codex", "--text", "y")
	require.Equal(t, "x\x1cy", w.WaitHeard("heard", "y"))
}

func TestAProxyInAProxy(t *testing.T) {
	w := world.New(t)
	s := w.Terminal(120, 24)
	s.Run("proxy --agent --name outer bash --noprofile --rcfile bashrc -i")
	outer := w.Session()
	s.Wait("$")
	for flag, value := range map[string]string{"gateway": "unix:/nowhere", "record": "file"} {
		s.Typed("clear; proxy --agent --" + flag + " " + value + " true; echo " + flag + " status=$?\n")
		s.Wait(flag + " status=2") // and not the previous flag's
		s.Wait("proxy: --" + flag + ": this shell already runs inside the session " + outer)
	}
	require.NoFileExists(t, w.Path("file"))
	// Without other flags, it becomes the program itself, as the same process.
	s.Typed("clear; echo it is $$; exec proxy --agent sh -c 'echo still $$ $1; exec bash --norc' sh 'a b'\n")
	pid := s.Match(`it is (\d+)`)
	s.Wait("still " + pid + " a b")
	require.Equal(t, outer, w.Session())
	// Without a program, too. The outer shell could read what is typed ahead.
	s.Typed("clear; PROMPT_COMMAND='echo within $((1+1))' proxy --agent; echo status=$?\n")
	s.Wait("within 2")
	s.Typed("exit 7\n")
	s.Wait("status=7")
	s.Typed("clear; proxy --agent nosuchprogram; echo status=$?\n")
	s.Wait("status=127")
	s.Wait("proxy: nosuchprogram: command not found")
	s.Typed("clear; proxy --agent --nested --name inner cat\n")
	ids := w.IDs(2)
	require.Contains(t, strings.Join(ids, " "), "inner-")
	s.Typed("both see this\n")
	for _, id := range ids {
		require.Contains(t, w.MustGateway("wait", id, "--text", "both see this"), "both see this")
	}
	s.Press("C-d")
	require.Equal(t, []string{outer}, w.IDs(1))
	s.QuitProgram("exit\n")
}

// R2, R4, R5: the key takes the keyboard back in every encoding that programs switch on, and inside
// a paste, of which nothing then reaches the program. People press twice and keys repeat; a program
// would die of one press too many.
func TestTheKeyReclaimsHoweverItComesR2R4R5(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ sent, heard string }{
		"plain":                 {"\x1c", ""},
		"modifyOtherKeys":       {"\x1b[27;5;92~", ""},
		"in the middle of text": {"ab\x1b[92;5ucd", "abcd"},
		"in a paste":            {"\x1b[200~rm -rf\x1c everything\x1b[201~mine", "mine"},
		"held":                  {strings.Repeat("\x1c", 30), ""},
	} {
		t.Run(name, func(t *testing.T) {
			w, s, id := world.StartListener(t, 100, 24, "--agent --grant drive")
			w.RequestGrant(id, "--as", "codex")
			s.WaitTitle("[codex")
			s.Bytes(c.sent)
			s.WaitShown("the keyboard is yours: codex is stopped")
			require.NotContains(t, s.Screen(), "no agent has the keyboard", "nor does the menu open")
			s.QuitProgram("\x04")
			require.Equal(t, c.heard+"\x04", w.Content("heard"))
		})
	}
}

// R70: control ends with its agent, and so does a question.
func TestAnAgentsGrantAndQuestionEndWithItR70(t *testing.T) {
	w, s, id := world.StartListener(t, 100, 24, "--agent --grant drive")
	a := w.Agent("codex", world.Eras[1])
	a.MustCall("terminal_request_control", world.Args{"reason": "drive"}, "granted")
	s.WaitTitle("[codex drives]")
	require.NoError(t, a.Cmd.Process.Kill())
	s.WaitShown("codex disconnected: the keyboard is yours")
	s.WaitTitle("[observed]")
	w.WaitKeyboard(id, "user")
	s.WaitGone("codex disconnected")
	before := s.Colours()
	a = w.Agent("claude", world.Eras[1])
	a.StartCall("terminal_request_control", world.Args{"reason": "drive"})
	s.WaitQuestion()
	require.NoError(t, a.Cmd.Process.Kill())
	s.WaitShown("claude no longer asks")
	require.False(t, s.HasQuestion())
	s.WaitTitle("[observed]")
	s.WaitGone("claude no longer asks")
	s.WaitColours(before)
}
