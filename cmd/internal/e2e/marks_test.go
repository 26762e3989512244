package e2e_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"terminalproxy/protocol"
)

// readCommand reads the report of a command line, nth from the end.
func (d *driver) readCommand(nth int) *protocol.ReadResult {
	d.t.Helper()
	got, err := d.c.Read(d.w.ctx, &protocol.Read{SessionID: d.id, Command: nth, Scrollback: 2000})
	require.NoError(d.t, err)
	require.NotNil(d.t, got.Command)
	return got
}

// checkCommand types a command line, and compares the report of the ended command with what is
// wanted.
func (d *driver) checkCommand(line, output string, status int) *protocol.Command {
	d.t.Helper()
	d.waitReady(d.typeText(line + "\r"))
	got := d.readCommand(1)
	c := got.Command
	require.Equal(d.t, line, c.Line)
	require.Equal(d.t, output, got.Text, line)
	require.False(d.t, c.Running, line)
	require.NotNil(d.t, c.ExitCode, line)
	require.Equal(d.t, status, *c.ExitCode, line)
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
			w := newWorld(t, shell)
			marks, program := fmt.Sprintf(`eval "$(gateway marks %s)"`, shell), c.program
			if shell == "fish" {
				program = strings.ReplaceAll(program, "MARKS", "'"+map[bool]string{true: "function fish_prompt; printf \"%s %s> \" $status (pwd); end; "}[c.rc != ""]+"gateway marks fish | source'")
			}
			w.write(c.file, strings.ReplaceAll(c.rc, "MARKS", marks))
			w.env = append(w.env, "ZDOTDIR="+w.dir)
			s, d := w.startDriver(program)
			d.waitReady(0)
			d.waitReady(d.typeText("true\r")) // its prompt may have been set after the hook that marks it
			require.Equal(t, w.dir, d.checkCommand("mkdir 'a é;b'; cd 'a é;b'", "", 0).Cwd)
			require.Equal(t, w.path("a é;b"), d.checkCommand("printf foo", "foo", 0).Cwd)
			d.checkCommand("sh -c 'echo out; exit 42'", "out", 42)
			// A command's output does not pass for its marks.
			d.checkCommand(`printf 'a\n\033]133;D;0\a\033]133;A\a\033]133;B\ax\n\033]133;C\ab'; false`, "a\nx\nb", 1)
			d.checkCommand("sh -c 'exit 42'", "", 42)
			d.waitReady(d.typeText("\r"))   // an empty line
			d.waitReady(d.typeText("junk")) // a line that is given up
			d.waitReady(d.typeText("\x03"))
			require.Equal(t, 42, *d.readCommand(1).Command.ExitCode)
			d.checkCommand("seq 3", "1\n2\n3", 0)
			require.Equal(t, "foo", d.readCommand(5).Text)

			d.typeText("sh -c 'echo begun; read x; exit 7'\r")
			d.wait(protocol.Until{Regex: "^begun"}, 0, patience.Milliseconds())
			running := d.readCommand(1)
			require.True(t, running.Command.Running)
			require.Equal(t, "begun", running.Text)
			d.waitReady(d.typeText("x\r"))
			require.Equal(t, 7, *d.readCommand(1).Command.ExitCode)

			d.typeText("exit\r")
			s.close()
		})
	}
}

// Where marks would be in the way, none are printed: in a dumb terminal, in a script, in output to
// a file.
func TestMarksStayOutOfTheWay(t *testing.T) {
	t.Parallel()
	for shell, flags := range map[string][]string{"bash": {"--norc", "-i", "-c"}, "zsh": {"-f", "-i", "-c"}, "fish": {"--no-config", "-i", "-c"}} {
		t.Run(shell, func(t *testing.T) {
			w := newWorld(t, shell)
			marks := w.do("gateway", "marks", shell)
			require.Zero(t, marks.status, marks.err)
			w.write("marks", marks.out+"\necho ${PS1-} ${PS0-} ${PROMPT_COMMAND-} $precmd_functions _${__marks_id-}_\n")
			if shell == "fish" {
				w.write("marks", marks.out+"\necho _{$__marks_id}_; functions -a | string match '*marks*'; true\n")
			}
			got := w.do(shell, append(flags, "source ./marks")...) // standard output is not a terminal
			require.Zero(t, got.status, got.err)
			require.NotContains(t, got.out+got.err, "marks")
			s := w.terminal(80, 24)
			for _, term := range []string{"dumb", "xterm"} {
				screen, status := s.runToEnd("clear; TERM=" + term + " " + shell + " " + strings.Join(flags, " ") + " 'source ./marks'")
				require.Zero(t, status, screen)
				require.Equal(t, term == "xterm", strings.Contains(screen, "__marks_"), screen)
			}
			s.close()
		})
	}
}

// The user's "why does this fail?" takes one call, whatever was printed before.
func TestAnAgentReadsAFailedCommand(t *testing.T) {
	w := newWorld(t)
	w.write("rc", "eval \"$(gateway marks bash)\"\nPS1='marked> '\n")
	s := w.terminal(80, 24)
	s.run("proxy --agent bash --noprofile --rcfile rc")
	s.wait("marked>")
	s.typed("seq 300\nfalse; sh -c 'seq 60; echo no rule to make target; exit 2'\necho next\n")
	a := w.agent("claude", eras[0])
	a.mustCall("terminal_wait", args{"for": "regex", "value": "^next$"}, "matched")
	got := a.mustCall("terminal_read", args{"view": "command-before"}, "the shell's marks say: exit status 2 after ", "; 61 rows of output, lines 30",
		"\n59\n60\nno rule to make target\n", `command line: "false; sh -c 'seq 60; echo no rule to make target; exit 2'"`, `directory: "`+w.dir+`"`)
	require.NotContains(t, got, "\n300\n") // the directory may have the digits
	a.mustCall("terminal_read", args{"view": "command-before", "match": "rule|^1$"}, "2 lines match", ": no rule to make target")
	require.Contains(t, w.do("gateway", "read", "--command=2", "--max-tokens", "300").out, " rows of output, lines ")

	s.close()
	s = w.terminal(80, 24)
	s.run("proxy --agent --name plain bash --noprofile --norc")
	s.wait("bash-5")
	w.session()
	a.mustFail("terminal_read", args{"terminal": "plain", "view": "command"}, "bash has sent no shell marks (OSC 133), which tell commands apart", "`gateway marks SHELL`")
	s.close()
}

// An agent's own bash is marked without the user's start files.
func TestAnAgentsOwnBashIsMarked(t *testing.T) {
	w := newWorld(t)
	w.env = append(w.env, "PROMPT_COMMAND=hooked=yes")
	w.write("home/.bashrc", "set -u\nPROMPT_COMMAND=\"true; $PROMPT_COMMAND\"\n")
	a := w.agent("claude", eras[0])
	for _, flags := range [][]string{{}, {"--norc", "-i"}} {
		id, _ := a.runProgram(args{"program": "bash", "args": flags, "wait_for": "waiting"}, "waiting")
		a.mustCall("terminal_send", args{"terminal": id, "text": "echo $hooked; seq 30; (exit 5)\n", "wait_for": "waiting"}, "(last exit 5)")
		a.mustCall("terminal_read", args{"terminal": id, "view": "command"}, "exit status 5 after ", "31 rows of output", "\nyes\n1\n", "\n30\n")
		a.mustCall("terminal_send", args{"terminal": id, "text": "env | grep -c -e marks -e PROMPT; bash --norc\n", "wait_for": "waiting"}, "\n")
		a.mustCall("terminal_read", args{"terminal": id, "view": "command"}, "\n0\n")
		a.mustCall("terminal_close", args{"terminal": id, "force": true}, "closed")
	}
}
