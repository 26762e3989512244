package agents_test

import (
	"strings"
	"testing"

	"terminalproxy/cmd/internal/e2e/world"

	"github.com/stretchr/testify/require"
)

// A grant for vim pauses while vim shows a shell, and resumes with vim.
func TestOnlyThisProgram(t *testing.T) {
	w := world.New(t, "vim", "bash")
	s := w.Terminal(110, 16)
	w.Write("notes.txt", "bread\n")
	s.Run("proxy --agent --grant drive --only-this-program vim -u NONE -n notes.txt")
	s.Wait("bread")
	id := w.Session()
	w.RequestGrant(id, "--as", "codex")
	world.WaitRead(w, id, "keyboard: codex (drive), for \"vim\" only")
	w.MustGateway("send", id, "--as", "codex", "--text", ":!bash --norc", "--enter")
	s.Match(`([$#]) ?\n`)
	s.WaitTitle("[codex waits for vim]")
	s.WaitShown("codex waits: it has the keyboard for vim only, and bash is in the foreground")
	world.WaitRead(w, id, "codex, paused: the grant is for \"vim\", and another program has the terminal")
	got := w.Gateway("send", id, "--as", "codex", "--text", "touch pwned", "--enter", "--timeout", "300ms")
	got.MustFail(t, 1, "the grant is for one program, and another one has the terminal")

	waiting := w.Start("gateway", "send", id, "--as", "codex", "--text", "oeggs", "--timeout", "5m")
	w.Caller().WaitPending(1)
	s.Typed("echo mine > said; exit\n")
	waiting.Wait().MustFail(t, 1, "the user typed since you looked")
	s.WaitTitle("[codex drives]")
	require.Equal(t, "mine\n", w.Content("said"))
	w.MustGateway("send", id, "--as", "codex", "--text", "\roeggs", "esc")
	w.Gateway("send", id, "--as", "codex", "--text", ":wq", "--enter") // its gateway may end before the answer
	require.Zero(t, s.Status())
	require.Equal(t, "bread\neggs\n", w.Content("notes.txt"))
	require.NoFileExists(t, w.Path("pwned"))
}

// unbracketed makes bash take several lines one by one, not as one paste.
const unbracketed = "bind 'set enable-bracketed-paste off'\nPS1='$ '\n"

// In one input, an agent starts another program and types on for it: the program gets nothing, in
// every program that can start another one, and in every way of starting it.
func TestNothingIsTypedAheadR79(t *testing.T) {
	t.Parallel()
	const bash, prompt = "bash --rcfile rc", `[$#] ?\n`
	for _, c := range []struct {
		name, program, ready, needs string
		send                        []string // after gateway send ID --as codex
		front                       string   // which program takes the terminal
	}{
		{"lines", bash, prompt, "bash", []string{"--text", "sh\ntouch F\n"}, "sh"},
		{"keys", bash, prompt, "bash", []string{"s", "h", "ctrl-j", "t", "o", "u", "c", "h", "space", "F", "ctrl-m"}, "sh"},
		{"in its place", bash, prompt, "bash", []string{"--text", "exec dash\ntouch F\n"}, "dash"},
		{"a shell without an editor", "dash", prompt, "dash", []string{"--text", "bash --norc\ntouch F\n"}, "bash"},
		{"vim", "vim -u NONE -n", "~", "vim", []string{"--text", ":!dash -i\ntouch F\n"}, "dash"},
		{"a slow builtin", bash, prompt, "bash", []string{"--text", "read -t 0.4 x < <(exec sleep 1); dash\ntouch F\n"}, "dash"},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := world.New(t, c.needs, "dash")
			w.Write("rc", unbracketed)
			s := w.Terminal(100, 16)
			s.Run("proxy --agent --grant drive --yield 0s --no-notice --only-this-program " + c.program)
			s.Match(c.ready)
			id := w.Session()
			w.RequestGrant(id, "--as", "codex")
			sending := w.Start("gateway", append([]string{"send", id, "--as", "codex", "--timeout", "5m"}, c.send...)...)
			s.WaitTitle("[codex waits for ")
			s.Typed("echo front=$0 mine\n")
			s.Match("front=\\S*" + c.front + " mine\n")
			s.Press(`C-\`)
			sending.Wait().MustFail(t, 1, "the user took the keyboard back")
			s.Close()
			require.NoFileExists(t, w.Path("F"))
		})
	}
}

// A program that stays in front gets the whole input, line by line, even if other programs have the
// terminal in between.
func TestItGoesOnR79(t *testing.T) {
	w := world.New(t)
	w.Write("rc", unbracketed)
	s := w.Terminal(100, 16)
	s.Run("proxy --agent --grant drive --yield 0s --no-notice --only-this-program bash --rcfile rc")
	s.Match(`[$#] ?\n`)
	id := w.Session()
	w.RequestGrant(id, "--as", "codex")
	w.MustGateway("send", id, "--as", "codex", "--text", "echo one >>out\nsleep 0.2\necho two >>out\n/bin/echo three >>out\n"+
		strings.Repeat("echo >>out\n", 20)+"echo last >>out\n", "--until", "idle=300ms")
	w.Until(func() bool { return strings.Contains(w.Content("out"), "last") }, s.Screen)
	require.Equal(t, "one\ntwo\nthree\n"+strings.Repeat("\n", 20)+"last\n", w.Content("out"))

	got := w.Gateway("send", id, "--as", "codex", "--timeout", "1s", "--text", "read -t 100 x < <(exec sleep 100)\necho more >>out\n")
	require.Equal(t, 1, got.Status, got.Out+got.Err)
	require.Contains(t, got.Err, "and nothing is typed ahead for it: it has not asked for more since the last input")
	s.Press("C-c")
	s.Match(`\^C\n.*[$#] ?\n`)
	w.MustGateway("send", id, "--as", "codex", "--text", "echo more >>out; exit\n")
	require.Zero(t, s.Status())
	require.True(t, strings.HasSuffix(w.Content("out"), "last\nmore\n"))
}

// For every line, a program gives the terminal to another group and takes it back. The agent's
// input reaches only that program, and what the user types meanwhile only the other.
func TestBackAndForthR79(t *testing.T) {
	w := world.New(t, "python3")
	w.Write("flip.py", `
import os, signal, sys
signal.signal(signal.SIGTTOU, signal.SIG_IGN)
def give(group):
    os.tcsetpgrp(0, group)
for n in range(3):
    print("mine", n, flush=True)
    with open("own", "a") as f: f.write(os.read(0, 100).decode())
    pid = os.fork()
    if pid == 0:
        os.setpgid(0, 0)
        give(os.getpid())
        print("other", n, flush=True)
        with open("other", "a") as f: f.write(os.read(0, 100).decode())
        os._exit(0)
    os.waitpid(pid, 0)
    give(os.getpgrp())
`)
	s := w.Terminal(100, 16)
	s.Run("proxy --agent --grant drive --yield 0s --no-notice --only-this-program python3 flip.py")
	s.Wait("mine 0")
	id := w.Session()
	w.RequestGrant(id, "--as", "codex")
	sending := w.Start("gateway", "send", id, "--as", "codex", "--timeout", "5m", "--text", "a0\na1\na2\n")
	for _, n := range []string{"0", "1", "2"} {
		s.Wait("other " + n)
		s.Typed("u" + n + "\n")
	}
	require.Zero(t, s.Status())
	sending.Wait()
	require.Equal(t, "a0\na1\na2\n", w.Content("own"))
	require.Equal(t, "u0\nu1\nu2\n", w.Content("other"))
}

// R63: an input that waited for a line of one program is not typed into another program, to which
// it may mean something else.
func TestWaitingInputIsForTheSameProgramR63(t *testing.T) {
	w := world.New(t)
	w.Write("rc", "PS1='$ '\n")
	s := w.Terminal(100, 16)
	id := s.RunGranted("drive", world.PlainBash, world.AtPrompt)
	s.Typed("cat > got")
	s.Wait("$ cat > got")
	sending := w.Start("gateway", "send", id, "--as", "codex", "--text", "echo stray", "--enter", "--timeout", "5m")
	s.Wait(world.WaitsLine)
	s.Press("Enter")
	got := sending.Wait()
	got.MustFail(t, 1, "another program has the terminal since the input waited for the user's line")
	require.NotContains(t, w.MustGateway("read", id), "stray")

	// An agent that has looked types into the current program, which the user ends before its line
	// is whole.
	s.Typed("mine")
	s.Wait("mine")
	sending = w.Start("gateway", "send", id, "--as", "codex", "--text", "echo stray", "--enter", "--timeout", "5m")
	s.Wait(world.WaitsLine)
	s.Press("C-c") // after Ctrl+D twice, the prompt would stand behind the text and so be the user's
	sending.Wait().MustFail(t, 1, "another program has the terminal since the input waited for the user's line")
	s.Wait("mine^C\n$")
	require.NotContains(t, w.MustGateway("read", id), "stray")
	require.Empty(t, w.Content("got"))
}
