package e2e_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"terminalproxy/protocol"
)

// driver types into a session over the wire, without the pauses that a tool makes between text and
// Enter.
type driver struct {
	*overheard
	t *testing.T
}

// startDriver runs a program under proxy, with an agent that has the keyboard.
func (w *world) startDriver(line string) (*terminal, *driver) {
	w.t.Helper()
	s := w.terminal(80, 24)
	s.run("proxy --agent --grant drive " + line)
	d := &driver{w.overhear(w.session()), w.t}
	granted, _, err := d.c.Request(w.ctx, &protocol.ControlRequest{SessionID: d.id, AgentName: "listener", Level: protocol.LevelDrive, Why: "test", Seconds: 600})
	require.NoError(w.t, err)
	require.NotNil(w.t, granted)
	return s, d
}

// typeText types text, and returns the revision before it.
func (d *driver) typeText(text string) uint64 {
	d.t.Helper()
	before, err := d.c.Read(d.w.ctx, &protocol.Read{SessionID: d.id})
	require.NoError(d.t, err)
	got, err := d.c.Input(d.w.ctx, &protocol.Input{SessionID: d.id, Data: text})
	require.NoError(d.t, err)
	require.Equal(d.t, protocol.StatusWritten, got.Status, "%+v", got)
	return before.Frame.Seq
}

func (d *driver) wait(until protocol.Until, after uint64, ms int64) *protocol.WaitResult {
	d.t.Helper()
	got, err := d.c.Wait(d.w.ctx, &protocol.Wait{SessionID: d.id, Until: until, AfterSeq: after, TimeoutMs: ms})
	require.NoError(d.t, err)
	return got
}

// waitReady waits until a fact shows that the program waits for input.
func (d *driver) waitReady(after uint64) *protocol.WaitResult {
	d.t.Helper()
	got := d.wait(protocol.Until{Waiting: true}, after, patience.Milliseconds())
	require.True(d.t, got.Met, "%+v", got.Frame)
	require.Equal(d.t, protocol.MatchedWaiting, got.Matched)
	return got
}

// checkBusy checks that a wait is not met, not even by a guess.
func (d *driver) checkBusy(why string, ms int64) {
	d.t.Helper()
	got := d.wait(protocol.Until{Waiting: true}, 0, ms)
	require.False(d.t, got.Met, "%s: %s %+v", why, got.Matched, got.Frame.Activity)
}

// The prompt that follows an input meets the wait, never the prompt before it, however late the
// program reads the input.
func TestAWaitForInputIsMetByThePromptAfterTheInput(t *testing.T) {
	t.Parallel()
	const rounds = 15
	for name, c := range map[string]struct{ program, first, line, answer string }{
		"bash": {"bash --norc --noprofile", "$", "sleep 0.0%d; echo got-$((%d+0))\r", "got-%d"},
		"dash": {"dash", "#", "sleep 0.0%d; echo got-$((%d+0))\r", "got-%d"},
		"zsh":  {"zsh -f", "#", "sleep 0.0%d; echo got-$((%d+0))\r", "got-%d"},
		"python": {
			"python3 -q", ">>>", "import time; time.sleep(0.0%d); print('got', %d, sep='-')\r", "got-%d",
		},
		"fish": {"fish --no-config --private", "#", "sleep 0.0%d; echo got-(math %d + 0)\r", "got-%d"},
		"no echo": { // nothing shows that the input came
			`bash --norc -c 'stty -echo -icanon; while read a b; do sleep 0.0$a; test $((b % 2)) = 0 && echo got-$b; done'`, "", "%d %d\n", "got-%d",
		},
		"lines": {`sh -c 'while read a b; do sleep 0.0$a; echo got-$b; done'`, "", "%d %d\r", "got-%d"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, strings.Fields(c.program)[0])
			s, d := w.startDriver(c.program)
			d.waitReady(0)
			for n := range rounds {
				after := d.typeText(fmt.Sprintf(c.line, n%7, n))
				got := d.waitReady(after)
				if name == "no echo" && n%2 == 1 {
					continue // nothing was printed either
				}
				require.Contains(t, "\n"+strings.Join(got.Frame.Screen.Lines, "\n")+"\n", "\n"+fmt.Sprintf(c.answer, n)+"\n", "round %d: %v", n, got.Frame.Activity)
			}
			s.close()
		})
	}
}

// An agent that waits after its input reads at once that the user took the keyboard; it does not
// wait out its time.
func TestTakingTheKeyboardEndsAWaitAfterTyping(t *testing.T) {
	w := newWorld(t)
	s := w.terminal(100, 16)
	id := s.runBash("")
	s.grantControl(id, "--as", "codex", "--reason", "build it")
	sending := w.start("gateway", "send", id, "--as", "codex", "--text", "echo st''arted; sleep 1000", "--enter", "--until", "text=built", "--timeout", "10m")
	s.wait("started")
	s.press(`C-\`)
	got := sending.wait()
	require.Equal(t, 1, got.status, got.out+got.err)
	require.Contains(t, got.err, "send --until text: typed: the user took the keyboard back")
	require.Contains(t, got.out, "keyboard: user")

	s.press("C-c")
	a := w.agent("claude", eras[1])
	a.obtainGrant(s, "build it once more")
	building := a.startCall("terminal_send", args{"text": "echo on''ce more; sleep 1000", "enter": true, "wait_for": "text", "value": "built", "timeout_ms": 50_000})
	s.wait("once more\n")
	s.press(`C-\`)
	require.Contains(t, w.waitAnswer(building).text, "no match: the user took the keyboard back; look before anything else")
	s.close()
}

// A program that sleeps on something else does not wait for input, however long it sleeps.
func TestASleepIsNotAWaitForInput(t *testing.T) {
	t.Parallel()
	listen := `import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); s.listen(); print("up", flush=True); `
	for line, needs := range map[string]string{
		"sh -c 'echo up; exec sleep 1000'":                                                       "sh",
		"sh -c 'echo up; sleep 1000 | cat'":                                                      "sh",
		"bash -i -c 'echo up; sleep 1000'":                                                       "bash",
		`python3 -c '` + listen + `s.accept()'`:                                                  "python3",
		`python3 -c '` + listen + `import select; select.select([s], [], [])'`:                   "python3",
		`python3 -c '` + listen + `import select; p = select.poll(); p.register(s); p.poll()'`:   "python3",
		`python3 -c 'import asyncio; print("up", flush=True); asyncio.run(asyncio.sleep(1000))'`: "python3",
		`node -e 'require("net").createServer().listen(0, () => console.log("up"))'`:             "node",
		`bash --norc -c 'echo up; while :; do sleep 0.01; done'`:                                 "bash",
	} {
		t.Run(line, func(t *testing.T) {
			w := newWorld(t, needs)
			s, d := w.startDriver(line)
			s.wait("up")
			d.checkBusy(line, 1500)
			s.close()
		})
	}
}

// loops are programs that always listen to their terminal, and do something ten times a second. The
// key t runs a tool in silence. What they print when the tool starts gives a busy machine time to
// start it: the guess comes a second after the last change of the screen.
var loops = map[string]string{
	"python3": `import asyncio, sys, tty
tty.setcbreak(0)
async def tool():
    p = await asyncio.create_subprocess_exec("sleep", "2.5")
    print("got t", flush=True)
    await p.wait()
    print("did", flush=True)
def key():
    k = sys.stdin.buffer.raw.read(1)
    if k == b"t":
        jobs.append(asyncio.ensure_future(tool()))
    else:
        print("got", k.decode(), flush=True)
async def main():
    asyncio.get_running_loop().add_reader(0, key)
    print("up", flush=True)
    while True:
        await asyncio.sleep(0.1)
jobs = []
asyncio.run(main())
`,
	"node": `process.stdin.setRawMode(true)
process.stdin.on("data", k => {
  if (String(k) === "t") require("child_process").spawn("sleep", ["2.5"]).on("exit", () => console.log("did"))
  console.log("got", String(k))
})
setInterval(() => {}, 100)
console.log("up")
`,
}

// According to the kernel, an event loop waits for input all the time. That it does nothing else is
// a guess, and reported as one.
func TestAnEventLoopWaitsByAGuess(t *testing.T) {
	t.Parallel()
	const guess = "waiting (guess: event-loop)"
	for program, script := range loops {
		t.Run(program, func(t *testing.T) {
			w := newWorld(t, program)
			w.write("loop", script)
			s, d := w.startDriver(program + " loop")
			s.wait("up")
			got := d.wait(protocol.Until{Waiting: true}, 0, patience.Milliseconds())
			require.Equal(t, guess, got.Matched)
			require.Equal(t, "busy", got.Frame.Activity.State)
			require.Contains(t, w.mustGateway("wait", d.id, "--waiting"), "waiting (guess: "+program)

			got = d.wait(protocol.Until{Waiting: true}, d.typeText("t"), patience.Milliseconds())
			require.Equal(t, guess, got.Matched)
			require.Contains(t, got.Frame.Screen.Lines, "did", "the tool has ended")
			got = d.wait(protocol.Until{Waiting: true}, d.typeText("x"), patience.Milliseconds())
			require.Equal(t, guess, got.Matched)
			require.Contains(t, got.Frame.Screen.Lines, "got x")
			s.close()
		})
	}
}

// marks are those of a bash that reports its state as FinalTerm began it.
const marks = `PS0='\[\e]133;C\a\]'
PROMPT_COMMAND='printf "\e]133;D;$?\a"'
PS1='\[\e]133;A\a\]marks> \[\e]133;B\a\]'
`

func TestShellMarks(t *testing.T) {
	w := newWorld(t, "python3")
	w.write("rc", marks)
	s, d := w.startDriver("bash --noprofile --rcfile rc")
	s.wait("marks>")
	prompt := func(after uint64, status int) {
		t.Helper()
		a := d.waitReady(after).Frame.Activity
		require.Equal(t, protocol.EvidencePrompt, a.Evidence[0])
		require.Len(t, a.Evidence, 2, "what the kernel says is told as well")
		require.Equal(t, status, *a.LastExit)
	}
	prompt(0, 0)
	prompt(d.typeText("(exit 42)\r"), 42)
	prompt(d.typeText("true\r"), 0)
	after := d.typeText("sleep 0.7\r")
	require.False(t, d.wait(protocol.Until{Waiting: true}, after, 300).Met, "a command runs")
	prompt(after, 0)

	// The shell's last report is about the shell, not about the program that it started.
	a := d.waitReady(d.typeText("PS0= python3 -q\r")).Frame.Activity
	require.NotContains(t, a.Evidence, protocol.EvidencePrompt)
	require.Nil(t, a.LastExit)
	prompt(d.typeText("exit(3)\r"), 3)

	// Marks that another program prints do not meet the wait.
	d.typeText("printf '\\e]133;B\\a'; sleep 1000\r")
	d.checkBusy("it says that it is a prompt", 1500)
	s.close()
}

// overSSH runs a shell behind ssh.
func (w *world) overSSH(shell string) (*terminal, *driver) {
	w.t.Helper()
	w.sshdGivesTerminals()
	w.sshd()
	s, d := w.startDriver("ssh -t -F none -i user -o StrictHostKeyChecking=no -o UserKnownHostsFile=/dev/null -o LogLevel=ERROR -p $(cat port) 127.0.0.1 " + shell)
	w.t.Cleanup(s.close) // the server's end waits for that
	return s, d
}

// ssh is always ready for input. What happens behind it is known by marks, or guessed.
func TestWaitingBehindSSHWithMarks(t *testing.T) {
	w := newWorld(t, "ssh")
	w.write("rc", marks)
	s, d := w.overSSH("bash --noprofile --rcfile " + w.path("rc"))
	s.wait("marks>")
	a := d.waitReady(0).Frame.Activity
	require.Equal(t, []string{protocol.EvidencePrompt}, a.Evidence)
	for n := range 5 {
		got := d.waitReady(d.typeText(fmt.Sprintf("sleep 0.%d; echo got-$((%d+0)); (exit %d)\r", n, n, n)))
		require.Contains(t, got.Frame.Screen.Lines, fmt.Sprintf("got-%d", n))
		require.Equal(t, n, *got.Frame.Activity.LastExit)
	}
	d.typeText("sleep 1000\r")
	d.checkBusy("the marks say that a command runs", 1500)
}

func TestWaitingBehindSSHWithoutMarks(t *testing.T) {
	w := newWorld(t, "ssh")
	w.write("rc", "PS1='plain> '\n")
	s, d := w.overSSH("bash --noprofile --rcfile " + w.path("rc"))
	s.wait("plain>")
	got := d.wait(protocol.Until{Waiting: true}, 0, patience.Milliseconds())
	require.True(t, got.Met, "%+v", got.Frame.Activity)
	require.Equal(t, "waiting (guess: relay)", got.Matched)
	require.Equal(t, "busy", got.Frame.Activity.State)
	require.Equal(t, protocol.GuessRelay, got.Frame.Activity.Guess)
	require.Contains(t, w.mustGateway("wait", d.id, "--waiting"), "waiting (guess: ssh passes input on, and the program behind it is not seen")
	require.Contains(t, w.mustGateway("read", d.id), "waiting (guess: ssh passes input on, and the program behind it is not seen")
	d.typeText("for i in $(seq 30); do echo $i; sleep 0.1; done\r")
	d.checkBusy("something is shown all the time", 1500)
}

// A wait shows what the agent has not seen yet, as an input does.
func TestAWaitShowsOnlyWhatIsNew(t *testing.T) {
	w := newWorld(t)
	a := w.agent("claude", eras[1])
	id, _ := a.runProgram(args{"program": "bash", "args": []string{"-c", "echo seen; read -r; echo new; read -r; seq 99; read -r; exit"}, "wait_for": "waiting"}, "\nseen\n")
	a.mustCall("terminal_wait", args{"terminal": id, "for": "text", "value": "never", "timeout_ms": 100}, "no match: timeout")
	a.mustCall("terminal_send", args{"terminal": id, "keys": []string{"enter"}, "look": "none"})
	out := a.mustCall("terminal_wait", args{"terminal": id, "for": "text", "value": "new"}, "matched", "| new")
	require.NotContains(t, out, "seen\n")
	a.mustCall("terminal_send", args{"terminal": id, "keys": []string{"enter"}, "look": "none"})
	a.mustCall("terminal_wait", args{"terminal": id, "for": "waiting"}, " rows that you have not seen left the screen", "99")
}

// gdb's text interface edits its line in a window of the alternate screen. It waits for input at
// its prompt, and not while a command runs.
func TestADebuggerInWindowsWaits(t *testing.T) {
	w := newWorld(t, "gdb")
	a := w.agent("claude", eras[1])
	id, out := a.runProgram(args{"program": "gdb", "args": []string{"-nx", "-q", "-tui"}, "wait_for": "waiting", "timeout_ms": 50_000})
	require.Contains(t, out, "matched")
	require.NotContains(t, out, "guess")
	for n := range 7 {
		got := a.mustCall("terminal_send", args{"terminal": id, "text": fmt.Sprintf("print %d * 6\n", n), "wait_for": "waiting", "timeout_ms": 50_000})
		require.NotContains(t, got, "guess")
		require.Contains(t, got, fmt.Sprintf("= %d", n*6))
	}
	busy := a.mustCall("terminal_send", args{"terminal": id, "text": "shell sleep 60\n", "wait_for": "waiting", "timeout_ms": 3000})
	require.Contains(t, busy, "no match: timeout")
	a.mustCall("terminal_close", args{"terminal": id, "force": true})
}
