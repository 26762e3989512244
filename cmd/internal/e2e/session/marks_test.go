package session_test

import (
	"fmt"
	"strings"
	"testing"

	"terminalproxy/cmd/internal/e2e/world"
	"terminalproxy/protocol"

	"github.com/stretchr/testify/require"
)

// readCommand reads the report of a command line, nth from the end.
func readCommand(d *world.Driver, nth int) *protocol.ReadResult {
	d.T.Helper()
	got, err := d.C.Read(d.W.Ctx, &protocol.Read{SessionID: d.ID, Command: nth, Scrollback: 2000})
	require.NoError(d.T, err)
	require.NotNil(d.T, got.Command)
	return got
}

// checkCommand types a command line, and compares the report of the ended command with what is
// wanted.
func checkCommand(d *world.Driver, line, output string, status int) *protocol.Command {
	d.T.Helper()
	d.WaitReady(d.TypeText(line + "\r"))
	got := readCommand(d, 1)
	c := got.Command
	require.Equal(d.T, line, c.Line)
	require.Equal(d.T, output, got.Text, line)
	require.False(d.T, c.Running, line)
	require.NotNil(d.T, c.ExitCode, line)
	require.Equal(d.T, status, *c.ExitCode, line)
	return c
}

// markedShells are shells with the marks of `gateway marks`, beside what people have in their start
// files: name, program, file and its content.
var markedShells = []struct{ name, program, file, rc string }{
	{"bash", "bash --noprofile --rcfile rc", "rc", "set -u\nPS1='\\w\n\\$ '\nMARKS\nMARKS\n"},
	{"bash that sets its prompt anew", "bash --rcfile rc", "rc", "PROMPT_COMMAND='true; PS1=\"\\w \\\\$ \"; false;'\nMARKS\n"},
	{"bash with more set later", "bash --rcfile rc", "rc", "MARKS\nPS0='\\r'\nfancy() { PS1='\\w \\$ '; false; }\nPROMPT_COMMAND=\"fancy; $PROMPT_COMMAND; fancy\"\n"},
	{"bash whose hooks are replaced", "bash --rcfile rc", "rc", "MARKS\nuser=$PROMPT_COMMAND\nfancy() { false; eval \"$user\"; PS1='\\w \\$ '; }\nPROMPT_COMMAND=fancy\n"},
	{"bash with a list of hooks", "bash --rcfile rc", "rc", "set -u\nfancy() { PS1='\\w \\$ '; false; }\nPROMPT_COMMAND=(fancy 'false')\nMARKS\n"},
	{"bash with a readonly hook", "bash --rcfile rc", "rc", "readonly PROMPT_COMMAND='echo audited >> log'\nMARKS\n"},
	{"zsh", "zsh", ".zshrc", "setopt nounset\nPS1=$'%~\\n%# '\nRPROMPT=right\nMARKS\nMARKS\n"},
	{"zsh that sets its prompt anew", "zsh", ".zshrc", "MARKS\nprecmd() { PS1='%~ %# '; false; }\nprecmd_functions+=(fancy)\nfancy() { PS1='%~ %# '; print between; false; }\n"},
	{"fish", "fish --no-config --init-command MARKS", "unused", ""},
	{"fish with a prompt", "fish --no-config --init-command MARKS", "unused", "fish"},
}

// With `gateway marks`, each shell reports what it ran.
func TestCommandsOfMarkedShells(t *testing.T) {
	t.Parallel()
	for _, c := range markedShells {
		t.Run(c.name, func(t *testing.T) {
			shell, _, _ := strings.Cut(c.program, " ")
			w := world.New(t, shell)
			marks, program := fmt.Sprintf(`eval "$(gateway marks %s)"`, shell), c.program
			if shell == "fish" {
				program = strings.ReplaceAll(program, "MARKS", "'"+map[bool]string{true: "function fish_prompt; printf \"%s %s> \" $status (pwd); end; "}[c.rc != ""]+"gateway marks fish | source'")
			}
			w.Write(c.file, strings.ReplaceAll(c.rc, "MARKS", marks))
			w.Env = append(w.Env, "ZDOTDIR="+w.Dir)
			s, d := w.StartDriver(program)
			d.WaitReady(0)
			d.WaitReady(d.TypeText("true\r")) // its prompt may have been set after the hook that marks it
			require.Equal(t, w.Dir, checkCommand(d, "mkdir 'a é;b'; cd 'a é;b'", "", 0).Cwd)
			require.Equal(t, w.Path("a é;b"), checkCommand(d, "printf foo", "foo", 0).Cwd)
			checkCommand(d, "sh -c 'echo out; exit 42'", "out", 42)
			// A command's output does not pass for its marks.
			checkCommand(d, `printf 'a\n\033]133;D;0\a\033]133;A\a\033]133;B\ax\n\033]133;C\ab'; false`, "a\nx\nb", 1)
			checkCommand(d, "sh -c 'exit 42'", "", 42)
			d.WaitReady(d.TypeText("\r"))   // an empty line
			d.WaitReady(d.TypeText("junk")) // a line that is given up
			d.WaitReady(d.TypeText("\x03"))
			require.Equal(t, 42, *readCommand(d, 1).Command.ExitCode)
			checkCommand(d, "seq 3", "1\n2\n3", 0)
			require.Equal(t, "foo", readCommand(d, 5).Text)

			d.TypeText("sh -c 'echo begun; read x; exit 7'\r")
			d.Wait(protocol.Until{Regex: "^begun"}, 0, world.Patience.Milliseconds())
			running := readCommand(d, 1)
			require.True(t, running.Command.Running)
			require.Equal(t, "begun", running.Text)
			d.WaitReady(d.TypeText("x\r"))
			require.Equal(t, 7, *readCommand(d, 1).Command.ExitCode)

			d.TypeText("exit\r")
			s.Close()
			require.Equal(t, strings.Contains(c.rc, "audited"), strings.Contains(w.Content("log"), "audited\naudited\n"))
		})
	}
}

// Where marks would be in the way, none are printed: in a dumb terminal, in a script, in output to
// a file.
func TestMarksStayOutOfTheWay(t *testing.T) {
	t.Parallel()
	for shell, flags := range map[string][]string{"bash": {"--norc", "-i", "-c"}, "zsh": {"-f", "-i", "-c"}, "fish": {"--no-config", "-i", "-c"}} {
		t.Run(shell, func(t *testing.T) {
			w := world.New(t, shell)
			marks := w.Do("gateway", "marks", shell)
			require.Zero(t, marks.Status, marks.Err)
			w.Write("marks", marks.Out+"\necho ${PS1-} ${PS0-} ${PROMPT_COMMAND-} $precmd_functions _${__marks_id-}_\n")
			if shell == "fish" {
				w.Write("marks", marks.Out+"\necho _{$__marks_id}_; functions -a | string match '*marks*'; true\n")
			}
			got := w.Do(shell, append(flags, "source ./marks")...) // standard output is not a terminal
			require.Zero(t, got.Status, got.Err)
			require.NotContains(t, got.Out+got.Err, "marks")
			s := w.Terminal(80, 24)
			for _, term := range []string{"dumb", "xterm"} {
				screen, status := s.RunToEnd("clear; TERM=" + term + " " + shell + " " + strings.Join(flags, " ") + " 'source ./marks'")
				require.Zero(t, status, screen)
				require.Equal(t, term == "xterm", strings.Contains(screen, "__marks_"), screen)
			}
			s.Close()
		})
	}
}

// The user's "why does this fail?" takes one call, whatever was printed before.
func TestAnAgentReadsAFailedCommand(t *testing.T) {
	w := world.New(t)
	w.Write("rc", "eval \"$(gateway marks bash)\"\nPS1='marked> '\n")
	s := w.Terminal(80, 24)
	s.Run("proxy --agent bash --noprofile --rcfile rc")
	s.Wait("marked>")
	s.Typed("seq 300\nfalse; sh -c 'seq 60; echo no rule to make target; exit 2'\necho next\n")
	a := w.Agent("claude", world.Eras[0])
	a.MustCall("terminal_wait", world.Args{"for": "regex", "value": "^next$"}, "matched")
	got := a.MustCall("terminal_read", world.Args{"view": "command-before"}, "the shell's marks say: exit status 2 after ", "; 61 rows of output, lines 30",
		"\n59\n60\nno rule to make target\n", `command line: "false; sh -c 'seq 60; echo no rule to make target; exit 2'"`, `directory: "`+w.Dir+`"`)
	require.NotContains(t, got, "\n300\n") // the directory may have the digits
	a.MustCall("terminal_read", world.Args{"view": "command-before", "match": "rule|^1$"}, "2 lines match", ": no rule to make target")
	require.Contains(t, w.Do("gateway", "read", "--command=2", "--max-tokens", "300").Out, " rows of output, lines ")

	s.Close()
	s = w.Terminal(80, 24)
	s.Run("proxy --agent --name plain bash --noprofile --norc")
	s.Wait("bash-5")
	w.Session()
	a.MustFail("terminal_read", world.Args{"terminal": "plain", "view": "command"}, "bash has sent no shell marks (OSC 133), which tell commands apart", "`gateway marks SHELL`")
	s.Close()
}

// An agent's own bash is marked without the user's start files.
func TestAnAgentsOwnBashIsMarked(t *testing.T) {
	w := world.New(t)
	w.Env = append(w.Env, "PROMPT_COMMAND=hooked=yes")
	w.Write("home/.bashrc", "set -u\nPROMPT_COMMAND=\"true; $PROMPT_COMMAND\"\n")
	a := w.Agent("claude", world.Eras[0])
	for _, flags := range [][]string{{}, {"--norc", "-i"}} {
		id, _ := a.RunProgram(world.Args{"program": "bash", "args": flags, "wait_for": "waiting"}, "waiting")
		a.MustCall("terminal_send", world.Args{"terminal": id, "text": "echo $hooked; seq 30; (exit 5)\n", "wait_for": "waiting"}, "(last exit 5)")
		a.MustCall("terminal_read", world.Args{"terminal": id, "view": "command"}, "exit status 5 after ", "31 rows of output", "\nyes\n1\n", "\n30\n")
		a.MustCall("terminal_send", world.Args{"terminal": id, "text": "env | grep -c -e marks -e PROMPT; bash --norc\n", "wait_for": "waiting"}, "\n")
		a.MustCall("terminal_read", world.Args{"terminal": id, "view": "command"}, "\n0\n")
		a.MustCall("terminal_close", world.Args{"terminal": id, "force": true}, "closed")
	}
}
