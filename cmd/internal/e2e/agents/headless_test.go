package agents_test

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"terminalproxy/cmd/internal/e2e/world"

	"github.com/stretchr/testify/require"
)

func TestAnAgentRunsProgramsOfItsOwn(t *testing.T) {
	w, a := world.NewAgent(t, "vim")
	a.MustCall("terminal_list", nil, "there are no terminals", "terminal_run")
	shell, _ := a.RunProgram(world.Args{"program": "bash", "args": []string{"--norc", "--noprofile", "-i"}, "cols": 100, "rows": 30}, "keyboard: you (drive)", "100x30", "bash-")
	a.MustCall("terminal_send", world.Args{"text": "stty size; echo $TERM$COLUMNS", "enter": true, "wait_for": "text", "value": "xterm-256color"}, "30 100")
	editor, _ := a.RunProgram(world.Args{"program": "vim", "args": []string{"-u", "NONE", "-n", "notes.txt"}, "cwd": w.Dir, "wait_for": "text", "value": "New"}, "matched", "alt-screen")
	a.MustFail("terminal_read", nil, "several terminals", shell, editor)
	a.MustCall("terminal_send", world.Args{"terminal": editor, "text": "imilk", "keys": []string{"esc"}})
	a.MustCall("terminal_send", world.Args{"terminal": editor, "text": ":wq", "enter": true, "wait_for": "exit"}, "exited 0")
	require.Equal(t, "milk\n", w.Content("notes.txt"))

	slow, _ := a.RunProgram(world.Args{"program": "sleep", "args": []string{"1000"}, "wait_for": "exit", "timeout_ms": 50}, "no match: timeout")
	a.MustCall("terminal_list", nil, slow+` "sleep 1000" in "`, `" 80x24 running headless`)
	brief, _ := a.RunProgram(world.Args{"program": "sh", "args": []string{"-c", "echo last words; exit 3"}, "wait_for": "exit"}, "exited 3", "last words")
	a.MustFail("terminal_send", world.Args{"terminal": brief, "text": "x"}, "exit status 3", "terminal_read")
	a.MustFail("terminal_run", world.Args{"program": "no-such-program"}, "cannot start the program: no-such-program: command not found: is it installed")

	a.MustCall("terminal_close", world.Args{"terminal": shell}, "closed: "+shell, "exit status 129")
	a.MustCall("terminal_read", world.Args{"terminal": shell, "view": "screen"}, "30 100")
	a.MustCall("terminal_close", world.Args{"terminal": shell}, "closed: "+shell, "no longer kept")
	a.MustCall("terminal_close", world.Args{"terminal": slow, "force": true}, ": SIG")
	a.MustFail("terminal_read", world.Args{"terminal": shell}, "unknown terminal")
}

// nothingIsLeft, at the end of every world, finds the processes that an end leaves behind.
func TestAnAgentsProgramsEndWithIt(t *testing.T) {
	t.Parallel()
	signals := func(signal syscall.Signal) func(*world.Agent) {
		return func(a *world.Agent) { a.W.Kill(strconv.Itoa(a.Cmd.Process.Pid), signal) }
	}
	for name, end := range map[string]func(*world.Agent){
		"its input ends": func(a *world.Agent) { require.NoError(a.W.T, a.Session.Close()) },
		"SIGTERM":        signals(syscall.SIGTERM),
		"SIGKILL":        signals(syscall.SIGKILL),
		"it closes": func(a *world.Agent) {
			for line := range strings.Lines(a.MustCall("terminal_list", nil)) {
				if id, rest, _ := strings.Cut(line, " "); strings.Contains(rest, "running") {
					a.MustCall("terminal_close", world.Args{"terminal": id}, "closed: "+id)
				}
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			w, a := world.NewAgent(t)
			a.RunProgram(world.Args{"program": "bash", "args": []string{"--norc", "--noprofile", "-i"}}, "bash-")
			a.RunProgram(world.Args{"program": "sh", "args": []string{"-c", world.Deaf}, "wait_for": "text", "value": "ready"}, "matched")
			a.RunProgram(world.Args{"program": "bash", "args": []string{"-c", "set -m; nohup sleep 1000 >/dev/null & exit 0"}, "wait_for": "exit"}, "exited 0")
			end(a)
			w.Until(func() bool {
				all := strings.Join(w.Processes(), "\n")
				return !strings.Contains(all, "sleep 1000") && !strings.Contains(all, "bash")
			}, func() string { return strings.Join(w.Processes(), "\n") })
			if name == "SIGKILL" { // the next gateway would have replaced it
				require.NoError(t, os.Remove(filepath.Join(w.Run(), "gateway.sock")))
			}
		})
	}
}

func TestAnIdleProgramEnds(t *testing.T) {
	w := world.New(t)
	a := w.Agent("claude", world.Eras[1], "--idle-limit", "300ms")
	id, _ := a.RunProgram(world.Args{"program": "sleep", "args": []string{"1000"}, "wait_for": "exit", "timeout_ms": 10})
	a.MustCall("terminal_wait", world.Args{"terminal": id, "for": "exit"}, "exited by SIGHUP")
}

func TestAProgramOutlivesItsGateway(t *testing.T) {
	w := world.New(t)
	s := w.Terminal(100, 24)
	s.Run(`proxy --agent --name first sh -c 'echo proxy=$PPID; exec cat'`)
	proxy := world.AboveLeader(s.Match(`proxy=(\d+)`))
	w.Session() // the user's proxy serves the gateway
	a := w.Agent("claude", world.Eras[1])
	id, _ := a.RunProgram(world.Args{"program": "cat"})
	w.Kill(proxy, syscall.SIGKILL)
	w.WaitGone(proxy)
	w.WaitListed(id)
	w.WaitKeyboard(id, "claude")
	a.MustCall("terminal_send", world.Args{"terminal": id, "text": "still mine", "enter": true, "wait_for": "text", "value": "still mine"}, "matched")
	second, _ := a.RunProgram(world.Args{"program": "cat"})
	a.MustCall("terminal_close", world.Args{"terminal": second})
}

// R62: the terminal model answers, once, and no answer is left at the next prompt.
func TestProgramsWithoutATerminalAreAnsweredR62(t *testing.T) {
	w := world.New(t, "fish")
	a := w.Agent("claude", world.Eras[1])
	id, _ := a.RunProgram(world.Args{"program": "fish", "args": []string{"--no-config"}, "wait_for": "regex", "value": `[>#] *$`}, "matched")
	got := a.MustCall("terminal_send", world.Args{"terminal": id, "text": "echo (math 6 x 7)", "enter": true, "wait_for": "text", "value": "42"}, "matched")
	require.NotRegexp(t, `\d+;\d+[cR]|rgb:`, got)
	ask, _ := a.RunProgram(world.Args{"program": "bash", "args": []string{
		"--norc", "--noprofile", "-c",
		`stty -icanon -echo; printf '\e[c\e[6n\e[5n'; IFS= read -rs -d n got; printf '%q\n' "$got"; read -t 0.2 -rsn 1 more; echo "rest=$more."`,
	}, "wait_for": "text", "value": "rest="}, "rest=.")
	a.MustCall("terminal_read", world.Args{"terminal": ask, "view": "screen"}, `'\E[?64;1;6;18;21;22;28c\E[1;1R\E[0'`)
}

func TestRunHostsAProgramForAShell(t *testing.T) {
	w := world.New(t)
	r := w.Start("gateway", "run", "--name", "build", "--cols", "90", "--rows", "20", "--", "sh", "-c", `stty size; read line; echo "got $line"; read line; exit 7`)
	id := w.Session()
	require.Regexp(t, `^build-`, id)
	w.MustGateway("wait", id, "--text", "20 90")
	w.MustGateway("send", id, "--text", "words", "--enter", "--until", "text=got words")
	w.MustGateway("send", id, "--enter")
	got := r.Wait()
	require.Equal(t, 7, got.Status, got.Err)
	require.Equal(t, id+"\n", got.Out)
	require.Contains(t, got.Err, "gateway attach "+id)

	r = w.Start("gateway", "run", "--", "sh", "-c", world.Deaf)
	w.MustGateway("wait", w.Session(), "--text", "ready")
	require.NoError(t, r.Cmd.Process.Signal(os.Interrupt))
	require.Equal(t, 137, r.Wait().Status)
}

// A program with a session of its own has asked to outlive its terminal: closing does not kill it,
// and the one who closes is told.
func TestAClosingTerminalNamesSurvivors(t *testing.T) {
	w := world.New(t, "setsid")
	r := w.Start("gateway", "run", "--", "sh", "-c", `setsid sh -c 'echo $$ > left; exec sleep 1000' & nohup sleep 1000 >/dev/null & exec cat`)
	id := w.Session()
	w.Until(func() bool { return strings.HasSuffix(w.Content("left"), "\n") }, func() string { return "nothing was started" })
	pid := strings.TrimSpace(w.Content("left"))
	got := w.MustGateway("close", id)
	require.Equal(t, "closed (exit status 129: SIGHUP); 1 process keeps running in a session of its own, as a daemon does\n", got)
	require.Equal(t, 129, r.Wait().Status, "what nohup started is of the terminal's session, and ends with it")
	w.Kill(pid, syscall.SIGKILL) // it lives
	w.WaitGone(pid)
}

func TestAPersonSitsDownInFrontOfAnAgentsTerminal(t *testing.T) {
	w, a := world.NewAgent(t)
	id, _ := a.RunProgram(world.Args{"program": "bash", "args": []string{"--norc", "--noprofile", "-i"}, "cols": 70, "rows": 20})
	a.MustCall("terminal_send", lineOf("echo the agent was here"))
	s := w.Terminal(100, 24)
	s.Run("gateway attach " + id)
	s.Wait("the agent was here")
	s.WaitTitle("[claude drives]")
	s.Typed("stty size\n")
	s.Wait("24 100\nbash-") // the newest size counts
	a.MustCall("terminal_wait", world.Args{"for": "waiting"})
	a.MustCall("terminal_read", world.Args{"view": "screen"}, "24 100", "100x24")

	a.MustCall("terminal_send", textOf("echo milk"))
	s.Wait("echo milk")
	s.Press(`C-\`)
	s.WaitShown("the keyboard is yours: claude is stopped")
	a.MustFail("terminal_send", textOf("x"), "the user took the keyboard back")
	s.Typed(" and eggs\n")
	s.Wait("\nmilk and eggs\n")
	a.ObtainGrant(s, "one more thing")
	a.MustCall("terminal_send", lineOf("echo back at work"))
	s.Wait("\nback at work\n")

	s.Press(`C-\`)
	s.WaitShown("claude is stopped")
	s.WaitGone("claude is stopped") // the key is swallowed for a moment
	s.Press(`C-\`)
	s.Wait("d leaves")
	s.Press("d")
	require.Zero(t, s.Status())
	s.Wait("[" + id + ": detached; the program keeps running]")
	require.Equal(t, world.PlainModes, s.Format(world.Modes))
	a.MustCall("terminal_request_control", world.Args{"reason": "nobody is there now"}, "granted")

	s.RunToEnd("true") // the output of the first attach is gone
	s.Run("gateway attach " + id)
	s.Wait("back at work")
	a.MustCall("terminal_send", world.Args{"text": "exit 4", "enter": true, "wait_for": "exit"}, "exited 4")
	require.Zero(t, s.Status())
	s.Wait("ended with exit status 4")
	screen, status := s.RunToEnd("gateway attach " + id)
	require.Equal(t, 1, status)
	require.Contains(t, world.Unwrapped(screen), "has ended with exit status 4")
}

// A password is for a person to type, in an agent's own terminal too. Without a person the agent can
// only give the question up.
func TestAPasswordInAnAgentsTerminalIsForAPersonR26(t *testing.T) {
	w, a := world.NewAgent(t)
	const ask = `trap 'echo; echo interrupted' INT; stty -echo; read -p 'Password: ' x || echo "no answer: ${#x}"; stty echo; echo "got ${#x} characters"; exec cat`
	program := world.Args{"program": "bash", "args": []string{"--norc", "--noprofile", "-c", ask}, "wait_for": "text", "value": "Password:"}
	given, _ := a.RunProgram(program, "no person is at this terminal", "ctrl-c")
	for _, no := range []world.Args{textOf("\x03"), lineOf("guess"), keysOf("enter"), keysOf("ctrl-c", "x")} {
		a.MustFail("terminal_send", no, "no person is at this terminal")
	}
	a.MustCall("terminal_send", world.Args{"keys": []string{"ctrl-c"}, "wait_for": "text", "value": "interrupted"}, "matched")
	a.MustCall("terminal_send", world.Args{"keys": []string{"ctrl-d"}, "wait_for": "text", "value": "no answer: 0"}, "matched")
	a.MustCall("terminal_close", world.Args{"terminal": given, "force": true})

	id, _ := a.RunProgram(program, "gateway attach ")
	s := w.Terminal(100, 24)
	s.Run("gateway attach " + id)
	s.Wait("Password:")
	a.MustFail("terminal_send", world.Args{"terminal": id, "keys": []string{"ctrl-c"}}, "which the user types")
	s.Typed("hunter2\n")
	s.Wait("got 7 characters")
	a.MustCall("terminal_wait", world.Args{"terminal": id, "for": "text", "value": "got 7 characters"}, "matched")
	a.MustCall("terminal_wait", world.Args{"terminal": id, "for": "waiting"}, "matched")
	a.MustCall("terminal_send", world.Args{"terminal": id, "text": "the agent works on", "enter": true, "wait_for": "text", "value": "works on"}, "matched")
	require.NotContains(t, a.MustCall("terminal_read", world.Args{"terminal": id, "view": "history"}), "hunter2")
}

// Each repaint would be output of the session, and would have to be shown again.
func TestASessionDoesNotShowItself(t *testing.T) {
	_, a := world.NewAgent(t)
	id, _ := a.RunProgram(world.Args{"program": "bash", "args": []string{"--norc", "--noprofile", "-i"}, "cols": 100, "rows": 20})
	a.MustCall("terminal_send", world.Args{
		"text": `clear; gateway attach --watch "$TERMINALPROXY_SESSION"; echo status-$?`, "enter": true, "wait_for": "regex", "value": `^status-\d`,
	})
	a.MustCall("terminal_read", world.Args{"view": "screen"}, "this shell runs inside the session "+id+", and a session cannot show itself", "status-1")
}
