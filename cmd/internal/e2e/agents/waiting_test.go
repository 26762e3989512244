package agents_test

import (
	"fmt"
	"syscall"
	"testing"

	"terminalproxy/cmd/internal/e2e/world"
	"terminalproxy/protocol"

	"github.com/stretchr/testify/require"
)

// checkBusy checks that a wait is not met, not even by a guess.
func checkBusy(d *world.Driver, why string, ms int64) {
	d.T.Helper()
	got := d.Wait(protocol.Until{Waiting: true}, 0, ms)
	require.False(d.T, got.Met, "%s: %s %+v", why, got.Matched, got.Frame.Activity)
}

// The prompt that follows an input meets the wait, never the prompt before it, however late the
// program reads the input. The sleeps are the program's work.
func TestAWaitForInputIsMetByThePromptAfterTheInput(t *testing.T) {
	t.Parallel()
	const shell = "sleep 0.0%d; echo got-$((%d+0))\r"
	for name, c := range map[string]struct{ program, line string }{
		"bash":    {"bash --norc --noprofile", shell},
		"dash":    {"dash", shell},
		"zsh":     {"zsh -f", shell},
		"python3": {"python3 -q", "import time; time.sleep(0.0%d); print('got', %d, sep='-')\r"},
		"fish":    {"fish --no-config --private", "sleep 0.0%d; echo got-(math %d + 0)\r"},
		"sh":      {`bash --norc -c 'stty -echo -icanon; while read a b; do sleep 0.0$a; echo got-$b; done'`, "%d %d\n"}, // nothing shows that the input came
	} {
		t.Run(name, func(t *testing.T) {
			w := world.New(t, name)
			s, d := w.StartDriver(c.program)
			d.WaitReady(0)
			for n := range 7 {
				got := d.WaitReady(d.TypeText(fmt.Sprintf(c.line, n, n)))
				require.Contains(t, got.Frame.Screen.Lines, fmt.Sprintf("got-%d", n), "%v", got.Frame.Activity)
			}
			s.Close()
		})
	}
}

// An agent that waits after its input reads at once that the user took the keyboard; it does not
// wait out its time.
func TestTakingTheKeyboardEndsAWaitAfterTyping(t *testing.T) {
	w := world.New(t)
	s := w.Terminal(100, 16)
	id := s.RunBash("")
	s.GrantControl(id, "--as", "codex", "--reason", "build it")
	sending := w.Start("gateway", "send", id, "--as", "codex", "--text", "echo st''arted; sleep 1000", "--enter", "--until", "text=built", "--timeout", "10m")
	s.Wait("started")
	s.Press(`C-\`)
	got := sending.Wait()
	require.Equal(t, 1, got.Status, got.Out+got.Err)
	require.Contains(t, got.Err, "send --until text: typed: the user took the keyboard back")
	require.Contains(t, got.Out, "keyboard: user")

	s.Close()
}

// A program that sleeps on something else does not wait for input, however long it sleeps.
func TestASleepIsNotAWaitForInput(t *testing.T) {
	t.Parallel()
	listen := `import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); s.listen(); print("up", flush=True); `
	for line, needs := range map[string]string{
		"bash -i -c 'echo up; sleep 1000 | cat'":                                                 "bash",
		`python3 -c '` + listen + `import select; select.select([s], [], [])'`:                   "python3",
		`python3 -c 'import asyncio; print("up", flush=True); asyncio.run(asyncio.sleep(1000))'`: "python3",
		`node -e 'require("net").createServer().listen(0, () => console.log("up"))'`:             "node",
		`bash --norc -c 'echo up; while :; do sleep 0.01; done'`:                                 "bash",
	} {
		t.Run(line, func(t *testing.T) {
			w := world.New(t, needs)
			s, d := w.StartDriver(line)
			s.Wait("up")
			checkBusy(d, line, 1500) // a guess comes after a second
			s.Close()
		})
	}
}

// loop always listens to its terminal, and does something ten times a second. The key t runs a tool
// in silence, until a writer opens the named pipe hold.
const loop = `process.stdin.setRawMode(true)
process.stdin.on("data", k => {
  if (String(k) === "t") require("child_process").spawn("cat", ["hold"]).on("exit", () => console.log("did"))
  console.log("got", String(k))
})
setInterval(() => {}, 100)
console.log("up")
`

// According to the kernel, an event loop waits for input all the time. That it does nothing else is
// a guess, and reported as one.
func TestAnEventLoopWaitsByAGuess(t *testing.T) {
	w := world.New(t, "node")
	w.Write("loop", loop)
	require.NoError(t, syscall.Mkfifo(w.Path("hold"), 0o600))
	s, d := w.StartDriver("node loop")
	s.Wait("up")
	guessed := func(after uint64, shown string) *protocol.Frame {
		t.Helper()
		got := d.Wait(protocol.Until{Waiting: true}, after, world.Patience.Milliseconds())
		require.Equal(t, "waiting (guess: event-loop)", got.Matched)
		require.Contains(t, got.Frame.Screen.Lines, shown)
		return got.Frame
	}
	require.Equal(t, "busy", guessed(0, "up").Activity.State)
	require.Contains(t, w.MustGateway("wait", d.ID, "--waiting"), "waiting (guess: \"node\"")
	after := d.TypeText("t")
	checkBusy(d, "a tool runs", 1500)
	w.Write("hold", "")
	guessed(after, "did")
	guessed(d.TypeText("x"), "got x")
	s.Close()
}

// marks are those of a bash that reports its state as FinalTerm began it.
const marks = `PS0='\[\e]133;C\a\]'
PROMPT_COMMAND='printf "\e]133;D;$?\a"'
PS1='\[\e]133;A\a\]marks> \[\e]133;B\a\]'
`

func TestShellMarks(t *testing.T) {
	w := world.New(t)
	w.Write("rc", marks)
	require.NoError(t, syscall.Mkfifo(w.Path("hold"), 0o600))
	s, d := w.StartDriver("bash --noprofile --rcfile rc")
	s.Wait("marks>")
	prompt := func(after uint64, status int) {
		t.Helper()
		a := d.WaitReady(after).Frame.Activity
		require.Equal(t, protocol.EvidencePrompt, a.Evidence[0])
		require.Len(t, a.Evidence, 2, "what the kernel says is told as well")
		require.Equal(t, status, *a.LastExit)
	}
	prompt(0, 0)
	prompt(d.TypeText("(exit 42)\r"), 42)
	prompt(d.TypeText("true\r"), 0)
	after := d.TypeText("cat hold\r")
	checkBusy(d, "a command runs", 300)
	w.Write("hold", "")
	prompt(after, 0)

	// Marks that another program prints do not meet the wait.
	d.TypeText("printf '\\e]133;B\\a'; sleep 1000\r")
	checkBusy(d, "it says that it is a prompt", 1500)
	s.Close()
}

// overSSH runs a shell behind ssh.
func overSSH(w *world.World, shell string) (*world.Terminal, *world.Driver) {
	w.T.Helper()
	w.SshdGivesTerminals()
	w.Sshd()
	s, d := w.StartDriver("ssh -t -F none -i user -o StrictHostKeyChecking=no -o UserKnownHostsFile=/dev/null -o LogLevel=ERROR -p $(cat port) 127.0.0.1 " + shell)
	w.T.Cleanup(s.Close) // the server's end waits for that
	return s, d
}

// ssh is always ready for input. What happens behind it is known by marks, or guessed.
func TestWaitingBehindSSHWithMarks_Root(t *testing.T) {
	w := world.New(t, "ssh")
	w.Write("rc", marks)
	s, d := overSSH(w, "bash --noprofile --rcfile "+w.Path("rc"))
	s.Wait("marks>")
	a := d.WaitReady(0).Frame.Activity
	require.Equal(t, []string{protocol.EvidencePrompt}, a.Evidence)
	for n := range 3 {
		got := d.WaitReady(d.TypeText(fmt.Sprintf("sleep 0.%d; echo got-$((%d+0)); (exit %d)\r", n, n, n)))
		require.Contains(t, got.Frame.Screen.Lines, fmt.Sprintf("got-%d", n))
		require.Equal(t, n, *got.Frame.Activity.LastExit)
	}
	d.TypeText("sleep 1000\r")
	checkBusy(d, "the marks say that a command runs", 1500)
}

func TestWaitingBehindSSHWithoutMarks_Root(t *testing.T) {
	w := world.New(t, "ssh")
	w.Write("rc", "PS1='plain> '\n")
	s, d := overSSH(w, "bash --noprofile --rcfile "+w.Path("rc"))
	s.Wait("plain>")
	got := d.Wait(protocol.Until{Waiting: true}, 0, world.Patience.Milliseconds())
	require.True(t, got.Met, "%+v", got.Frame.Activity)
	require.Equal(t, "waiting (guess: relay)", got.Matched)
	require.Equal(t, "busy", got.Frame.Activity.State)
	require.Equal(t, protocol.GuessRelay, got.Frame.Activity.Guess)
	require.Contains(t, w.MustGateway("wait", d.ID, "--waiting"), "waiting (guess: \"ssh\" passes input on, and the program behind it is not seen")
	world.WaitRead(w, d.ID, "waiting (guess: \"ssh\" passes input on, and the program behind it is not seen")
	d.TypeText("while :; do echo more; sleep 0.1; done\r")
	checkBusy(d, "something is shown all the time", 1500)
}

// gdb's text interface edits its line in a window of the alternate screen. It waits for input at
// its prompt, and not while a command runs.
func TestADebuggerInWindowsWaits(t *testing.T) {
	_, a := world.NewAgent(t, "gdb")
	id, out := a.RunProgram(world.Args{"program": "gdb", "args": []string{"-nx", "-q", "-tui"}, "wait_for": "waiting"})
	require.Contains(t, out, "matched")
	require.NotContains(t, out, "guess")
	for n := range 3 {
		got := a.MustCall("terminal_send", world.Args{"terminal": id, "text": fmt.Sprintf("print %d * 6\n", n), "wait_for": "waiting"})
		require.NotContains(t, got, "guess")
		require.Contains(t, got, fmt.Sprintf("= %d", n*6))
	}
	busy := a.MustCall("terminal_send", world.Args{"terminal": id, "text": "shell sleep 60\n", "wait_for": "waiting", "timeout_ms": 1500})
	require.Contains(t, busy, "no match: timeout")
	a.MustCall("terminal_close", world.Args{"terminal": id, "force": true})
}
