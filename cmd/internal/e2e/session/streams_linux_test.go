package session_test

import (
	"regexp"
	"strings"
	"syscall"
	"testing"

	"terminalproxy/cmd/internal/e2e/world"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// drawn matches what a proxy with agents adds to a program's output: titles, the stack of titles,
// and questions for the cursor. On a busy machine this terminal may answer when the proxy has ended;
// the kernel then echoes the answer. That the proxy awaits answers is checked under R62.
var drawn = regexp.MustCompile(`\x1b\]2;[^\a]*\a|\x1b\[2[23];2t|\x1b\[2l|\x1b7\x1b\[\?2027\$p\x1b8\x1b\[J\x1b\[6n|\x1b\[6n|\^\[\[\?2027;\d\$y|\^\[\[\d+;\d+R`)

// taken stands for the moment at which the proxy has taken the keyboard. Until then, the terminal
// echoes what is typed.
const taken = "taken"

// streamed runs a shell's line on a terminal, and returns what the terminal was sent, without the
// proxy's drawing. It types each key once the preceding text has appeared.
func streamed(w *world.World, line string, keys ...string) string {
	w.T.Helper()
	st := w.Stage(line)
	for i := 0; i < len(keys); i += 2 {
		w.Until(func() bool {
			if keys[i] == taken {
				now, err := unix.IoctlGetTermios(int(st.Ptmx.Fd()), unix.TCGETS)
				return err == nil && (now.Lflag&unix.ICANON == 0 || !strings.Contains(line, "proxy"))
			}
			return strings.Contains(st.Sent(), keys[i])
		}, func() string { return line + ": no " + keys[i] + " in " + st.Sent() })
		st.TypeKeys(keys[i+1])
	}
	st.WaitEnd()
	return drawn.ReplaceAllString(st.Sent(), "")
}

// A redirected standard stream is the program's, unchanged. The terminal receives the same bytes as
// without the proxy. PROXY stands for the proxy, or for nothing.
func TestStreamsAsWithoutTheProxy(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		line string
		keys []string
	}{
		{line: "head -c 300000 /dev/zero | PROXY wc -c"},
		{line: `printf 'a\004b\003c\n' | PROXY wc -c`},
		{line: `printf 'x\r\ny' | PROXY od -An -c`},
		{line: "head -c 50000 /dev/urandom > r; PROXY cat < r | cmp - r; PROXY cat < r > copy; cmp copy r"},
		{line: "PROXY sh -c 'echo out; echo err >&2' 2> e; cat e"},
		{line: "PROXY sh -c 'echo out; echo err >&2' > o; cat o"},
		{line: "PROXY sh -c 'echo out; echo err >&2' > o 2>&1; cat o"},
		{line: "echo in | PROXY sh -c 'cat; echo err >&2'"},
		{line: "PROXY yes | head -1"},
		{line: "yes 2> e | PROXY head -1"},
		{line: "PROXY sh -c 'exec >&-; read x; echo late >&2' | cat; echo the pipe has ended", keys: []string{taken, "go\n"}},
		{line: "PROXY sh -c 'exec >&-; read x' | (cat; echo the pipe has ended)", keys: []string{"the pipe has ended", "", taken, "go\n"}},
		{line: "(PROXY true; echo $?) < /dev/null; (PROXY false; echo $?) > o; cat o"},
		// The other programs of a pipeline keep using the terminal.
		{line: "cat | PROXY sort", keys: []string{"", "b\na\n\x04"}},
		{line: "PROXY sh -c 'stty -echo < /dev/tty; echo go > /dev/tty; read x; stty echo < /dev/tty; echo got $x' | cat", keys: []string{"go", "hello\n"}},
		{line: "echo in | PROXY sh -c 'read x < /dev/tty; echo got $x; cat'", keys: []string{taken, "hello\n"}},
		{line: "seq 1000 | PROXY less -X", keys: []string{"23", "q"}},
		{line: "PROXY sh -c 'trap \"echo int; exit 9\" INT; echo begun >&2; while :; do sleep 0.01; done' | cat", keys: []string{"begun", "\x03"}},
		// A shell in the background without a terminal, as here, leaves what it starts there in
		// front.
		{line: "PROXY true & wait $!; echo $?"},
	} {
		t.Run(tt.line, func(t *testing.T) {
			w := world.New(t, "less")
			run := func(proxy string) string {
				// The outer shell survives Ctrl+C, and prints that the line has ended.
				return streamed(w, `trap "" INT; (trap - INT; `+strings.ReplaceAll(tt.line, "PROXY ", proxy)+`); echo ended`, tt.keys...)
			}
			want := run("")
			require.Contains(t, want, "ended")
			require.Equal(t, want, run("proxy "))
			require.Equal(t, want, run("proxy --agent "))
		})
	}
}

// Without a terminal the program has its streams, and with agents also a terminal beside them.
func TestStreamsWithoutATerminal(t *testing.T) {
	t.Parallel()
	for _, flags := range [][]string{nil, {"--agent"}, {"--cols", "40"}} {
		t.Run(strings.Join(flags, " "), func(t *testing.T) {
			w := world.New(t)
			cmd := w.Command("proxy", append(flags, "sh", "-c", "cat; echo err >&2; exit 7")...)
			cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
			var out, errs strings.Builder
			cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader("\x04\x03\r\n\x00"), &out, &errs
			require.Error(t, cmd.Run())
			require.Equal(t, 7, cmd.ProcessState.ExitCode())
			require.Equal(t, "\x04\x03\r\n\x00", out.String())
			require.Equal(t, "err\n", errs.String())
		})
	}
}

// An agent's question takes the keyboard that the proxy had left alone: the user can answer, and
// reclaim the keyboard.
func TestAnAgentsQuestionTakesAKeyboardThatWasLeftAside(t *testing.T) {
	w := world.New(t)
	st := w.Stage("seq 3 | proxy --agent sh -c 'cat; echo ready; exec sleep 1000' | cat; echo ended")
	st.WaitSent("ready")
	asked := w.Start("gateway", "request", w.Session(), "--reason", "to help", "--as", "claude")
	st.WaitSent("Ctrl+G")
	w.Until(func() bool { // a key right after the question does not count
		st.TypeKeys("\a")
		select {
		case <-asked.Ended:
			return true
		default:
			return false
		}
	}, func() string { return st.Sent() })
	require.Zero(t, asked.Wait().Status)
	st.TypeKeys("\x1c")
	w.WaitKeyboard(w.Session(), "user")
}

// A job that begins in the background ends there, and one that needs the terminal stops until fg.
func TestInTheBackgroundR73(t *testing.T) {
	t.Parallel()
	for shell := range userShells {
		for _, flags := range []string{"", "--agent "} {
			t.Run(shell+" "+flags, func(t *testing.T) {
				w := world.New(t, shell)
				s := jobs(w, shell)

				s.Typed("clear; proxy " + flags + "sh -c 'printf it > done1' &\n")
				w.WaitHeard("done1", "^it$")
				atPrompt(s, "it is done")
				s.Typed("clear; proxy " + flags + "sh -c 'read x; echo got $x' &\n")
				s.See("it stopped", func(screen string) bool {
					s.Typed("clear; jobs\n")
					return strings.Contains(strings.ToLower(screen), "stopped") || strings.Contains(screen, "suspended")
				})
				s.Typed("clear; fg\n")
				s.Typed("hello\n")
				s.Wait("got hello")
			})
		}
	}
}
