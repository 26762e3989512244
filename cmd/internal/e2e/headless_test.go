package e2e_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

// runProgram starts a program in the agent's own terminal, and returns the session's id and the
// tool's text.
func (a *agent) runProgram(with args, wanted ...string) (id, text string) {
	a.w.t.Helper()
	text = a.mustCall("terminal_run", with, wanted...)
	return regexp.MustCompile(`(?m)^(\S+) rev `).FindStringSubmatch(text)[1], text
}

func TestAnAgentRunsProgramsOfItsOwn(t *testing.T) {
	w, a := newAgent(t, "vim")
	a.mustCall("terminal_list", nil, "there are no terminals", "terminal_run")
	shell, _ := a.runProgram(args{"program": "bash", "args": []string{"--norc", "--noprofile", "-i"}, "cols": 100, "rows": 30}, "keyboard: you (drive)", "100x30", "bash-")
	a.mustCall("terminal_send", args{"text": "stty size; echo $TERM$COLUMNS", "enter": true}, "30 100", "xterm-256color")
	editor, _ := a.runProgram(args{"program": "vim", "args": []string{"-u", "NONE", "-n", "notes.txt"}, "cwd": w.dir, "wait_for": "text", "value": "New"}, "matched", "alt-screen")
	a.mustFail("terminal_read", nil, "several terminals", shell, editor)
	a.mustCall("terminal_send", args{"terminal": editor, "text": "imilk"})
	a.mustCall("terminal_send", args{"terminal": editor, "keys": []string{"esc"}})
	a.mustCall("terminal_send", args{"terminal": editor, "text": ":wq", "enter": true, "wait_for": "exit"}, "exited 0")
	require.Equal(t, "milk\n", w.content("notes.txt"))

	slow, _ := a.runProgram(args{"program": "sleep", "args": []string{"1000"}, "wait_for": "exit", "timeout_ms": 50}, "no match: timeout")
	a.mustCall("terminal_list", nil, slow+` "sleep 1000" in "`, `" 80x24 running headless`)
	brief, _ := a.runProgram(args{"program": "sh", "args": []string{"-c", "echo last words; exit 3"}}, "exited 3", "last words")
	a.mustCall("terminal_read", args{"terminal": brief}, "last words", "exited 3")
	a.mustFail("terminal_send", args{"terminal": brief, "text": "x"}, "exit status 3", "terminal_read")

	a.mustCall("terminal_close", args{"terminal": shell}, "closed: "+shell, "exit status 129")
	a.mustCall("terminal_read", args{"terminal": shell}, "30 100")
	a.mustCall("terminal_close", args{"terminal": shell}, "closed: "+shell, "no longer kept")
	a.mustCall("terminal_close", args{"terminal": slow, "force": true}, ": SIG")
	a.mustFail("terminal_read", args{"terminal": shell}, "unknown terminal")
	require.NoError(t, a.session.Close())
}

func TestAProgramThatCannotStartIsReported(t *testing.T) {
	w, a := newAgent(t)
	w.write("plain", "no program")
	for name, c := range map[string]struct {
		with args
		want string
	}{
		"unknown":        {args{"program": "no-such-program"}, "cannot start the program: no-such-program: command not found: is it installed"},
		"no program":     {args{"program": w.path("plain")}, "permission denied: is it a program"},
		"no directory":   {args{"program": "sh", "cwd": w.path("nowhere")}, "there is no such directory"},
		"a file":         {args{"program": "sh", "cwd": w.path("plain")}, "it is not a directory"},
		"no name":        {args{"program": " "}, `parameter "program" is empty`},
		"too wide":       {args{"program": "sh", "cols": 1001}, `"cols" is 1001, the limit is 1000`},
		"value alone":    {args{"program": "sh", "value": "x"}, "value belongs to wait_for"},
		"bad expression": {args{"program": "sh", "wait_for": "regex", "value": "("}, "does not compile"},
	} {
		require.Contains(t, a.mustFail("terminal_run", c.with), c.want, name)
	}
	a.mustFail("terminal_close", args{"terminal": "bash-none"}, "there are no terminals")
	a.mustCall("terminal_list", nil, "there are no terminals")
}

// deaf ignores the signals of a closing terminal, and so do its children, one of them in the
// background.
const deaf = `trap "" HUP TERM INT; sleep 1000 & echo "ready pid=$$"; sleep 1000; sleep 1000`

// nothingIsLeft, at the end of every world, finds the processes that an end leaves behind.
func TestAnAgentsProgramsEndWithIt(t *testing.T) {
	t.Parallel()
	ends := map[string]func(*world, *agent){
		"its input ends":    func(w *world, a *agent) { require.NoError(w.t, a.session.Close()) },
		"SIGTERM":           func(w *world, a *agent) { w.kill(strconv.Itoa(a.cmd.Process.Pid), syscall.SIGTERM) },
		"SIGHUP":            func(w *world, a *agent) { w.kill(strconv.Itoa(a.cmd.Process.Pid), syscall.SIGHUP) },
		"SIGKILL":           func(w *world, a *agent) { w.kill(strconv.Itoa(a.cmd.Process.Pid), syscall.SIGKILL) },
		"it closes":         func(_ *world, a *agent) { a.closeAll("") },
		"it closes by KILL": func(_ *world, a *agent) { a.closeAll("KILL") },
	}
	for name, end := range ends {
		t.Run(name, func(t *testing.T) {
			w, a := newAgent(t)
			a.runProgram(args{"program": "bash", "args": []string{"--norc", "--noprofile", "-i"}}, "bash-")
			a.runProgram(args{"program": "sh", "args": []string{"-c", deaf}, "wait_for": "text", "value": "ready"}, "matched")
			a.runProgram(args{"program": "bash", "args": []string{"-c", "set -m; nohup sleep 1000 >/dev/null & exit 0"}, "wait_for": "exit"}, "exited 0")
			end(w, a)
			w.until(func() bool {
				for _, p := range w.processes() {
					if strings.Contains(p, "sleep 1000") || strings.Contains(p, "bash") {
						return false
					}
				}
				return true
			}, func() string { return strings.Join(w.processes(), "\n") })
			if name == "SIGKILL" { // the next gateway would have replaced it
				require.NoError(t, os.Remove(filepath.Join(w.run(), "gateway.sock")))
			}
		})
	}
}

// closeAll ends everything that runs.
func (a *agent) closeAll(signal string) {
	a.w.t.Helper()
	for line := range strings.Lines(a.mustCall("terminal_list", nil)) {
		if id, rest, _ := strings.Cut(line, " "); strings.Contains(rest, "running") {
			a.mustCall("terminal_close", args{"terminal": id, "force": signal == "KILL"}, "closed: "+id)
		}
	}
}

func TestAnIdleProgramEnds(t *testing.T) {
	w := newWorld(t)
	a := w.agent("claude", eras[1], "--idle-limit", "300ms")
	id, _ := a.runProgram(args{"program": "sleep", "args": []string{"1000"}, "wait_for": "exit", "timeout_ms": 10})
	a.mustCall("terminal_wait", args{"terminal": id, "for": "exit", "timeout_ms": 20_000}, "exited by SIGHUP")
}

func TestAProgramOutlivesItsGateway(t *testing.T) {
	w := newWorld(t)
	s := w.terminal(100, 24)
	s.run(`proxy --agent --name first sh -c 'echo proxy=$PPID; exec cat'`)
	proxy := aboveLeader(s.match(`proxy=(\d+)`))
	w.session() // the user's proxy serves the gateway
	a := w.agent("claude", eras[1])
	id, _ := a.runProgram(args{"program": "cat"})
	w.kill(proxy, syscall.SIGKILL)
	w.waitGone(proxy)
	w.waitListed(id)
	w.waitKeyboard(id, "claude")
	a.mustCall("terminal_send", args{"terminal": id, "text": "still mine", "enter": true, "wait_for": "text", "value": "still mine"}, "matched")
	second, _ := a.runProgram(args{"program": "cat"})
	a.mustCall("terminal_close", args{"terminal": second})
}

// R62: the terminal model answers, once, and no answer is left at the next prompt.
func TestProgramsWithoutATerminalAreAnsweredR62(t *testing.T) {
	w := newWorld(t, "fish")
	a := w.agent("claude", eras[1])
	id, _ := a.runProgram(args{"program": "fish", "args": []string{"--no-config"}, "wait_for": "regex", "value": `[>#] *$`}, "matched")
	got := a.mustCall("terminal_send", args{"terminal": id, "text": "echo (math 6 x 7)", "enter": true, "wait_for": "text", "value": "42"}, "matched")
	require.NotRegexp(t, `\d+;\d+[cR]|rgb:`, got)
	ask, _ := a.runProgram(args{"program": "bash", "args": []string{
		"--norc", "--noprofile", "-c",
		`stty -icanon -echo; printf '\e[c\e[6n\e[5n'; IFS= read -rs -d n got; printf '%q\n' "$got"; read -t 0.2 -rsn 1 more; echo "rest=$more."`,
	}, "wait_for": "text", "value": "rest="}, "rest=.")
	a.mustCall("terminal_read", args{"terminal": ask}, `'\E[?64;1;6;18;21;22;28c\E[1;1R\E[0'`)
}

func TestAnotherAgentOnlyLooks(t *testing.T) {
	w := newWorld(t)
	a := w.agent("claude", eras[1])
	id, _ := a.runProgram(args{"program": "cat"})
	require.Contains(t, w.mustGateway("read", id), "keyboard: claude (drive)")
	other := w.agent("codex", eras[0])
	other.mustCall("terminal_list", nil, id)
	other.mustFail("terminal_send", args{"text": "x"}, "terminal_request_control")
	other.mustFail("terminal_request_control", args{"reason": "mine"}, "another agent has the keyboard")
	other.mustFail("terminal_close", args{"terminal": id}, "another agent started this terminal")
	a.mustCall("terminal_release", nil, "released")
	other.mustFail("terminal_request_control", args{"reason": "mine"}, "claude's own", "gateway attach "+id)
	a.mustCall("terminal_request_control", args{"reason": "mine again"}, "granted")
}

func TestRunHostsAProgramForAShell(t *testing.T) {
	w := newWorld(t)
	r := w.start("gateway", "run", "--name", "build", "--cols", "90", "--rows", "20", "--", "sh", "-c", `stty size; read line; echo "got $line"; read line; exit 7`)
	id := w.session()
	require.Regexp(t, `^build-`, id)
	w.mustGateway("wait", id, "--text", "20 90")
	w.mustGateway("send", id, "--text", "words", "--enter", "--until", "text=got words")
	w.mustGateway("send", id, "--enter")
	got := r.wait()
	require.Equal(t, 7, got.status, got.err)
	require.Equal(t, id+"\n", got.out)
	require.Contains(t, got.err, "gateway attach "+id)

	r = w.start("gateway", "run", "--json", "--", "cat")
	id = w.session()
	require.Contains(t, w.mustGateway("close", id), "closed (exit status 129: SIGHUP)")
	require.Equal(t, 129, r.wait().status)

	r = w.start("gateway", "run", "--", "sh", "-c", deaf)
	id = w.session()
	w.mustGateway("wait", id, "--text", "ready")
	require.NoError(t, r.cmd.Process.Signal(os.Interrupt))
	require.Equal(t, 137, r.wait().status)
}

// A program with a session of its own has asked to outlive its terminal: closing does not kill it,
// and the one who closes is told.
func TestAClosingTerminalNamesSurvivors(t *testing.T) {
	w := newWorld(t, "setsid")
	r := w.start("gateway", "run", "--", "sh", "-c", `setsid sh -c 'echo $$ > left; exec sleep 1000' & nohup sleep 1000 >/dev/null & exec cat`)
	id := w.session()
	w.until(func() bool { return strings.HasSuffix(w.content("left"), "\n") }, func() string { return "nothing was started" })
	pid := strings.TrimSpace(w.content("left"))
	got := w.mustGateway("close", id)
	require.Equal(t, "closed (exit status 129: SIGHUP); 1 process keeps running in a session of its own, as a daemon does\n", got)
	require.Equal(t, 129, r.wait().status, "what nohup started is of the terminal's session, and ends with it")
	w.kill(pid, syscall.SIGKILL) // it lives
	w.waitGone(pid)
}

func TestAPersonSitsDownInFrontOfAnAgentsTerminal(t *testing.T) {
	w, a := newAgent(t, "vim")
	id, _ := a.runProgram(args{"program": "bash", "args": []string{"--norc", "--noprofile", "-i"}, "cols": 70, "rows": 20})
	a.mustCall("terminal_send", args{"text": "echo the agent was here", "enter": true})

	s := w.terminal(100, 24)
	s.run("gateway attach " + id)
	s.wait("the agent was here")
	s.waitTitle("[claude drives]")
	s.typed("stty size\n")
	s.wait("24 100") // the newest size counts
	a.mustCall("terminal_read", nil, "24 100", "100x24")

	// Without t_RK, vim asks its terminal nothing. It shows the file before it asks; the answer
	// would come after what is typed then, and without 'esckeys' the answer's ESC ends insert mode.
	a.mustCall("terminal_send", args{"text": "vim -u NONE -n --cmd 'set t_RK=' notes.txt", "enter": true, "wait_for": "text", "value": "New"}, "matched")
	s.wait(`"notes.txt" [New`)
	a.mustCall("terminal_send", args{"text": "imilk"})
	s.wait("milk")
	s.press(`C-\`)
	s.waitShown("the keyboard is yours: claude is stopped")
	a.mustFail("terminal_send", args{"text": "x"}, "the user took the keyboard back")
	s.typed(" and eggs")
	s.press("Escape")
	s.typed(":wq\n")
	w.until(func() bool { return w.content("notes.txt") == "milk and eggs\n" }, func() string { return w.content("notes.txt") })

	asking := a.startCall("terminal_request_control", args{"reason": "one more thing"})
	s.wait("“claude” asks to drive for 10 min: “one more thing”")
	s.answer("C-g")
	require.False(t, w.waitAnswer(asking).fails)
	a.mustCall("terminal_send", args{"text": "echo back at work", "enter": true})
	s.wait("back at work")

	s.press(`C-\`)
	s.wait("claude is stopped")
	s.waitGone("claude is stopped") // the key is swallowed for a moment
	s.press(`C-\`)
	s.wait("d leaves")
	s.press("d")
	require.Zero(t, s.status())
	require.Contains(t, s.screen(), "["+id+": detached; the program keeps running]")
	require.Equal(t, plainModes, s.format(modes))
	a.mustCall("terminal_request_control", args{"reason": "nobody is there now"}, "granted")

	s.runToEnd("true") // the output of the first attach is gone
	s.run("gateway attach " + id)
	s.wait("back at work")
	a.mustCall("terminal_send", args{"text": "exit 4", "enter": true, "wait_for": "exit"}, "exited 4")
	require.Zero(t, s.status())
	require.Contains(t, s.screen(), "ended with exit status 4")
	screen, status := s.runToEnd("gateway attach " + id)
	require.Equal(t, 1, status)
	require.Contains(t, unwrapped(screen), "has ended with exit status 4")
}

// R26: a password is for a person to type, in an agent's own terminal too.
func TestAPasswordInAnAgentsTerminalIsForAPerson(t *testing.T) {
	w, a := newAgent(t)
	id, _ := a.runProgram(args{"program": "sh", "args": []string{"-c", `printf 'Password: '; stty -echo; read secret; stty echo; echo; echo "got ${#secret} characters"; exec cat`}})
	a.mustFail("terminal_send", args{"text": "guessed", "enter": true}, "password", "no person is at this terminal", "gateway attach "+id)
	a.mustCall("terminal_read", nil, "no person is at this terminal", "ctrl-c")
	s := w.terminal(100, 24)
	s.run("gateway attach " + id)
	s.wait("Password:")
	a.mustFail("terminal_send", args{"keys": []string{"ctrl-c"}}, "which the user types")
	require.NotContains(t, a.mustCall("terminal_read", nil, "a password is being asked for: the user answers it"), "nobody")
	s.typed("hunter2\n")
	s.wait("got 7 characters")
	a.mustCall("terminal_wait", args{"for": "text", "value": "got 7 characters"}, "matched")
	a.mustCall("terminal_wait", args{"for": "idle", "value": "1s"}, "matched")
	a.mustCall("terminal_send", args{"text": "the agent works on", "enter": true, "wait_for": "text", "value": "works on"}, "matched")
	require.NotContains(t, a.mustCall("terminal_read", args{"view": "history"}), "hunter2")
}

// R26: without a person to answer, the agent can only give the question up.
func TestAnAgentGivesUpAnUnansweredQuestionR26(t *testing.T) {
	w := newWorld(t)
	a := w.agent("claude", eras[1])
	a.runProgram(args{"program": "bash", "args": []string{"--norc", "--noprofile", "-c", `trap 'echo; echo interrupted' INT; stty -echo; read -p 'Password: ' x || echo "no answer: ${#x}"; stty echo; exec cat`}})
	a.mustCall("terminal_read", nil, "no person is at this terminal")
	for _, no := range []args{{"text": "\x03"}, {"text": "guess"}, {"keys": []string{"enter"}}, {"keys": []string{"ctrl-c", "x"}}} {
		a.mustFail("terminal_send", no, "no person is at this terminal")
	}
	a.mustCall("terminal_send", args{"keys": []string{"ctrl-c"}, "wait_for": "text", "value": "interrupted"}, "matched")
	a.mustCall("terminal_send", args{"keys": []string{"ctrl-d"}, "wait_for": "text", "value": "no answer: 0"}, "matched")
	a.mustCall("terminal_wait", args{"for": "waiting"}, "matched")
	a.mustCall("terminal_send", args{"text": "the agent works on", "enter": true, "wait_for": "text", "value": "works on"}, "matched")
}

func TestAUsersOwnTerminalHasNoSeats(t *testing.T) {
	w := newWorld(t)
	s := w.terminal(100, 24)
	s.run("proxy --agent cat")
	id := w.session()
	got := w.gateway("close", id)
	got.mustFail(t, 4, "this is the user's own terminal")
	require.Contains(t, got.err, "hint: only its user can end the program")
	second := w.terminal(100, 24)
	screen, status := second.runToEnd("gateway attach " + id)
	require.Equal(t, 4, status)
	require.Contains(t, unwrapped(screen), "has a user at its own terminal")
	s.press("C-d")
	require.Zero(t, s.status())
}

// Each repaint would be output of the session, and would have to be shown again.
func TestASessionDoesNotShowItself(t *testing.T) {
	w := newWorld(t)
	a := w.agent("claude", eras[1])
	id, _ := a.runProgram(args{"program": "bash", "args": []string{"--norc", "--noprofile", "-i"}, "cols": 100, "rows": 20})
	for _, watch := range []string{"", " --watch"} {
		a.mustCall("terminal_send", args{
			"text": `clear; gateway attach "$TERMINALPROXY_SESSION"` + watch + "; echo status-$?", "enter": true, "wait_for": "regex", "value": `^status-\d`,
		})
		a.mustCall("terminal_read", nil, "this shell runs inside the session "+id+", and a session cannot show itself", "run it in another terminal", "status-1")
	}
}
