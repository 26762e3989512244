package e2e_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// runGranted grants codex the keyboard in a program, and returns the session's id. ready matches
// the program's screen once it has started.
func (s *terminal) runGranted(level, program, ready string) (id string) {
	s.w.t.Helper()
	if s.w.content("rc") == "" {
		s.w.write("rc", "PS1='$ '\n")
	}
	s.run("proxy --agent --grant " + level + " --yield 100ms " + program)
	s.match(ready)
	id = s.w.session()
	s.w.requestGrant(id, "--level", level, "--as", "codex")
	s.w.mustGateway("wait", id, "--waiting") // the matched prompt may have been another program's
	return id
}

const (
	plainBash = "bash --noprofile --rcfile rc -i"
	waitsLine = "“codex” waits for your line"
	atPrompt  = `[$#%>] *\n` // of a shell, of root or not
)

// R63: the user's unsubmitted line is never joined with an agent's input, whichever program is
// atPrompt.
func TestAnUnsubmittedLineHoldsTheAgentR63(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, program, ready string
		mine, theirs         string
		first, second        string // what the program answers to each
	}{
		{"bash", plainBash, `\$`, "echo user-", "echo $((6*7))", "user-end", "42"},
		{"zsh", "zsh -f", atPrompt, "echo user-", "echo $((6*7))", "user-end", "42"},
		{"fish", "fish --no-config", atPrompt, "echo user-", "math 6 x 7", "user-end", "42"},
		{"dash", "dash -i", atPrompt, "echo user-", "echo $((6*7))", "user-end", "42"},
		{"python3", "python3 -q", ">>>", "'user-' + '", "6*7", "user-end", "42"},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t, c.name)
			s := w.terminal(100, 16)
			id := s.runGranted("drive", c.program, c.ready)
			s.typed(c.mine)
			s.wait(c.mine)
			sending := w.start("gateway", "send", id, "--as", "codex", "--text", c.theirs, "--enter", "--timeout", "20s")
			s.wait(waitsLine)
			require.Contains(t, w.mustGateway("read", id), "held: the user has not submitted the line ")
			require.NotContains(t, s.screen(), c.theirs)
			s.typed("end")
			if c.name == "python3" {
				s.typed("'")
			}
			s.press("Enter")
			require.Zero(t, sending.wait().status)
			s.see("both answers, apart", func(screen string) bool {
				return strings.Contains(screen, c.first+"\n") || strings.Contains(screen, "'"+c.first+"'\n")
			})
			s.wait("\n" + c.second + "\n")
			require.NotContains(t, s.screen(), waitsLine)
		})
	}
}

// R63: the ways in which the line becomes free, and in which the user decides otherwise.
func TestHowTheLineBecomesFreeR63(t *testing.T) {
	w := newWorld(t)
	w.write("rc", "PS1='$ '\nset -o history\n")
	s := w.terminal(100, 24)
	id := s.runGranted("drive", plainBash, atPrompt)
	send := func(text string) *running {
		sending := w.start("gateway", "send", id, "--as", "codex", "--text", text, "--enter", "--timeout", "15s")
		s.wait(waitsLine)
		return sending
	}
	s.typed("echo one")
	s.wait("$ echo one")
	sending := send("echo a-$((1+1))")
	s.press("C-u") // empty again
	require.Zero(t, sending.wait().status)
	s.wait("\na-2\n")

	s.press("Up") // a recalled line counts
	s.see("the line of before", func(screen string) bool { return strings.Count(screen, "$ echo a-$((1+1))") == 2 })
	sending = send("echo b-$((1+2))")
	s.press("C-c")
	require.Zero(t, sending.wait().status)
	s.wait("\nb-3\n")

	s.typed("echo two-")
	s.wait("$ echo two-")
	sending = send("echo c")
	s.pressWhile("C-g", waitsLine) // the user lets it through
	require.Zero(t, sending.wait().status)
	s.wait("\ntwo-echo c\n")

	s.typed("echo three")
	s.wait("$ echo three")
	got := w.gateway("send", id, "--as", "codex", "--text", "echo d", "--timeout", "1s")
	got.mustFail(t, 1, `the user has not submitted the line: "echo three"`)
	s.waitGone(waitsLine)
	require.NotContains(t, s.screen(), "echo d")

	sending = send("echo e")
	s.press(`C-\`) // and reclaim drops what is held
	require.Equal(t, 1, sending.wait().status)
	s.wait("codex is stopped")
	require.Contains(t, s.screen(), "$ echo three\n")
	require.NotContains(t, s.screen(), "echo e\n")
}

// R63: if the user's submitted line is unfinished, and the program asks for the rest, the line is
// still the user's.
func TestAnAgentDoesNotContinueTheUsersLineR63(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, program, ready, begin, rest string }{
		{"bash", plainBash, atPrompt, "for i in 1 2; do", "\n>"},
		{"zsh", "zsh -f", atPrompt, "for i in 1 2; do", "\nfor>"},
		{"dash", "env PS1='$ ' dash -i", atPrompt, "for i in 1 2; do", "\n>"},
		{"fish", "fish --no-config", atPrompt, "for i in 1 2", ""}, // it continues in the next row without a message
		{"python3", "python3 -q", ">>>", "for i in 1,2:", "\n..."},
		{"sqlite3", "sqlite3", "sqlite>", "select 1,", "\n   ...>"},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t, c.name)
			s := w.terminal(100, 16)
			id := s.runGranted("drive", c.program, c.ready)
			s.typed(c.begin)
			s.wait(c.begin)
			row := s.format("#{cursor_y}")
			s.press("Enter")
			s.see("the next row", func(string) bool { return s.format("#{cursor_y}") != row })
			s.wait(c.rest)
			sending := w.start("gateway", "send", id, "--as", "codex", "--text", "theirs", "--timeout", "20s")
			s.wait(waitsLine)
			require.NotContains(t, s.screen(), "theirs")
			s.press("C-c")
			require.Zero(t, sending.wait().status)
			s.wait("theirs")
		})
	}
}

// R63: keys that another program took, or that were erased afterwards, leave the line free.
func TestKeysThatAnotherProgramTookLeaveTheLineFreeR63(t *testing.T) {
	w := newWorld(t, "less")
	s := w.terminal(100, 16)
	id := s.runGranted("drive", plainBash, atPrompt)
	free := func(text string) {
		require.Zero(t, w.gateway("send", id, "--as", "codex", "--text", text, "--timeout", "20s").status)
		s.wait(text)
		require.NotContains(t, s.screen(), waitsLine)
		s.press("C-c")
		s.wait(text + "^C\n$")
	}
	w.write("rows", strings.Repeat("row\n", 100)) // a file: with a slow pipe, less drops keys
	s.typed("echo rea''dy; read x; less rows\n")
	s.wait("\nready\n") // read receives what readline has not read, in one piece
	s.typed("line\nG")  // typed ahead: read takes the line, and less the key
	s.wait("(END)")
	s.typed("q")
	s.waitGone("(END)")
	free("one")
	s.typed("cat\n")
	s.wait("$ cat\n")
	s.typed("abc")
	s.wait("abc")
	s.press("C-z")
	s.wait("Stopped")
	free("two")
	s.typed("sleep 0.5\nabc")
	s.wait("\n$ abc")
	s.press("BSpace", "BSpace", "BSpace")
	s.wait("\n$\n")
	free("three")
}

// R63: where no line is edited, nothing is held for one.
func TestInputIsNotHeldWithoutALineR63(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, program, ready, mine, theirs, then string }{
		{"top", "top", "PID", "h", "q", "Help for"},
		{"vim", "vim -u NONE -N notes", "~", "imine", " theirs", "mine theirs"},
		{"fzf", "sh -c 'seq 100 | fzf'", ">", "4", "2", "> 42"},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t, c.name)
			s := w.terminal(100, 16)
			id := s.runGranted("drive", c.program, c.ready)
			before := s.screen()
			s.typed(c.mine)
			s.see("the user's key", func(screen string) bool { return screen != before })
			require.Zero(t, w.gateway("send", id, "--as", "codex", "--text", c.theirs).status)
			if c.name != "top" {
				s.wait(c.then)
			}
			require.NotContains(t, s.screen(), waitsLine)
		})
	}
}

// R64: an agent's unsubmitted text is quoted if the line is known, and not claimed otherwise.
func TestUnsubmittedTextIsQuotedR64(t *testing.T) {
	w := newWorld(t, "vim")
	s := w.terminal(100, 16)
	id := s.runGranted("drive", plainBash, atPrompt)
	w.mustGateway("send", id, "--as", "codex", "--text", "git pu")
	s.press(`C-\`)
	s.wait(`codex is stopped; left on the line: "git pu"`)
	s.press("C-c")
	s.wait("$ git pu^C\n$")
	s.typed("exit\n")
	s.status()

	id = s.runGranted("drive", "vim -u NONE -N notes", "~")
	w.mustGateway("send", id, "--as", "codex", "--text", "iabc", "esc")
	s.press(`C-\`)
	s.wait("codex is stopped")
	require.NotContains(t, s.screen(), "left on the line")
}

// R65: at the prompt of a shell, a REPL or a debugger, free text needs no key.
func TestTypeIsFreeAtALinePromptR65(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, program, ready string }{
		{"bash", plainBash, atPrompt},
		{"zsh", "zsh -f", atPrompt},
		{"fish", "fish --no-config", atPrompt},
		{"dash", "dash -i", atPrompt},
		{"python3", "python3 -q", ">>>"},
		{"node", "env NODE_REPL_HISTORY= node", ">"},
		{"gdb", "gdb -q -nx", `\(gdb\)`},
		{"sqlite3", "sqlite3", "sqlite>"},
		{"bash reads a line", plainBash, "name:"},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t, strings.Fields(c.name)[0])
			rc := "PS1='$ '\n"
			if strings.Contains(c.name, "reads") {
				rc += "read -p name: name\n"
			}
			w.write("rc", rc)
			s := w.terminal(100, 16)
			id := s.runGranted("type", c.program, c.ready)
			require.Zero(t, w.gateway("send", id, "--as", "codex", "--text", "1 + 1", "--timeout", "15s").status)
			s.wait("1 + 1")
			require.NotContains(t, s.screen(), heldKeys)
			sending := w.start("gateway", "send", id, "--as", "codex", "enter")
			s.wait(`“codex” wants to send <Enter> · runs: "1 + 1"`)
			s.press(`C-\`)
			sending.wait()
		})
	}
}

// R66: the question shows what will run, not which keys were pressed.
func TestTheQuestionShowsWhatWillRunR66(t *testing.T) {
	w := newWorld(t)
	s := w.terminal(120, 16)
	id := s.runGranted("type", plainBash, atPrompt)
	free := func(what ...string) {
		require.Zero(t, w.gateway(append([]string{"send", id, "--as", "codex"}, what...)...).status)
	}
	asked := func(question string, what ...string) {
		sending := w.start("gateway", append([]string{"send", id, "--as", "codex"}, what...)...)
		s.wait(question)
		s.releaseHeld("C-g")
		sending.wait()
	}
	free("--text", " ;touch done")
	free("home", "ctrl-u")
	free("--text", "echo hello")
	asked(`runs: "echo hello ;touch done"`, "enter")
	w.until(func() bool { _, err := os.Stat(w.path("done")); return err == nil }, s.screen)

	free("--paste", w.write("hidden", "touch two\n")) // into the line editor: nothing runs
	require.NoFileExists(t, w.path("two"))
	free("--text", "echo x")
	asked(`runs: "touch two" ⏎ "echo x"`, "enter")
	w.until(func() bool { _, err := os.Stat(w.path("two")); return err == nil }, s.screen)

	free("--text", "echo killed")
	free("ctrl-u")
	free("--text", "echo y")
	asked(`runs: "echo y" · typed: "echo killed"<Ctrl-U>"echo y"`, "enter") // never forgotten: ^Y would bring it back
	s.wait("\ny\n")

	free("--text", "touch three")
	asked(`<Ctrl-V><Ctrl-J>`, "ctrl-v", "ctrl-j") // a newline inside the line
	asked(`"echo z"`, "--text", "echo z")
	asked(`<Enter> after "touch three"<Ctrl-V><Ctrl-J>"echo z"`, "enter")
	s.wait("\nz\n")

	free("--text", "echo "+strings.Repeat("z", 4000))
	got := w.gateway("send", id, "--as", "codex", "enter")
	got.mustFail(t, 2, "clear the line")
	require.NotContains(t, s.screen(), heldKeys)
}

// R66: Enter does not send what a shell suggests behind the cursor, and the question tells them
// apart.
func TestASuggestionDoesNotRunR66(t *testing.T) {
	w := newWorld(t, "fish")
	s := w.terminal(120, 16)
	id := s.runGranted("type", "fish --no-config --init-command 'function fish_prompt; echo \"> \"; end; function fish_right_prompt; echo RIGHT; end'", "RIGHT")
	s.typed("echo suggested-before\n")
	s.wait("\nsuggested-before\n")
	require.Zero(t, w.gateway("send", id, "--as", "codex", "--text", "echo sug").status)
	s.wait("> echo suggested-before") // a suggestion
	sending := w.start("gateway", "send", id, "--as", "codex", "enter")
	s.wait(`runs: "echo sug" ¦ not sent: `)
	s.releaseHeld("C-g")
	require.Zero(t, sending.wait().status)
	s.wait("\nsug\n")
}

// R66: whatever an agent types and edits, the question is what bash runs.
func TestTheQuestionIsWhatBashRunsR66(t *testing.T) {
	w := newWorld(t)
	w.write("rc", "PS1='$ '\nset -o history\nHISTFILE=/dev/null\nHISTTIMEFORMAT=\nPROMPT_COMMAND='fc -ln -1 > ran'\n")
	s := w.terminal(180, 24)
	id := s.runGranted("type", plainBash, atPrompt)
	for round := range uint64(6) {
		r := rand.New(rand.NewPCG(round, 66))
		w.mustGateway("wait", id, "--waiting") // otherwise the text may reach PROMPT_COMMAND, and waits for the user
		line := []string{"send", id, "--as", "codex", "--text", fmt.Sprintf(": r%d-", round)}
		require.Zero(t, w.gateway(line...).status)
		for range 6 {
			what := []string{"--text", string("abc xyz;|&"[r.IntN(10)]) + string(rune('a'+r.IntN(26)))}
			switch r.IntN(5) {
			case 0:
				what = []string{[]string{"left", "right", "backspace", "ctrl-w", "ctrl-h", "ctrl-b"}[r.IntN(6)]}
			case 1:
				what = []string{"end"}
			}
			got := w.gateway(append([]string{"send", id, "--as", "codex"}, what...)...)
			require.Zero(t, got.status, "%s%s", got.err, s.screen())
		}
		sending := w.start("gateway", "send", id, "--as", "codex", "enter")
		asked := s.match(`runs: "([^"]*)"`)
		_ = os.Remove(w.path("ran"))
		s.releaseHeld("C-g")
		sending.wait()
		ran := strings.TrimSpace(w.waitHeard("ran", `\S`))
		require.Equal(t, strings.TrimSpace(asked), ran, "round %d", round)
	}
}
