package e2e_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// A grant for vim pauses while vim shows a shell, and resumes with vim.
func TestOnlyThisProgram(t *testing.T) {
	w := newWorld(t, "vim", "bash")
	s := w.terminal(110, 16)
	w.write("notes.txt", "bread\n")
	s.run("proxy --agent --grant drive --only-this-program vim -u NONE -n notes.txt")
	s.wait("bread")
	id := w.session()
	w.requestGrant(id, "--as", "codex")
	w.mustGateway("send", id, "--as", "codex", "--text", "omilk")
	w.mustGateway("send", id, "--as", "codex", "esc")
	require.Contains(t, w.mustGateway("read", id), "keyboard: codex (drive), for vim only")

	for _, command := range []string{":shell", ":!bash --norc"} {
		w.mustGateway("send", id, "--as", "codex", "--text", command, "--enter")
		s.match(`([$#]) ?\n`)
		s.waitTitle("[codex waits for vim]")
		s.waitShown("codex waits: it has the keyboard for vim only, and bash is in the foreground")
		require.Contains(t, w.mustGateway("read", id), "codex, paused: the grant is for vim, and another program has the terminal")
		got := w.gateway("send", id, "--as", "codex", "--text", "touch pwned", "--enter", "--timeout", "300ms")
		got.mustFail(t, 1, "the grant is for one program, and another one has the terminal")

		waiting := w.start("gateway", "send", id, "--as", "codex", "--text", "oeggs")
		s.typed("echo mine > said; exit\n")
		got = waiting.wait()
		if command == ":shell" {
			require.Zero(t, got.status, got.err) // vim is as the agent last saw it
		} else {
			got.mustFail(t, 1, "the user typed since you looked")
			w.mustGateway("send", id, "--as", "codex", "--text", "\roeggs")
		}
		s.waitTitle("[codex drives]")
		w.mustGateway("send", id, "--as", "codex", "esc")
		require.Equal(t, "mine\n", w.content("said"))
	}
	require.NoFileExists(t, w.path("pwned"))
	w.mustGateway("send", id, "--as", "codex", "--text", ":wq", "--enter", "--timeout", "2s")
	require.Zero(t, s.status())
	require.Contains(t, w.content("notes.txt"), "bread\nmilk\neggs")
}

// unbracketed makes bash take several lines one by one, not as one paste.
const unbracketed = "bind 'set enable-bracketed-paste off'\nPS1='$ '\n"

// In one input, an agent starts another program and types on for it: the program gets nothing, in
// every program that can start another one, and in every way of starting it.
func TestNothingIsTypedAheadR79(t *testing.T) {
	t.Parallel()
	const shell = "proxy --agent --grant drive --yield 0s --no-notice --only-this-program "
	for _, c := range []struct {
		name, run, sees string
		needs           string
		send            []string // after gateway send ID --as codex
		front           string   // which program takes the terminal
	}{
		{"lines", shell + "bash --rcfile rc", `[$#] ?\n`, "bash", []string{"--text", "sh\ntouch F\n"}, "sh"},
		{"keys", shell + "bash --rcfile rc", `[$#] ?\n`, "bash", []string{"s", "h", "ctrl-j", "t", "o", "u", "c", "h", "space", "F", "ctrl-m"}, "sh"},
		{"in its place", shell + "bash --rcfile rc", `[$#] ?\n`, "bash", []string{"--text", "exec dash\ntouch F\n"}, "dash"},
		{"a shell without an editor", shell + "dash", `[$#] ?\n`, "dash", []string{"--text", "bash --norc\ntouch F\n"}, "bash"},
		{"a loop", shell + "bash --rcfile rc", `[$#] ?\n`, "bash", []string{"--text", "for i in 1 2 3; do dash; done\ntouch F\n"}, "dash"},
		{"vim", shell + "vim -u NONE -n", "~", "vim", []string{"--text", ":!dash -i\ntouch F\n"}, "dash"},
		{"python", shell + "python3 -q", ">>>", "python3", []string{"--text", "import os; os.system('dash -i')\ntouch F\n"}, "dash"},
		{"after a pause", shell + "bash --rcfile rc", `[$#] ?\n`, "bash", []string{"--text", "sleep 0.3; dash\ntouch F\n"}, "dash"},
		{"a slow builtin", shell + "bash --rcfile rc", `[$#] ?\n`, "bash", []string{"--text", "read -t 0.4 x < <(exec sleep 1); dash\ntouch F\n"}, "dash"},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t, c.needs, "dash")
			w.write("rc", unbracketed)
			s := w.terminal(100, 16)
			s.run(c.run)
			s.match(c.sees)
			id := w.session()
			w.requestGrant(id, "--as", "codex")
			sending := w.start("gateway", append([]string{"send", id, "--as", "codex", "--timeout", "4s"}, c.send...)...)
			s.waitTitle("[codex waits for ")
			got := sending.wait()
			require.Equal(t, 1, got.status, got.out+got.err)
			require.Contains(t, got.err, "the grant is for one program, and another one has the terminal")
			s.typed("echo front=$0 mine\n")
			s.match("front=\\S*" + c.front + " mine\n")
			require.NoFileExists(t, w.path("F"))
			s.press(`C-\`)
			s.close()
			require.NoFileExists(t, w.path("F"))
		})
	}
}

// A program that stays in front gets the whole input, line by line, even if other programs have the
// terminal in between.
func TestItGoesOnR79(t *testing.T) {
	w := newWorld(t)
	w.write("rc", unbracketed)
	s := w.terminal(100, 16)
	s.run("proxy --agent --grant drive --yield 0s --no-notice --only-this-program bash --rcfile rc")
	s.match(`[$#] ?\n`)
	id := w.session()
	w.requestGrant(id, "--as", "codex")
	w.mustGateway("send", id, "--as", "codex", "--text", "echo one >>out\nsleep 0.2\necho two >>out\n/bin/echo three >>out\n"+
		strings.Repeat("echo >>out\n", 20)+"echo last >>out\n", "--until", "idle=300ms")
	w.until(func() bool { return strings.Contains(w.content("out"), "last") }, s.screen)
	require.Equal(t, "one\ntwo\nthree\n"+strings.Repeat("\n", 20)+"last\n", w.content("out"))

	got := w.gateway("send", id, "--as", "codex", "--timeout", "1s", "--text", "read -t 100 x < <(exec sleep 100)\necho more >>out\n")
	require.Equal(t, 1, got.status, got.out+got.err)
	require.Contains(t, got.err, "and nothing is typed ahead for it: it has not asked for more since the last input")
	s.press("C-c")
	s.match(`\^C\n.*[$#] ?\n`)
	w.mustGateway("send", id, "--as", "codex", "--text", "echo more >>out; exit\n")
	require.Zero(t, s.status())
	require.True(t, strings.HasSuffix(w.content("out"), "last\nmore\n"))
}

// For every line, a program gives the terminal to another group and takes it back. The agent's
// input reaches only that program, and what the user types meanwhile only the other.
func TestBackAndForthR79(t *testing.T) {
	w := newWorld(t, "python3")
	w.write("flip.py", `
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
	s := w.terminal(100, 16)
	s.run("proxy --agent --grant drive --yield 0s --no-notice --only-this-program python3 flip.py")
	s.wait("mine 0")
	id := w.session()
	w.requestGrant(id, "--as", "codex")
	sending := w.start("gateway", "send", id, "--as", "codex", "--timeout", "60s", "--text", "a0\na1\na2\n")
	for _, n := range []string{"0", "1", "2"} {
		s.wait("other " + n)
		s.typed("u" + n + "\n")
	}
	require.Zero(t, s.status())
	sending.wait()
	require.Equal(t, "a0\na1\na2\n", w.content("own"))
	require.Equal(t, "u0\nu1\nu2\n", w.content("other"))
}

// R63: an input that waited for a line of one program is not typed into another program, to which
// it may mean something else.
func TestWaitingInputIsForTheSameProgramR63(t *testing.T) {
	w := newWorld(t)
	w.write("rc", "PS1='$ '\n")
	s := w.terminal(100, 16)
	id := s.runGranted("drive", plainBash, atPrompt)
	s.typed("cat > got")
	s.wait("$ cat > got")
	sending := w.start("gateway", "send", id, "--as", "codex", "--text", "echo stray", "--enter", "--timeout", "15s")
	s.wait(waitsLine)
	s.press("Enter")
	got := sending.wait()
	got.mustFail(t, 1, "another program has the terminal since the input waited for the user's line")
	require.NotContains(t, s.screen(), "stray")

	// An agent that has looked types into the current program, which the user ends before its line
	// is whole.
	s.typed("mine")
	s.wait("mine")
	sending = w.start("gateway", "send", id, "--as", "codex", "--text", "echo stray", "--enter", "--timeout", "15s")
	s.wait(waitsLine)
	s.press("C-d")
	s.press("C-d")
	require.Equal(t, 1, sending.wait().status)
	s.wait("mine$")
	require.NotContains(t, s.screen(), "stray")
	require.Equal(t, "mine", w.content("got"))
}
