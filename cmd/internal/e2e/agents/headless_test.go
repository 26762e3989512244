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
	a.MustCall("terminal_send", world.Args{"text": "stty size; echo $TERM$COLUMNS", "enter": true}, "30 100", "xterm-256color")
	editor, _ := a.RunProgram(world.Args{"program": "vim", "args": []string{"-u", "NONE", "-n", "notes.txt"}, "cwd": w.Dir, "wait_for": "text", "value": "New"}, "matched", "alt-screen")
	a.MustFail("terminal_read", nil, "several terminals", shell, editor)
	a.MustCall("terminal_send", world.Args{"terminal": editor, "text": "imilk"})
	a.MustCall("terminal_send", world.Args{"terminal": editor, "keys": []string{"esc"}})
	a.MustCall("terminal_send", world.Args{"terminal": editor, "text": ":wq", "enter": true, "wait_for": "exit"}, "exited 0")
	require.Equal(t, "milk\n", w.Content("notes.txt"))

	slow, _ := a.RunProgram(world.Args{"program": "sleep", "args": []string{"1000"}, "wait_for": "exit", "timeout_ms": 50}, "no match: timeout")
	a.MustCall("terminal_list", nil, slow+` "sleep 1000" in "`, `" 80x24 running headless`)
	brief, _ := a.RunProgram(world.Args{"program": "sh", "args": []string{"-c", "echo last words; exit 3"}}, "exited 3", "last words")
	a.MustCall("terminal_read", world.Args{"terminal": brief}, "last words", "exited 3")
	a.MustFail("terminal_send", world.Args{"terminal": brief, "text": "x"}, "exit status 3", "terminal_read")

	a.MustCall("terminal_close", world.Args{"terminal": shell}, "closed: "+shell, "exit status 129")
	a.MustCall("terminal_read", world.Args{"terminal": shell, "view": "screen"}, "30 100")
	a.MustCall("terminal_close", world.Args{"terminal": shell}, "closed: "+shell, "no longer kept")
	a.MustCall("terminal_close", world.Args{"terminal": slow, "force": true}, ": SIG")
	a.MustFail("terminal_read", world.Args{"terminal": shell}, "unknown terminal")
	require.NoError(t, a.Session.Close())
}

func TestAProgramThatCannotStartIsReported(t *testing.T) {
	w, a := world.NewAgent(t)
	w.Write("plain", "no program")
	for name, c := range map[string]struct {
		with world.Args
		want string
	}{
		"unknown":        {world.Args{"program": "no-such-program"}, "cannot start the program: no-such-program: command not found: is it installed"},
		"no program":     {world.Args{"program": w.Path("plain")}, "permission denied: is it a program"},
		"no directory":   {world.Args{"program": "sh", "cwd": w.Path("nowhere")}, "there is no such directory"},
		"a file":         {world.Args{"program": "sh", "cwd": w.Path("plain")}, "it is not a directory"},
		"no name":        {world.Args{"program": " "}, `parameter "program" is empty`},
		"too wide":       {world.Args{"program": "sh", "cols": 1001}, `"cols" is 1001, the limit is 1000`},
		"value alone":    {world.Args{"program": "sh", "value": "x"}, "value belongs to wait_for"},
		"bad expression": {world.Args{"program": "sh", "wait_for": "regex", "value": "("}, "does not compile"},
	} {
		require.Contains(t, a.MustFail("terminal_run", c.with), c.want, name)
	}
	a.MustFail("terminal_close", world.Args{"terminal": "bash-none"}, "there are no terminals")
	a.MustCall("terminal_list", nil, "there are no terminals")
}

// nothingIsLeft, at the end of every world, finds the processes that an end leaves behind.
func TestAnAgentsProgramsEndWithIt(t *testing.T) {
	t.Parallel()
	ends := map[string]func(*world.World, *world.Agent){
		"its input ends":    func(w *world.World, a *world.Agent) { require.NoError(w.T, a.Session.Close()) },
		"SIGTERM":           func(w *world.World, a *world.Agent) { w.Kill(strconv.Itoa(a.Cmd.Process.Pid), syscall.SIGTERM) },
		"SIGHUP":            func(w *world.World, a *world.Agent) { w.Kill(strconv.Itoa(a.Cmd.Process.Pid), syscall.SIGHUP) },
		"SIGKILL":           func(w *world.World, a *world.Agent) { w.Kill(strconv.Itoa(a.Cmd.Process.Pid), syscall.SIGKILL) },
		"it closes":         func(_ *world.World, a *world.Agent) { closeAll(a, "") },
		"it closes by KILL": func(_ *world.World, a *world.Agent) { closeAll(a, "KILL") },
	}
	for name, end := range ends {
		t.Run(name, func(t *testing.T) {
			w, a := world.NewAgent(t)
			a.RunProgram(world.Args{"program": "bash", "args": []string{"--norc", "--noprofile", "-i"}}, "bash-")
			a.RunProgram(world.Args{"program": "sh", "args": []string{"-c", world.Deaf}, "wait_for": "text", "value": "ready"}, "matched")
			a.RunProgram(world.Args{"program": "bash", "args": []string{"-c", "set -m; nohup sleep 1000 >/dev/null & exit 0"}, "wait_for": "exit"}, "exited 0")
			end(w, a)
			w.Until(func() bool {
				for _, p := range w.Processes() {
					if strings.Contains(p, "sleep 1000") || strings.Contains(p, "bash") {
						return false
					}
				}
				return true
			}, func() string { return strings.Join(w.Processes(), "\n") })
			if name == "SIGKILL" { // the next gateway would have replaced it
				require.NoError(t, os.Remove(filepath.Join(w.Run(), "gateway.sock")))
			}
		})
	}
}

// closeAll ends everything that runs.
func closeAll(a *world.Agent, signal string) {
	a.W.T.Helper()
	for line := range strings.Lines(a.MustCall("terminal_list", nil)) {
		if id, rest, _ := strings.Cut(line, " "); strings.Contains(rest, "running") {
			a.MustCall("terminal_close", world.Args{"terminal": id, "force": signal == "KILL"}, "closed: "+id)
		}
	}
}

func TestAnIdleProgramEnds(t *testing.T) {
	w := world.New(t)
	a := w.Agent("claude", world.Eras[1], "--idle-limit", "300ms")
	id, _ := a.RunProgram(world.Args{"program": "sleep", "args": []string{"1000"}, "wait_for": "exit", "timeout_ms": 10})
	a.MustCall("terminal_wait", world.Args{"terminal": id, "for": "exit", "timeout_ms": 50_000}, "exited by SIGHUP")
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

func TestAnotherAgentOnlyLooks(t *testing.T) {
	w := world.New(t)
	a := w.Agent("claude", world.Eras[1])
	id, _ := a.RunProgram(world.Args{"program": "cat"})
	world.WaitRead(w, id, "keyboard: claude (drive)")
	other := w.Agent("codex", world.Eras[0])
	other.MustCall("terminal_list", nil, id)
	other.MustFail("terminal_send", world.Args{"text": "x"}, "terminal_request_control")
	other.MustFail("terminal_request_control", world.Args{"reason": "mine"}, "another agent has the keyboard")
	other.MustFail("terminal_close", world.Args{"terminal": id}, "another agent started this terminal")
	a.MustCall("terminal_release", nil, "released")
	other.MustFail("terminal_request_control", world.Args{"reason": "mine"}, "claude's own", "gateway attach "+id)
	a.MustCall("terminal_request_control", world.Args{"reason": "mine again"}, "granted")
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

	r = w.Start("gateway", "run", "--json", "--", "cat")
	id = w.Session()
	require.Contains(t, w.MustGateway("close", id), "closed (exit status 129: SIGHUP)")
	require.Equal(t, 129, r.Wait().Status)

	r = w.Start("gateway", "run", "--", "sh", "-c", world.Deaf)
	id = w.Session()
	w.MustGateway("wait", id, "--text", "ready")
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
	w, a := world.NewAgent(t, "vim")
	id, _ := a.RunProgram(world.Args{"program": "bash", "args": []string{"--norc", "--noprofile", "-i"}, "cols": 70, "rows": 20})
	a.MustCall("terminal_send", world.Args{"text": "echo the agent was here", "enter": true})

	s := w.Terminal(100, 24)
	s.Run("gateway attach " + id)
	s.Wait("the agent was here")
	s.WaitTitle("[claude drives]")
	s.Typed("stty size\n")
	s.Wait("24 100") // the newest size counts
	a.MustCall("terminal_read", world.Args{"view": "screen"}, "24 100", "100x24")

	// Without t_RK, vim asks its terminal nothing. It shows the file before it asks; the answer
	// would come after the next keys, and without 'esckeys' the answer's ESC ends insert mode.
	a.MustCall("terminal_send", world.Args{"text": "vim -u NONE -n --cmd 'set t_RK=' notes.txt", "enter": true, "wait_for": "text", "value": "New"}, "matched")
	s.Wait(`"notes.txt" [New`)
	a.MustCall("terminal_send", world.Args{"text": "imilk"})
	s.Wait("milk")
	s.Press(`C-\`)
	s.WaitShown("the keyboard is yours: claude is stopped")
	a.MustFail("terminal_send", world.Args{"text": "x"}, "the user took the keyboard back")
	s.Typed(" and eggs")
	s.Press("Escape")
	s.Typed(":wq\n")
	w.Until(func() bool { return w.Content("notes.txt") == "milk and eggs\n" }, func() string { return w.Content("notes.txt") })

	asking := a.StartCall("terminal_request_control", world.Args{"reason": "one more thing"})
	s.Wait("“claude” asks to drive for 10 min: “one more thing”")
	s.Answer("C-g")
	require.False(t, w.WaitAnswer(asking).Fails)
	a.MustCall("terminal_send", world.Args{"text": "echo back at work", "enter": true})
	s.Wait("back at work")

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

// R26: a password is for a person to type, in an agent's own terminal too.
func TestAPasswordInAnAgentsTerminalIsForAPerson(t *testing.T) {
	w, a := world.NewAgent(t)
	id, _ := a.RunProgram(world.Args{"program": "sh", "args": []string{"-c", `printf 'Password: '; stty -echo; read secret; stty echo; echo; echo "got ${#secret} characters"; exec cat`}})
	a.MustFail("terminal_send", world.Args{"text": "guessed", "enter": true}, "password", "no person is at this terminal", "gateway attach "+id, "ctrl-c")
	a.MustCall("terminal_read", world.Args{"view": "screen"}, "no person is at this terminal", "ctrl-c")
	s := w.Terminal(100, 24)
	s.Run("gateway attach " + id)
	s.Wait("Password:")
	a.MustFail("terminal_send", world.Args{"keys": []string{"ctrl-c"}}, "which the user types")
	require.NotContains(t, a.MustCall("terminal_read", world.Args{"view": "screen"}, "a password is being asked for: the user answers it"), "nobody")
	s.Typed("hunter2\n")
	s.Wait("got 7 characters")
	a.MustCall("terminal_wait", world.Args{"for": "text", "value": "got 7 characters"}, "matched")
	a.MustCall("terminal_wait", world.Args{"for": "idle", "value": "1s"}, "matched")
	a.MustCall("terminal_send", world.Args{"text": "the agent works on", "enter": true, "wait_for": "text", "value": "works on"}, "matched")
	require.NotContains(t, a.MustCall("terminal_read", world.Args{"view": "history"}), "hunter2")
}

// R26: without a person to answer, the agent can only give the question up.
func TestAnAgentGivesUpAnUnansweredQuestionR26(t *testing.T) {
	w := world.New(t)
	a := w.Agent("claude", world.Eras[1])
	a.RunProgram(world.Args{"program": "bash", "args": []string{"--norc", "--noprofile", "-c", `trap 'echo; echo interrupted' INT; stty -echo; read -p 'Password: ' x || echo "no answer: ${#x}"; stty echo; exec cat`}})
	a.MustCall("terminal_read", world.Args{"view": "screen"}, "no person is at this terminal")
	for _, no := range []world.Args{{"text": "\x03"}, {"text": "guess"}, {"keys": []string{"enter"}}, {"keys": []string{"ctrl-c", "x"}}} {
		a.MustFail("terminal_send", no, "no person is at this terminal")
	}
	a.MustCall("terminal_send", world.Args{"keys": []string{"ctrl-c"}, "wait_for": "text", "value": "interrupted"}, "matched")
	a.MustCall("terminal_send", world.Args{"keys": []string{"ctrl-d"}, "wait_for": "text", "value": "no answer: 0"}, "matched")
	a.MustCall("terminal_wait", world.Args{"for": "waiting"}, "matched")
	a.MustCall("terminal_send", world.Args{"text": "the agent works on", "enter": true, "wait_for": "text", "value": "works on"}, "matched")
}

func TestAUsersOwnTerminalHasNoSeats(t *testing.T) {
	w := world.New(t)
	s := w.Terminal(100, 24)
	s.Run("proxy --agent cat")
	id := w.Session()
	got := w.Gateway("close", id)
	got.MustFail(t, 4, "this is the user's own terminal")
	require.Contains(t, got.Err, "hint: only its user can end the program")
	second := w.Terminal(100, 24)
	screen, status := second.RunToEnd("gateway attach " + id)
	require.Equal(t, 4, status)
	require.Contains(t, world.Unwrapped(screen), "has a user at its own terminal")
	s.Press("C-d")
	require.Zero(t, s.Status())
}

// Each repaint would be output of the session, and would have to be shown again.
func TestASessionDoesNotShowItself(t *testing.T) {
	w := world.New(t)
	a := w.Agent("claude", world.Eras[1])
	id, _ := a.RunProgram(world.Args{"program": "bash", "args": []string{"--norc", "--noprofile", "-i"}, "cols": 100, "rows": 20})
	for _, watch := range []string{"", " --watch"} {
		a.MustCall("terminal_send", world.Args{
			"text": `clear; gateway attach "$TERMINALPROXY_SESSION"` + watch + "; echo status-$?", "enter": true, "wait_for": "regex", "value": `^status-\d`,
		})
		a.MustCall("terminal_read", world.Args{"view": "screen"}, "this shell runs inside the session "+id+", and a session cannot show itself", "run it in another terminal", "status-1")
	}
}
