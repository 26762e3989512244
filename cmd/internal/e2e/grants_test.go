package e2e_test

import (
	"fmt"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// sight is a program and its screen, for the tests of the line over the bottom row.
type sight struct {
	name, needs, line string
	ready             string // stands on the screen when it is drawn
}

var sights = []sight{
	{"vim", "vim", "vim -u NONE -n -c 'syntax off' -c 'set number' long.txt", "line 3"},
	{"less", "less", "less -N long.txt", "line 3"},
	{"a shell on a full screen", "bash", "bash --noprofile --rcfile bashrc -i", "$"},
	{"man", "man", "man -P less bash", "BASH"},
}

func TestTheQuestionLeavesNoTrace(t *testing.T) {
	t.Parallel()
	for _, at := range sights {
		t.Run(at.name, func(t *testing.T) {
			w := newWorld(t, at.needs)
			s := w.terminal(100, 16)
			w.write("long.txt", longText(60))
			if at.needs == "man" {
				if _, status := s.runToEnd("man -w bash > /dev/null 2>&1"); status != 0 {
					t.Skip("there is no manual page of bash")
				}
			}
			s.run("proxy --agent " + at.line)
			s.wait(at.ready)
			if at.needs == "bash" {
				s.typed(`cat long.txt; printf '\e[1;31mcoloured to the \e[44mend\e[0m'` + "\n")
				s.wait("coloured to the end$")
				s.typed("not yet sent")
				s.wait("not yet sent")
			}
			id := w.session()
			w.mustGateway("wait", id, "--idle", "300ms")
			before, cursor := s.colours(), s.format("#{cursor_x},#{cursor_y} #{cursor_flag}")
			asking := w.start("gateway", "request", id, "--reason", "see whether it leaves a trace")
			s.waitQuestion()
			require.Equal(t, cursor, s.format("#{cursor_x},#{cursor_y} #{cursor_flag}"), "while the line is there")
			s.press(`C-\`)
			s.waitGone("Ctrl+G")
			refused := asking.wait()
			require.Equal(t, 1, refused.status)
			require.Contains(t, refused.err, "the user declined")
			s.waitGone("is refused")
			require.Equal(t, before, s.colours())
			require.Equal(t, cursor, s.format("#{cursor_x},#{cursor_y} #{cursor_flag}"))
			s.waitTitle("[observed]")
		})
	}
}

func longText(lines int) string {
	var b strings.Builder
	for n := range lines {
		b.WriteString(strings.Repeat("line ", n%4+1))
		b.WriteString(strings.Repeat("3", n%3+1) + "\n")
	}
	return b.String()
}

func TestTheQuestionStaysWhileTopRefreshes(t *testing.T) {
	w := newWorld(t, "top")
	s := w.terminal(100, 16)
	s.run("proxy --agent top -d 0.3")
	s.wait("PID")
	id := w.session()
	asking := w.start("gateway", "request", id, "--reason", "watch the load", "--as", "codex")
	s.see("the question off the cursor's row", func(string) bool { return strings.Contains(s.bottom(), "Ctrl+G allows") })
	for range 3 {
		first := strings.SplitN(s.screen(), "\n", 7)[:6]
		s.see("a refreshed top", func(screen string) bool {
			require.Contains(t, s.bottom(), "“codex” asks to drive for 10 min: “watch the load”")
			return strings.Join(strings.SplitN(screen, "\n", 7)[:6], "\n") != strings.Join(first, "\n")
		})
	}
	s.press(`C-\`)
	require.Equal(t, 1, asking.wait().status)
	s.waitGone("codex")
	require.NotContains(t, s.screen(), "Ctrl+")
	process := regexp.MustCompile(`^ *\d+ \S+ .*\d+:\d\d\.\d\d |^$`)
	s.see("top's own bottom row", func(string) bool { return process.MatchString(s.bottom()) })
	s.quitProgram("q")
}

func TestTheUserGrantsAndRefuses(t *testing.T) {
	w, s, id := startListener(t, 120, 24, "--agent")
	s.grantControl(id, "--reason", "try", "--as", "codex")
	s.waitShown(`codex drives for 10 min. Ctrl+\ takes the keyboard back at once`)
	w.mustGateway("send", id, "--as", "codex", "--text", "typed by codex")
	require.Equal(t, "typed by codex", w.waitHeard("heard", "codex$"))
	s.press(`C-\`)
	s.waitShown("the keyboard is yours: codex is stopped")
	got := w.gateway("send", id, "--as", "codex", "--text", "more")
	got.mustFail(t, 4, "took the keyboard back")
	s.quitProgram("mine\x04")
	require.Equal(t, "typed by codexmine\x04", w.content("heard"), "neither Ctrl+G nor Ctrl+\\ nor a refused byte")
}

// DESIGN's first promise, on the whole path.
func TestNoAgentByteAfterReclaimInAFlood(t *testing.T) {
	w := newWorld(t)
	s := w.terminal(100, 24)
	s.runListener("--agent --grant drive --yield 0s")
	w.session()
	a := w.agent("flooder", eras[1])
	a.mustCall("terminal_request_control", args{"reason": "flood"}, "granted")
	grows := func(by int) {
		from := len(w.content("heard"))
		w.until(func() bool { return len(w.content("heard")) >= from+by }, func() string { return "the flood has stopped" })
	}
	for round := range 3 {
		told := w.flood(a)
		grows(20_000)
		s.press(`C-\`)
		s.typed("uuu")
		got := w.waitAnswer(told)
		require.True(t, got.fails)
		require.Contains(t, got.text, "the user took the keyboard back")
		a.mustFail("terminal_send", args{"text": "AAA"}, "terminal_request_control")
		w.until(func() bool { return strings.HasSuffix(w.content("heard"), "Auuu") },
			func() string { return fmt.Sprintf("round %d: not the user's keys at the end of what it read", round) })
		a.obtainGrant(s, "flood again")
	}
	heard := w.content("heard")
	require.Equal(t, 3, strings.Count(heard, "uuu"))
	require.Equal(t, 9, strings.Count(heard, "u"))
	require.Equal(t, strings.Count(heard, "A")+9, len(heard))
}

func TestTheUsersKeysPauseTheAgentAndArriveWhole(t *testing.T) {
	w := newWorld(t)
	s := w.terminal(100, 24)
	s.runListener("--agent --grant drive")
	w.session()
	a := w.agent("codex", eras[0])
	a.mustCall("terminal_request_control", args{"reason": "type on"}, "granted")
	ended := w.flood(a)
	w.until(func() bool { return len(w.content("heard")) > 3000 }, func() string { return w.content("heard") })
	s.typed("MY WORDS")
	w.waitHeard("heard", "MY WORDS")
	s.waitTitle("[codex paused]")
	require.Regexp(t, `^A+MY WORDS$`, w.content("heard"), "it waits")
	w.waitHeard("heard", `MY WORDSA{600}`) // and continues
	s.press(`C-\`)
	<-ended
}

func TestGrantDriveIsForTheFirstThatAsks(t *testing.T) {
	w, s, id := startListener(t, 120, 24, "--agent --grant drive")
	w.requestGrant(id, "--as", "first")
	busy := w.gateway("request", id, "--reason", "me too", "--as", "second")
	require.Equal(t, 1, busy.status)
	require.Contains(t, busy.err, "another agent has the keyboard or is asking for it (first)")
	require.Equal(t, 4, w.gateway("send", id, "--as", "second", "--text", "x").status)
	w.mustGateway("release", id, "--as", "first")
	s.waitShown("first gives the keyboard back")
	asking := w.start("gateway", "request", id, "--reason", "now me", "--as", "second")
	s.answer(`C-\`)
	require.Equal(t, 1, asking.wait().status, "the wish was for one agent only")
}

func TestWithoutALineTheTitleAsks(t *testing.T) {
	w, s, id := startListener(t, 100, 24, "--agent --no-notice")
	before := s.colours()
	asking := w.start("gateway", "request", id, "--reason", "quietly", "--as", "codex")
	s.waitTitle(`[codex asks to drive for 10 min: Ctrl+G allows, Ctrl+\ refuses]`)
	require.Equal(t, before, s.colours())
	w.until(func() bool { // a key too soon is an accident
		s.press("C-g")
		return strings.Contains(s.title(), "[codex drives]")
	}, s.title)
	require.Zero(t, asking.wait().status)
	require.Equal(t, before, s.colours())
}

func TestTheMenu(t *testing.T) {
	w, s, id := startListener(t, 120, 24, "--agent")
	before := s.colours()
	s.press(`C-\`)
	s.waitShown("no agent has the keyboard")
	s.typed("x")
	s.waitGone("no agent has the keyboard")
	require.Equal(t, "x", w.waitHeard("heard", "x"), "any other key closes and reaches the program")
	require.Equal(t, before, s.colours())

	// Once the line can be read, the second press of the key reaches the program.
	s.press(`C-\`)
	s.wait("sends the key")
	pause := time.NewTicker(400 * time.Millisecond)
	defer pause.Stop()
	for strings.Contains(s.screen(), "sends the key") {
		<-pause.C
		if strings.Contains(s.screen(), "sends the key") {
			s.press(`C-\`)
		}
	}
	require.Equal(t, "x\x1c", w.waitHeard("heard", "\x1c"))
	require.Equal(t, before, s.colours())

	s.press(`C-\`)
	s.answerMenu("C-g")
	s.wait("the next agent that asks will drive")
	w.requestGrant(id, "--as", "codex")
	w.mustGateway("send", id, "--as", "codex", "--text", "y")
	require.Equal(t, "x\x1cy", w.waitHeard("heard", "y"))
}

// answerMenu presses a key until the menu is gone.
func (s *terminal) answerMenu(key string) {
	s.w.t.Helper()
	s.wait("Ctrl+G lets the next agent")
	pause := time.NewTicker(400 * time.Millisecond)
	defer pause.Stop()
	for strings.Contains(s.screen(), "Ctrl+G lets the next agent") {
		<-pause.C
		if strings.Contains(s.screen(), "Ctrl+G lets the next agent") {
			s.press(key)
		}
	}
}

func TestSignalsReclaimR9(t *testing.T) {
	t.Parallel()
	for _, sig := range []syscall.Signal{syscall.SIGUSR1, syscall.SIGQUIT} {
		t.Run(sig.String(), func(t *testing.T) {
			w := newWorld(t)
			s := w.terminal(100, 24)
			proxy := s.runListener("--agent --grant drive")
			id := w.session()
			w.requestGrant(id, "--as", "codex")
			s.waitTitle("[codex drives]")
			w.kill(proxy, sig)
			s.waitShown("the keyboard is yours: codex is stopped")
			require.Equal(t, 4, w.gateway("send", id, "--as", "codex", "--text", "x").status)
			s.quitProgram("mine\x04")
			require.Equal(t, "mine\x04", w.content("heard"))
		})
	}
}

func TestAProxyInAProxy(t *testing.T) {
	w := newWorld(t)
	s := w.terminal(120, 24)
	s.run("proxy --agent --name outer bash --noprofile --rcfile bashrc -i")
	outer := w.session()
	s.wait("$")
	for flag, value := range map[string]string{"grant": "drive", "for": "1h", "gateway": "unix:/nowhere", "record": "file", "name": "mine"} {
		s.typed("clear; proxy --agent --" + flag + " " + value + " true; echo " + flag + " status=$?\n")
		s.wait(flag + " status=2") // and not the previous flag's
		require.Contains(t, s.screen(), "proxy: --"+flag+": this shell already runs inside the session "+outer)
	}
	require.NoFileExists(t, w.path("file"))
	// Without other flags, it becomes the program itself, as the same process.
	s.typed("clear; echo it is $$; exec proxy --agent sh -c 'echo still $$ $1; exec bash --norc' sh 'a b'\n")
	pid := s.match(`it is (\d+)`)
	s.wait("still " + pid + " a b")
	require.Equal(t, outer, w.session())
	// Without a program, too. The outer shell could read what is typed ahead.
	s.typed("clear; PROMPT_COMMAND='echo within $((1+1))' proxy --agent; echo status=$?\n")
	s.wait("within 2")
	s.typed("clear; proxy --agent nosuchprogram; (exit 7); exit\n")
	s.wait("status=7")
	s.typed("clear; proxy --agent nosuchprogram; echo status=$?\n")
	s.wait("status=127")
	require.Contains(t, s.screen(), "proxy: nosuchprogram: command not found")
	s.typed("clear; proxy --agent --nested --name inner cat\n")
	ids := w.ids(2)
	require.Contains(t, strings.Join(ids, " "), "inner-")
	s.typed("both see this\n")
	for _, id := range ids {
		require.Contains(t, w.mustGateway("wait", id, "--text", "both see this"), "both see this")
	}
	s.press("C-d")
	require.Equal(t, []string{outer}, w.ids(1))
	s.quitProgram("exit\n")
}

// R2, R4, R5: the key takes the keyboard back in every encoding that programs switch on, and inside
// a paste, of which nothing then reaches the program. People press twice and keys repeat; a program
// would die of one press too many.
func TestTheKeyReclaimsHoweverItComesR2R4R5(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ sent, heard string }{
		"plain":                 {"\x1c", ""},
		"modifyOtherKeys":       {"\x1b[27;5;92~", ""},
		"kitty, num lock":       {"\x1b[92;133u", ""},
		"in the middle of text": {"ab\x1b[92;5ucd", "abcd"},
		"in a paste":            {"\x1b[200~rm -rf\x1c everything\x1b[201~mine", "mine"},
		"held":                  {strings.Repeat("\x1c", 30), ""},
	} {
		t.Run(name, func(t *testing.T) {
			w, s, id := startListener(t, 100, 24, "--agent --grant drive")
			w.requestGrant(id, "--as", "codex")
			s.waitTitle("[codex")
			s.bytes(c.sent)
			s.waitShown("the keyboard is yours: codex is stopped")
			require.NotContains(t, s.screen(), "no agent has the keyboard", "nor does the menu open")
			s.quitProgram("\x04")
			require.Equal(t, c.heard+"\x04", w.content("heard"))
		})
	}
}

// R70: control ends with its agent, and so does a question.
func TestAnAgentsGrantAndQuestionEndWithItR70(t *testing.T) {
	w, s, id := startListener(t, 100, 24, "--agent --grant drive")
	a := w.agent("codex", eras[1])
	a.mustCall("terminal_request_control", args{"reason": "drive"}, "granted")
	s.waitTitle("[codex drives]")
	require.NoError(t, a.cmd.Process.Kill())
	s.waitShown("codex disconnected: the keyboard is yours")
	s.waitTitle("[observed]")
	w.waitKeyboard(id, "user")
	s.waitGone("codex disconnected")
	before := s.colours()
	a = w.agent("claude", eras[1])
	a.startCall("terminal_request_control", args{"reason": "drive"})
	s.waitQuestion()
	require.NoError(t, a.cmd.Process.Kill())
	s.waitShown("claude no longer asks")
	require.False(t, s.hasQuestion())
	s.waitTitle("[observed]")
	s.waitGone("claude no longer asks")
	require.Equal(t, before, s.colours())
}
