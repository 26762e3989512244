package e2e_test

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// sight is a program with its screen for the tests of the line over the bottom row.
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
	for _, at := range sights {
		t.Run(at.name, func(t *testing.T) {
			w := newWorld(t, at.needs)
			s := w.terminal(100, 16)
			w.write("long.txt", longText(60))
			if at.needs == "man" {
				if _, status := s.does("man -w bash > /dev/null 2>&1"); status != 0 {
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
			w.good("wait", id, "--idle", "300ms")
			before, cursor := s.colours(), s.format("#{cursor_x},#{cursor_y} #{cursor_flag}")
			asking := w.start("gateway", "request", id, "--reason", "see whether it leaves a trace")
			s.asked()
			require.Equal(t, cursor, s.format("#{cursor_x},#{cursor_y} #{cursor_flag}"), "while the line is there")
			s.press(`C-\`)
			s.waitGone("Ctrl+G")
			refused := asking.wait()
			require.Equal(t, 1, refused.status)
			require.Contains(t, refused.err, "the user declined")
			s.waitGone("is refused")
			require.Equal(t, before, s.colours())
			require.Equal(t, cursor, s.format("#{cursor_x},#{cursor_y} #{cursor_flag}"))
			s.titled("[observed]")
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
	s.quits("q")
}

func TestTheUserGrantsAndRefuses(t *testing.T) {
	w, s, id := listening(t, 120, 24, "--agent")
	s.gives(id, "--reason", "try", "--as", "codex")
	s.wait(`codex drives for 10 min. Ctrl+\ takes the keyboard back at once`)
	w.good("send", id, "--as", "codex", "--text", "typed by codex")
	require.Equal(t, "typed by codex", w.listens("heard", "codex$"))
	s.press(`C-\`)
	s.wait("the keyboard is yours: codex is stopped")
	got := w.gateway("send", id, "--as", "codex", "--text", "more")
	require.Equal(t, 4, got.status)
	require.Contains(t, got.err, "took the keyboard back")
	s.quits("mine\x04")
	require.Equal(t, "typed by codexmine\x04", w.content("heard"), "neither Ctrl+G nor Ctrl+\\ nor a refused byte")
}

// DESIGN's first promise, on the whole path.
func TestNoAgentByteAfterReclaimInAFlood(t *testing.T) {
	w := newWorld(t)
	s := w.terminal(100, 24)
	s.listen("--agent --grant drive --yield 0s")
	w.session()
	a := w.agent("flooder", eras[1])
	a.good("terminal_request_control", args{"reason": "flood"}, "granted")
	grows := func(by int) {
		from := len(w.content("heard"))
		w.until(func() bool { return len(w.content("heard")) >= from+by }, func() string { return "the flood has stopped" })
	}
	for round := range 3 {
		told := make(chan answer, 1)
		go func() { // ends when it is refused
			for {
				got := <-a.start("terminal_send", args{"text": strings.Repeat("A", 4000), "settle_ms": 0})
				if got.fails || got.err != nil {
					told <- got
					return
				}
			}
		}()
		grows(20_000)
		s.press(`C-\`)
		s.typed("uuu")
		got := w.answered(told)
		require.True(t, got.fails)
		require.Contains(t, got.text, "the user took the keyboard back")
		a.fails("terminal_send", args{"text": "AAA"}, "terminal_request_control")
		w.until(func() bool { return strings.HasSuffix(w.content("heard"), "Auuu") },
			func() string { return fmt.Sprintf("round %d: not the user's keys at the end of what it read", round) })
		asking := a.start("terminal_request_control", args{"reason": "flood again"})
		s.answer("C-g")
		require.False(t, w.answered(asking).fails)
	}
	heard := w.content("heard")
	require.Equal(t, 3, strings.Count(heard, "uuu"))
	require.Equal(t, 9, strings.Count(heard, "u"))
	require.Equal(t, strings.Count(heard, "A")+9, len(heard))
}

func TestTheUsersKeysPauseTheAgentAndArriveWhole(t *testing.T) {
	w := newWorld(t)
	s := w.terminal(100, 24)
	s.listen("--agent --grant drive")
	w.session()
	a := w.agent("codex", eras[0])
	a.good("terminal_request_control", args{"reason": "type on"}, "granted")
	ended := make(chan struct{})
	go func() { // ends when the user takes the keyboard back
		defer close(ended)
		for {
			if got := <-a.start("terminal_send", args{"text": strings.Repeat("a", 300), "settle_ms": 0}); got.fails || got.err != nil {
				return
			}
		}
	}()
	w.until(func() bool { return len(w.content("heard")) > 3000 }, func() string { return w.content("heard") })
	s.typed("MY WORDS")
	w.listens("heard", "MY WORDS")
	s.titled("[codex paused]")
	require.Regexp(t, `^a+MY WORDS$`, w.content("heard"), "it waits")
	w.listens("heard", `MY WORDSa{600}`) // and goes on
	s.press(`C-\`)
	<-ended
}

func TestGrantDriveIsForTheFirstThatAsks(t *testing.T) {
	w, s, id := listening(t, 120, 24, "--agent --grant drive")
	w.granted(id, "--as", "first")
	busy := w.gateway("request", id, "--reason", "me too", "--as", "second")
	require.Equal(t, 1, busy.status)
	require.Contains(t, busy.err, "another agent has the keyboard or is asking for it (first)")
	require.Equal(t, 4, w.gateway("send", id, "--as", "second", "--text", "x").status)
	w.good("release", id, "--as", "first")
	s.wait("first gives the keyboard back")
	asking := w.start("gateway", "request", id, "--reason", "now me", "--as", "second")
	s.answer(`C-\`)
	require.Equal(t, 1, asking.wait().status, "the wish was for one agent only")
}

func TestAGrantEndsWithItsTime(t *testing.T) {
	w, s, id := listening(t, 100, 24, "--agent --grant drive --for 1s")
	w.granted(id, "--as", "codex", "--for", "1h")
	s.titled("[codex drives]")
	s.wait("time is up: codex no longer has")
	s.titled("[observed]")
	got := w.gateway("send", id, "--as", "codex", "--text", "late")
	require.Equal(t, 4, got.status)
	require.Contains(t, got.err, "time of your grant is over")
	require.Empty(t, w.content("heard"))
}

func TestWithoutALineTheTitleAsks(t *testing.T) {
	w, s, id := listening(t, 100, 24, "--agent --no-notice")
	before := s.colours()
	asking := w.start("gateway", "request", id, "--reason", "quietly", "--as", "codex")
	s.titled(`[codex asks to drive for 10 min: Ctrl+G allows, Ctrl+\ refuses]`)
	require.Equal(t, before, s.colours())
	w.until(func() bool { // too soon is an accident
		s.press("C-g")
		return strings.Contains(s.title(), "[codex drives]")
	}, s.title)
	require.Zero(t, asking.wait().status)
	require.Equal(t, before, s.colours())
}

func TestTheMenu(t *testing.T) {
	w, s, id := listening(t, 120, 24, "--agent")
	before := s.colours()
	s.press(`C-\`)
	s.wait("no agent has the keyboard")
	s.typed("x")
	s.waitGone("no agent has the keyboard")
	require.Equal(t, "x", w.listens("heard", "x"), "any other key closes and reaches the program")
	require.Equal(t, before, s.colours())

	// The key itself, for the program: the second one, once the line could be read.
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
	require.Equal(t, "x\x1c", w.listens("heard", "\x1c"))
	require.Equal(t, before, s.colours())

	s.press(`C-\`)
	s.answerMenu("C-g")
	s.wait("the next agent that asks will drive")
	s.press(`C-\`)
	s.waitGone("the next agent that asks will drive") // taken back
	again := time.NewTicker(900 * time.Millisecond)   // R5: for a while a further press counts as one too many
	defer again.Stop()
	for !strings.Contains(s.screen(), "no agent has the keyboard") {
		<-again.C
		s.press(`C-\`)
		w.good("wait", id, "--idle", "1ms")
	}
	s.answerMenu("C-g")
	s.wait("the next agent that asks will drive")
	w.granted(id, "--as", "codex")
	w.good("send", id, "--as", "codex", "--text", "y")
	require.Equal(t, "x\x1cy", w.listens("heard", "y"))
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

// R46: a key that was pressed before anybody could read the question is no answer to it.
func TestR46AKeyBeforeTheQuestionGrantsNothing(t *testing.T) {
	w, s, id := listening(t, 100, 24, "--agent")
	for range 4 { // of more, the user is asked at a slow pace
		asking := w.start("gateway", "request", id, "--reason", "in your way", "--as", "codex")
		var looked time.Time
		for {
			at := time.Now()
			s.press("C-g")
			if s.questioned() {
				break
			}
			looked = at
		}
		// Only keys of the first moments count for the test: the question came after the last look without it.
		prompt := time.Since(looked) < 150*time.Millisecond
		if prompt {
			require.True(t, s.questioned())
			w.keyboard(id, "user (codex asks)")
		}
		w.good("release", id, "--as", "codex")
		require.Equal(t, 1, asking.wait().status)
		if prompt {
			return
		}
	}
	t.Skip("this machine is too slow to press a key within 150 ms")
}

func TestR9SignalsReclaim(t *testing.T) {
	for _, sig := range []syscall.Signal{syscall.SIGUSR1, syscall.SIGQUIT} {
		t.Run(sig.String(), func(t *testing.T) {
			w := newWorld(t)
			s := w.terminal(100, 24)
			proxy := s.listen("--agent --grant drive")
			id := w.session()
			w.granted(id, "--as", "codex")
			s.titled("[codex drives]")
			w.kill(proxy, sig)
			s.wait("the keyboard is yours: codex is stopped")
			require.Equal(t, 4, w.gateway("send", id, "--as", "codex", "--text", "x").status)
			s.quits("mine\x04")
			require.Equal(t, "mine\x04", w.content("heard"))
		})
	}
}

// R2: the key as terminals send it in the modes that programs switch on.
func TestR2EveryEncodingOfTheKeyReclaims(t *testing.T) {
	for name, key := range map[string]string{
		"plain":                 "\x1c",
		"kitty":                 "\x1b[92;5u",
		"kitty, num lock":       "\x1b[92;133u",
		"modifyOtherKeys":       "\x1b[27;5;92~",
		"in the middle of text": "ab\x1b[92;5ucd",
	} {
		t.Run(name, func(t *testing.T) {
			w, s, id := listening(t, 100, 24, "--agent --grant drive")
			w.granted(id, "--as", "codex")
			s.titled("[codex")
			s.bytes(key)
			s.wait("the keyboard is yours: codex is stopped")
			s.quits("\x04")
			text := regexp.MustCompile("\x1b.*[u~]|\x1c").ReplaceAllString(key, "")
			require.Equal(t, text+"\x04", w.content("heard"))
		})
	}
}

func TestControlEndsWithTheAgent(t *testing.T) {
	w, s, id := listening(t, 100, 24, "--agent --grant drive")
	a := w.agent("codex", eras[1])
	a.good("terminal_request_control", args{"reason": "drive"}, "granted")
	s.titled("[codex drives]")
	require.NoError(t, a.cmd.Process.Kill())
	s.wait("codex disconnected: the keyboard is yours")
	s.titled("[observed]")
	w.keyboard(id, "user")
}

func TestAProxyInAProxy(t *testing.T) {
	w := newWorld(t)
	s := w.terminal(120, 24)
	s.run("proxy --agent --name outer bash --noprofile --rcfile bashrc -i")
	outer := w.session()
	s.wait("$")
	s.typed("clear; proxy --agent true; echo status=$?\n")
	s.wait("status=2")
	require.Contains(t, s.screen(), "this shell already runs inside the session "+outer)
	s.typed("clear; proxy --agent --nested --name inner cat\n")
	ids := w.ids(2)
	require.Contains(t, strings.Join(ids, " "), "inner-")
	s.typed("both see this\n")
	for _, id := range ids {
		require.Contains(t, w.good("wait", id, "--text", "both see this"), "both see this")
	}
	s.press("C-d")
	require.Equal(t, []string{outer}, w.ids(1))
	s.quits("exit\n")
}

// R4: the key inside a paste takes the keyboard back, and nothing of that paste reaches the program.
func TestR4TheKeyInsideAPasteReclaims(t *testing.T) {
	w, s, id := listening(t, 100, 24, "--agent --grant drive")
	w.granted(id, "--as", "codex")
	s.titled("[codex drives]")
	s.bytes("\x1b[200~rm -rf\x1c everything\x1b[201~mine")
	s.wait("the keyboard is yours: codex is stopped")
	s.press("C-d") // not before: the line goes with the program
	require.Zero(t, s.status())
	require.Equal(t, "mine\x04", w.content("heard"))
}

// R5: people press twice and keys repeat; a program with its defaults would die of what is one too many.
func TestR5AHeldKeyDoesNotReachTheProgram(t *testing.T) {
	w, s, id := listening(t, 100, 24, "--agent --grant drive")
	w.granted(id, "--as", "codex")
	s.titled("[codex drives]")
	s.press(slices.Repeat([]string{`C-\`}, 30)...) // in one go: a pause of a busy machine's would be one of the user's
	s.wait("the keyboard is yours: codex is stopped")
	require.NotContains(t, s.screen(), "no agent has the keyboard", "nor does the menu open")
	s.quits("mine\x04")
	require.Equal(t, "mine\x04", w.content("heard"))
}
