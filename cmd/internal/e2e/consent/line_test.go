package consent_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"testing"

	"terminalproxy/cmd/internal/e2e/world"

	"github.com/stretchr/testify/require"
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
		{"bash", world.PlainBash, `\$`, "echo user-", "echo $((6*7))", "user-end", "42"},
		{"zsh", "zsh -f", world.AtPrompt, "echo user-", "echo $((6*7))", "user-end", "42"},
		{"fish", "fish --no-config", world.AtPrompt, "echo user-", "math 6 x 7", "user-end", "42"},
		{"dash", "dash -i", world.AtPrompt, "echo user-", "echo $((6*7))", "user-end", "42"},
		{"python3", "python3 -q", ">>>", "'user-' + '", "6*7", "user-end", "42"},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := world.New(t, c.name)
			s := w.Terminal(100, 16)
			id := s.RunGranted("drive", c.program, c.ready)
			s.Typed(c.mine)
			s.Wait(c.mine)
			sending := w.Start("gateway", "send", id, "--as", "codex", "--text", c.theirs, "--enter", "--timeout", "5m")
			s.Wait(world.WaitsLine)
			world.WaitRead(w, id, "held: the user has not submitted the line ")
			require.NotContains(t, w.MustGateway("read", id), c.theirs)
			s.Typed("end")
			if c.name == "python3" {
				s.Typed("'")
			}
			s.Press("Enter")
			require.Zero(t, sending.Wait().Status)
			s.See("both answers, apart", func(screen string) bool {
				return strings.Contains(screen, c.first+"\n") || strings.Contains(screen, "'"+c.first+"'\n")
			})
			s.Wait("\n" + c.second + "\n")
			require.NotContains(t, s.Screen(), world.WaitsLine)
		})
	}
}

// R63: the ways in which the line becomes free, and in which the user decides otherwise.
func TestHowTheLineBecomesFreeR63(t *testing.T) {
	w := world.New(t)
	w.Write("rc", "PS1='$ '\nset -o history\n")
	s := w.Terminal(100, 24)
	id := s.RunGranted("drive", world.PlainBash, world.AtPrompt)
	send := func(text string) *world.Running {
		sending := w.Start("gateway", "send", id, "--as", "codex", "--text", text, "--enter", "--timeout", "5m")
		s.Wait(world.WaitsLine)
		return sending
	}
	s.Typed("echo one")
	s.Wait("$ echo one")
	sending := send("echo a-$((1+1))")
	s.Press("C-u") // empty again
	require.Zero(t, sending.Wait().Status)
	s.Wait("\na-2\n")

	s.Press("Up") // a recalled line counts
	s.See("the line of before", func(screen string) bool { return strings.Count(screen, "$ echo a-$((1+1))") == 2 })
	sending = send("echo b-$((1+2))")
	s.Press("C-c")
	require.Zero(t, sending.Wait().Status)
	s.Wait("\nb-3\n")

	s.Typed("echo two-")
	s.Wait("$ echo two-")
	sending = send("echo c")
	s.PressWhile("C-g", world.WaitsLine) // the user lets it through
	require.Zero(t, sending.Wait().Status)
	s.Wait("\ntwo-echo c\n")

	s.Typed("echo three")
	s.Wait("$ echo three")
	got := w.Gateway("send", id, "--as", "codex", "--text", "echo d", "--timeout", "1s")
	got.MustFail(t, 1, `the user has not submitted the line: "echo three"`)
	s.WaitGone(world.WaitsLine)
	require.NotContains(t, s.Screen(), "echo d")

	sending = send("echo e")
	s.Press(`C-\`) // and reclaim drops what is held
	require.Equal(t, 1, sending.Wait().Status)
	s.WaitShown("codex is stopped")
	s.Wait("$ echo three\n")
	require.NotContains(t, s.Screen(), "echo e\n")
}

// R63: an Enter that submits nothing, and text that the next prompt brings along, leave the line to
// the user.
func TestEnterThatSubmitsNothingR63(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		program, ready string
		typed          []string // lines of the user's, and keys after "key:"
		kept           string
	}{
		"bash, histverify":     {world.PlainBash, `\$`, []string{"set -o history; shopt -s histverify", "echo mine", "!!"}, "echo mine"},
		"bash, histreedit":     {world.PlainBash, `\$`, []string{"set -o history -H; shopt -s histreedit", "!nosuch"}, "!nosuch"},
		"zsh, hist_verify":     {"zsh -f", world.AtPrompt, []string{"setopt hist_verify", "echo mine", "!!"}, "echo mine"},
		"zsh, print -z":        {"zsh -f", world.AtPrompt, []string{"print -z echo pushed"}, "echo pushed"},
		"zsh, push-line":       {"zsh -f", world.AtPrompt, []string{"keys:echo held", "key:Escape", "key:q", "true"}, "echo held"},
		"zsh, a widget":        {"zsh -f", world.AtPrompt, []string{"refuse() { }; zle -N accept-line refuse", "echo kept"}, "echo kept"},
		"bash, read -e -p -i":  {world.PlainBash, `\$`, []string{"read -e -p 'name: ' -i proposed x"}, "name: proposed"},
		"zsh, vared":           {"zsh -f", world.AtPrompt, []string{"x=proposed; vared x"}, "proposed"},
		"fish, a syntax error": {"fish --no-config", world.AtPrompt, []string{"end"}, "end"},
	} {
		t.Run(name, func(t *testing.T) {
			w := world.New(t, strings.Fields(c.program)[0])
			s := w.Terminal(100, 16)
			id := s.RunGranted("drive", c.program, c.ready)
			for _, step := range c.typed {
				switch kind, what, _ := strings.Cut(step, ":"); kind {
				case "key":
					s.Press(what)
				case "keys":
					s.Typed(what)
					s.Wait(what)
				default:
					s.Typed(step)
					s.Wait(step)
					s.Press("Enter")
				}
			}
			s.See("the text that Enter left, with the cursor behind it", func(screen string) bool {
				row, _ := strconv.Atoi(s.Format("#{cursor_y}"))
				rows := strings.Split(screen, "\n")
				return row < len(rows) && strings.HasSuffix(strings.TrimRight(rows[row], " "), c.kept)
			})
			got := w.Gateway("send", id, "--as", "codex", "--text", "; echo theirs", "--enter", "--timeout", "1s")
			got.MustFail(t, 1, "the user has not submitted the line: \""+c.kept+"\"")
			require.NotContains(t, s.Screen(), "theirs")
		})
	}
}

// R63: an agent that has not looked since the user typed does not continue the user's command. Once
// it has looked, it may.
func TestHalfACommandIsNotContinuedR63(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, program, begins, half, shown string }{
		{"vim", "vim -u NONE -n notes.txt", "", ":s/one", ":s/one"},
		{"less", "less notes.txt", "", "/line 15", "/line 15"},
		{"nano", "nano notes.txt", "C-w", "line", `Search.*: line`},
		{"sh", "sh -c 'vim -u NONE -n notes.txt; PS1=vim-ended exec sh'", "", ":q\n", "vim-ended"},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := world.New(t, c.name)
			w.Write("notes.txt", "line one\nline two\n")
			s := w.Terminal(80, 16)
			id := s.RunGranted("drive", c.program, "line two")
			w.MustGateway("read", id, "--as", "codex")
			if c.begins != "" {
				s.Press(c.begins)
			}
			s.Typed(c.half)
			s.Match(c.shown)
			s.WaitTitle("[codex drives]") // the pause for the user's keys is over
			got := w.Gateway("send", id, "--as", "codex", "--text", "theirs")
			got.MustFail(t, 1, "the user typed since you looked")
			require.NotContains(t, s.Screen(), "theirs")
			w.MustGateway("read", id, "--as", "codex")
			w.MustGateway("send", id, "--as", "codex", "esc")
		})
	}
}

// R63: if the user's submitted line is unfinished, and the program asks for the rest, the line is
// still the user's.
func TestAnAgentDoesNotContinueTheUsersLineR63(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, program, ready, begin, rest string }{
		{"bash", world.PlainBash, world.AtPrompt, "for i in 1 2; do", "\n>"},
		{"zsh", "zsh -f", world.AtPrompt, "for i in 1 2; do", "\nfor>"},
		{"dash", "env PS1='$ ' dash -i", world.AtPrompt, "for i in 1 2; do", "\n>"},
		{"fish", "fish --no-config", world.AtPrompt, "for i in 1 2", ""}, // it continues in the next row without a message
		{"python3", "python3 -q", ">>>", "for i in 1,2:", "\n..."},
		{"sqlite3", "sqlite3", "sqlite>", "select 1,", "\n   ...>"},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := world.New(t, c.name)
			s := w.Terminal(100, 16)
			id := s.RunGranted("drive", c.program, c.ready)
			s.Typed(c.begin)
			s.Wait(c.begin)
			row := s.Format("#{cursor_y}")
			s.Press("Enter")
			s.See("the next row", func(string) bool { return s.Format("#{cursor_y}") != row })
			s.Wait(c.rest)
			sending := w.Start("gateway", "send", id, "--as", "codex", "--text", "theirs", "--timeout", "5m")
			s.Wait(world.WaitsLine)
			require.NotContains(t, w.MustGateway("read", id), "theirs")
			s.Press("C-c")
			require.Zero(t, sending.Wait().Status)
			s.Wait("theirs")
		})
	}
}

// R63: keys that another program took, or that were erased afterwards, leave the line free.
func TestKeysThatAnotherProgramTookLeaveTheLineFreeR63(t *testing.T) {
	w := world.New(t, "less")
	s := w.Terminal(100, 16)
	id := s.RunGranted("drive", world.PlainBash, world.AtPrompt)
	free := func(text string) {
		require.Zero(t, w.Gateway("send", id, "--as", "codex", "--text", text, "--timeout", "5m").Status)
		s.Wait(text)
		require.NotContains(t, s.Screen(), world.WaitsLine)
		s.Press("C-c")
		s.Wait(text + "^C\n$")
	}
	w.Write("rows", strings.Repeat("row\n", 100)) // a file: with a slow pipe, less drops keys
	s.Typed("echo rea''dy; read x; less rows\n")
	s.Wait("\nready\n") // read receives what readline has not read, in one piece
	s.Typed("line\nG")  // typed ahead: read takes the line, and less the key
	s.Wait("(END)")
	s.Typed("q")
	s.WaitGone("(END)")
	free("one")
	s.Typed("cat\n")
	s.Wait("$ cat\n")
	s.Typed("abc")
	s.Wait("abc")
	s.Press("C-z")
	s.Wait("Stopped")
	free("two")
	s.Typed("sleep 0.5\nabc")
	s.Wait("\n$ abc")
	s.Press("BSpace", "BSpace", "BSpace")
	s.Wait("\n$\n")
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
			w := world.New(t, c.name)
			s := w.Terminal(100, 16)
			id := s.RunGranted("drive", c.program, c.ready)
			before := s.Screen()
			s.Typed(c.mine)
			s.See("the user's key", func(screen string) bool { return screen != before })
			w.MustGateway("read", id, "--as", "codex")
			require.Zero(t, w.Gateway("send", id, "--as", "codex", "--text", c.theirs).Status)
			if c.name != "top" {
				s.Wait(c.then)
			}
			require.NotContains(t, s.Screen(), world.WaitsLine)
		})
	}
}

// R64: an agent's unsubmitted text is quoted if the line is known, and not claimed otherwise.
func TestUnsubmittedTextIsQuotedR64(t *testing.T) {
	w := world.New(t, "vim")
	s := w.Terminal(100, 16)
	id := s.RunGranted("drive", world.PlainBash, world.AtPrompt)
	w.MustGateway("send", id, "--as", "codex", "--text", "git pu")
	s.Press(`C-\`)
	s.WaitShown(`codex is stopped; left on the line: "git pu"`)
	s.Press("C-c")
	s.Wait("$ git pu^C\n$")
	s.Typed("exit\n")
	s.Status()

	id = s.RunGranted("drive", "vim -u NONE -N notes", "~")
	w.MustGateway("send", id, "--as", "codex", "--text", "iabc", "esc")
	s.Press(`C-\`)
	s.WaitShown("codex is stopped")
	require.NotContains(t, s.Screen(), "left on the line")
}

// R65: at the prompt of a shell, a REPL or a debugger, free text needs no key.
func TestTypeIsFreeAtALinePromptR65(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, program, ready string }{
		{"bash", world.PlainBash, world.AtPrompt},
		{"zsh", "zsh -f", world.AtPrompt},
		{"fish", "fish --no-config", world.AtPrompt},
		{"dash", "dash -i", world.AtPrompt},
		{"python3", "python3 -q", ">>>"},
		{"node", "env NODE_REPL_HISTORY= node", ">"},
		{"gdb", "gdb -q -nx", `\(gdb\)`},
		{"sqlite3", "sqlite3", "sqlite>"},
		{"bash reads a line", world.PlainBash, "name:"},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := world.New(t, strings.Fields(c.name)[0])
			rc := "PS1='$ '\n"
			if strings.Contains(c.name, "reads") {
				rc += "read -p name: name\n"
			}
			w.Write("rc", rc)
			s := w.Terminal(100, 16)
			id := s.RunGranted("type", c.program, c.ready)
			require.Zero(t, w.Gateway("send", id, "--as", "codex", "--text", "1 + 1", "--timeout", "5m").Status)
			s.Wait("1 + 1")
			require.NotContains(t, s.Screen(), world.HeldKeys)
			sending := w.Start("gateway", "send", id, "--as", "codex", "enter")
			s.Wait(`“codex” wants to send <Enter> · runs: "1 + 1"`)
			s.Press(`C-\`)
			sending.Wait()
		})
	}
}

// R66: the question shows what will run, not which keys were pressed.
func TestTheQuestionShowsWhatWillRunR66(t *testing.T) {
	w := world.New(t)
	s := w.Terminal(120, 16)
	id := s.RunGranted("type", world.PlainBash, world.AtPrompt)
	free := func(what ...string) {
		require.Zero(t, w.Gateway(append([]string{"send", id, "--as", "codex"}, what...)...).Status)
	}
	asked := func(question string, what ...string) {
		sending := w.Start("gateway", append([]string{"send", id, "--as", "codex"}, what...)...)
		s.Wait(question)
		s.ReleaseHeld("C-g")
		sending.Wait()
	}
	free("--text", " ;touch done")
	free("home", "ctrl-u")
	free("--text", "echo hello")
	asked(`runs: "echo hello ;touch done"`, "enter")
	w.Until(func() bool { _, err := os.Stat(w.Path("done")); return err == nil }, s.Screen)

	free("--paste", w.Write("hidden", "touch two\n")) // into the line editor: nothing runs
	require.NoFileExists(t, w.Path("two"))
	free("--text", "echo x")
	asked(`runs: "touch two" ⏎ "echo x"`, "enter")
	w.Until(func() bool { _, err := os.Stat(w.Path("two")); return err == nil }, s.Screen)

	free("--text", "echo killed")
	free("ctrl-u")
	free("--text", "echo y")
	asked(`runs: "echo y" · typed: "echo killed"<Ctrl-U>"echo y"`, "enter") // never forgotten: ^Y would bring it back
	s.Wait("\ny\n")

	free("--text", "touch three")
	asked(`<Ctrl-V><Ctrl-J>`, "ctrl-v", "ctrl-j") // a newline inside the line
	asked(`"echo z"`, "--text", "echo z")
	asked(`<Enter> after "touch three"<Ctrl-V><Ctrl-J>"echo z"`, "enter")
	s.Wait("\nz\n")

	free("--text", "echo "+strings.Repeat("z", 4000))
	got := w.Gateway("send", id, "--as", "codex", "enter")
	got.MustFail(t, 2, "clear the line")
	require.NotContains(t, s.Screen(), world.HeldKeys)
}

// R66: Enter does not send what a shell suggests behind the cursor, and the question tells them
// apart.
func TestASuggestionDoesNotRunR66(t *testing.T) {
	w := world.New(t, "fish")
	s := w.Terminal(120, 16)
	id := s.RunGranted("type", "fish --no-config --init-command 'function fish_prompt; echo \"> \"; end; function fish_right_prompt; echo RIGHT; end'", "RIGHT")
	s.Typed("echo suggested-before\n")
	s.Wait("\nsuggested-before\n")
	require.Zero(t, w.Gateway("send", id, "--as", "codex", "--text", "echo sug").Status)
	s.Wait("> echo suggested-before") // a suggestion
	sending := w.Start("gateway", "send", id, "--as", "codex", "enter")
	s.Wait(`runs: "echo sug" ¦ not sent: `)
	s.ReleaseHeld("C-g")
	require.Zero(t, sending.Wait().Status)
	s.Wait("\nsug\n")
}

// R66: whatever an agent types and edits, the question is what bash runs.
func TestTheQuestionIsWhatBashRunsR66(t *testing.T) {
	w := world.New(t)
	w.Write("rc", "PS1='$ '\nset -o history\nHISTFILE=/dev/null\nHISTTIMEFORMAT=\nPROMPT_COMMAND='fc -ln -1 > ran'\n"+
		// what a background job prints after the prompt leaves the cursor on a row without one
		"command_not_found_handle() { :; }\n")
	s := w.Terminal(180, 24)
	id := s.RunGranted("type", world.PlainBash, world.AtPrompt)
	for round := range uint64(6) {
		r := rand.New(rand.NewPCG(round, 66))
		w.MustGateway("wait", id, "--waiting") // otherwise the text may reach PROMPT_COMMAND, and waits for the user
		line := []string{"send", id, "--as", "codex", "--text", fmt.Sprintf(": r%d-", round)}
		require.Zero(t, w.Gateway(line...).Status)
		for range 6 {
			what := []string{"--text", string("abc xyz;|&"[r.IntN(10)]) + string(rune('a'+r.IntN(26)))}
			switch r.IntN(5) {
			case 0:
				what = []string{[]string{"left", "right", "backspace", "ctrl-w", "ctrl-h", "ctrl-b"}[r.IntN(6)]}
			case 1:
				what = []string{"end"}
			}
			got := w.Gateway(append([]string{"send", id, "--as", "codex"}, what...)...)
			require.Zero(t, got.Status, "%s%s", got.Err, s.Screen())
		}
		sending := w.Start("gateway", "send", id, "--as", "codex", "enter")
		asked := s.Match(`runs: "([^"]*)"`)
		_ = os.Remove(w.Path("ran"))
		s.ReleaseHeld("C-g")
		sending.Wait()
		ran := strings.TrimSpace(w.WaitHeard("ran", `\S`))
		require.Equal(t, strings.TrimSpace(asked), ran, "round %d", round)
	}
}
