package e2e_test

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

// initShells are the shells that have lines of `gateway init`, their start files, and what people
// have there behind those lines.
var initShells = []struct{ name, file, rest string }{
	{"bash", "home/.bashrc", "PROMPT_COMMAND='true'\nPS1='ready> '\nunset HISTFILE\n"},
	{"zsh", "home/.zshrc", "precmd() { PS1='ready> '; }\n"},
	{"fish", "home/config/fish/config.fish", "function fish_prompt; echo -n 'ready> '; end\nset -g fish_greeting\n"},
}

// shellWorld is a world whose shell reads the lines that program, a gateway, prints for it, with
// more flags.
func shellWorld(t *testing.T, shell, program string, more ...string) *world {
	t.Helper()
	w := newWorld(t, shell, "script")
	w.makeHome()
	if program != "" {
		w.cli = w.path(program)
		require.NoError(t, os.MkdirAll(filepath.Dir(w.cli), 0o700))
		require.NoError(t, os.Link(filepath.Join(root, "bin", "gateway"), w.cli))
		w.writeScript(filepath.Dir(program)+"/proxy", "")
	}
	for _, s := range initShells {
		if s.name == shell {
			w.write(s.file, w.mustGateway(append([]string{"init", shell}, more...)...)+s.rest)
		}
	}
	return w
}

// makeHome sets up a user's home in which fish has no manual pages to read.
func (w *world) makeHome() {
	w.t.Helper()
	for _, dir := range []string{"home/.local/share/fish/generated_completions", "home/config/fish"} {
		require.NoError(w.t, os.MkdirAll(w.path(dir), 0o700))
	}
}

// openShell runs a shell in a new window, waits for its prompt, and reports whether it is shared.
func (w *world) openShell(shell string, args ...string) (s *terminal, session string) {
	w.t.Helper()
	s = w.leader(80, append([]string{shell}, args...)...)
	s.wait("ready>")
	s.typed("clear; echo \"in\"\"=$TERMINALPROXY_SESSION= init=$TERMINALPROXY_INIT=\"\n")
	return s, s.match(`in=(.*)= init=(?:off)?=\s+ready>`)
}

// leader opens a window for a program that is the first of its terminal, as in a terminal emulator.
func (w *world) leader(cols int, args ...string) *terminal {
	w.t.Helper()
	line := "exec env"
	for _, arg := range args {
		line += " '" + strings.ReplaceAll(arg, "'", `'\''`) + "'"
	}
	file := w.write(fmt.Sprintf("leader%d", worlds.Add(1)), line+"\n")
	return w.window(cols, 24, "sh", "-c", "script -qec 'exec sh "+file+"' /dev/null; echo ended=$?=; exec cat")
}

func (s *terminal) exitStatus() string { s.w.t.Helper(); return s.match(`ended=(\d+)=`) }

// waitSize waits until the shell's terminal has a size, in stty's words.
func (s *terminal) waitSize(size string) {
	s.w.t.Helper()
	s.typed("clear; sh -c 'until stty size | grep -qx \"" + size + "\"; do sleep .1; done; echo now si\"\"zed'\n")
	s.match(`now sized\s+ready>`)
}

// A new terminal is shared: it opens with the shell that it would have had, reports its commands,
// has the window's size, and closes.
func TestANewTerminalIsShared(t *testing.T) {
	t.Parallel()
	for _, c := range initShells {
		t.Run(c.name, func(t *testing.T) {
			w := shellWorld(t, c.name, "")
			w.write("home/.bash_profile", ". ~/.bashrc\n")
			plain, session := w.openShell("TERMINALPROXY_INIT=off", c.name)
			require.Empty(t, session)
			s, session := w.openShell(c.name, "-l")
			require.Equal(t, w.session(), session)
			plain.typed("clear; echo level=$SHLVL=\n")
			s.typed("clear; echo level=$SHLVL=\n")
			require.Equal(t, plain.match(`level=(\d+)=\s+ready>`), s.match(`level=(\d+)=\s+ready>`))
			switch c.name {
			case "bash":
				s.typed("clear; shopt -q login_shell && echo log''in\n")
			case "zsh":
				s.typed("clear; [[ -o login ]] && echo log''in\n")
			case "fish":
				s.typed("clear; status is-login && echo log''in\n")
			}
			s.match(`login\s+ready>`)
			s.typed("sh -c 'echo out; exit 42'\n")
			s.match(`out\s+ready>`)
			w.until(func() bool {
				got := w.gateway("read", session, "--command")
				return strings.Contains(got.out, "exit status 42")
			},
				func() string { return s.screen() + w.gateway("read", session, "--command").err })
			require.Contains(t, w.mustGateway("read", session, "--command"), "\nout\n")
			s.resize(100, 30)
			s.waitSize("30 100")
			s.typed("clear; echo in\"\"side; " + c.name + "; echo ba\"\"ck\n") // a shell within belongs to the same session
			s.match(`inside\s+ready>`)
			require.Equal(t, session, w.session())
			s.typed("exit\n")
			s.match(`back\s+ready>`)
			s.typed("exit 3\n")
			require.Equal(t, "3", s.exitStatus())
			plain.close()
		})
	}
}

// brokenProxies are programs that may stand in for proxy.
var brokenProxies = []struct{ name, script, word string }{
	{"fails", "#!/bin/sh\nexit 1\n", "ended with status 1 before the shell did"},
	{"crashes", "#!/bin/sh\nkill -SEGV $$\n", "before the shell did"},
	{"is no program", "\x7fELFno", "before the shell did"},
	{"is another program", "#!/bin/sh\nwhile [ \"$1\" != -- ]; do shift; done\nshift\nexec \"$@\"\n", ""},
	{"is gone", "", ""},
}

// The plain shell opens, with a message.
func TestATerminalSurvivesABrokenProxy(t *testing.T) {
	t.Parallel()
	for _, c := range initShells {
		for _, b := range brokenProxies {
			t.Run(c.name+" "+b.name, func(t *testing.T) {
				w := shellWorld(t, c.name, "broken/gateway")
				w.write("broken/proxy", b.script)
				if b.script == "" {
					require.NoError(t, os.Remove(w.path("broken/proxy")))
				}
				s := w.leader(200, c.name)
				s.wait("ready>")
				if b.word != "" {
					s.wait(b.word)
					s.wait("this terminal is not shared")
				} else {
					require.NotContains(t, s.screen(), "gateway")
				}
				if b.name == "is another program" {
					s.typed("clear; exit 3\n")
					s.match(`this terminal is not shared\s+ready>`)
				}
				s.waitSize("24 200")
				s.typed("exit 3\n")
				require.Equal(t, "3", s.exitStatus())
			})
		}
	}
}

// A proxy that is killed much later also leaves a plain shell in an intact terminal.
func TestATerminalOutlivesItsProxy(t *testing.T) {
	t.Parallel()
	for _, c := range initShells {
		t.Run(c.name, func(t *testing.T) {
			w := shellWorld(t, c.name, "")
			s, session := w.openShell(c.name)
			require.NotEmpty(t, session)
			s.typed("clear; sh -c 'echo parent=$(ps -o ppid= -p $PPID)='\n")
			w.kill(aboveLeader(s.match(`parent= *(\d+)=`)), syscall.SIGKILL)
			s.match(`ended with status 137[^>]*ready>`)
			s.typed("clear; echo \"in\"\"=$TERMINALPROXY_SESSION=\"; stty size\n")
			s.match(`in==\s+24 80\s+ready>`)
			s.typed("exit 4\n")
			require.Equal(t, "4", s.exitStatus())
			require.NoError(t, os.RemoveAll(w.run())) // of the killed proxy
		})
	}
}

// Remote logins, editors' terminals, another user's terminals, dumb terminals and opted-out
// terminals are not shared.
func TestTerminalsThatAreNotShared(t *testing.T) {
	t.Parallel()
	for _, c := range initShells {
		t.Run(c.name, func(t *testing.T) {
			w := shellWorld(t, c.name, "")
			for _, variable := range []string{
				"SSH_CONNECTION=10.0.0.1 1 10.0.0.2 22", "NVIM=/run/nvim", "INSIDE_EMACS=29", "SUDO_USER=ada", "TERM=dumb", "TERM=linux",
				"TERMINALPROXY_INIT=off", "TERMINALPROXY_SESSION=",
			} {
				args := []string{variable, c.name}
				if variable == "TERMINALPROXY_SESSION=" { // a shell within an unshared one
					args = []string{"TERMINALPROXY_INIT=off", "sh", "-c", "unset TERMINALPROXY_INIT; " + c.name + "; :"}
				}
				s, session := w.openShell(args[0], args[1:]...)
				require.Empty(t, session, variable)
				s.close()
			}
			require.Empty(t, w.sessions())
		})
		t.Run(c.name+" by ssh", func(t *testing.T) {
			w := shellWorld(t, c.name, "", "--ssh")
			s, session := w.openShell("SSH_CONNECTION=10.0.0.1 1 10.0.0.2 22", c.name)
			require.Equal(t, w.session(), session)
			s.close()
		})
	}
}

// A command without a terminal, or a shell that runs a command without a prompt, prints what it
// printed before, whichever start file it reads: ssh host command, scp, editors that read a shell's
// environment.
func TestCommandsOfShellsStayAsTheyAre(t *testing.T) {
	t.Parallel()
	for _, c := range initShells {
		t.Run(c.name, func(t *testing.T) {
			w := shellWorld(t, c.name, "")
			for _, flags := range []string{"-c", "-ic", "-lc", "-ilc"} {
				got := w.do(c.name, flags, "echo as it was; exit 5")
				require.Equal(t, "as it was\n", got.out, flags)
				require.Equal(t, 5, got.status, flags)
				require.NotContains(t, got.err, "gateway")
			}
			s := w.leader(80, c.name, "-ic", "echo; echo; echo \"in=$TERMINALPROXY_SESSION=\"; exit 6")
			require.Equal(t, "6", s.exitStatus())
			s.wait("in==")
			if c.name == "fish" {
				return
			}
			w.write("script", "echo; echo; echo script in=$TERMINALPROXY_SESSION=; exit 7\n")
			s = w.leader(80, c.name, "-i", "script")
			require.Equal(t, "7", s.exitStatus())
			s.wait("script in==")
			strict := w.do(c.name, "-euc", ". ./"+c.file+"; echo strict")
			require.Equal(t, "strict\n", strict.out, strict.err)
			w.env = append(w.env, "BASH_ENV="+w.path(c.file))
			require.Equal(t, "env\n", w.do(c.name, "-c", "echo env").out)
		})
	}
}

// A shell whose prompt already has marks gets no second ones.
func TestOthersMarksStay(t *testing.T) {
	t.Parallel()
	for _, c := range initShells[:2] {
		t.Run(c.name, func(t *testing.T) {
			w := shellWorld(t, c.name, "")
			w.write(c.file, w.content(c.file)+map[string]string{
				"bash": `PS1='\[\e]133;A\a\]ready> \[\e]133;B\a\]'`,
				"zsh":  `precmd() { PS1=$'%{\e]133;A\a%}ready> %{\e]133;B\a%}'; }`,
			}[c.name]+"\n")
			s, _ := w.openShell(c.name)
			s.typed("clear; echo _$PS1$PS0$PROMPT_EOL_MARK$precmd_functions$preexec_functions-\n")
			require.NotContains(t, s.match(`(?m)^(_.*-)$`), "aid=")
			s.close()
		})
	}
}

// With any default shell, a pane is shared, but not a second time if agents see tmux itself.
func TestPanesOfTmuxAreShared(t *testing.T) {
	t.Parallel()
	for _, c := range initShells {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t, c.name, "ps")
			path := strings.TrimSpace(w.do("sh", "-c", "command -v "+c.name).out)
			w.makeHome()
			w.write(c.file, c.rest)
			w.write("home/.bash_profile", ". ~/.bashrc\n")
			w.write("more.conf", "set -g default-shell "+path+"\n"+w.mustGateway("init", "tmux"))
			s := w.window(80, 24)
			s.wait("ready>")
			s.typed("clear; echo \"in\"\"=$TERMINALPROXY_SESSION=\"\n")
			session := s.match(`in=(.+)=\s+ready>`)
			require.Equal(t, w.session(), session)
			s.resize(90, 20)
			s.waitSize("20 90")
			w.write("inner.conf", w.content("tmux.conf")+"set -g status on\nset -g status-left INNER\n")
			s.typed("clear; env -u TMUX tmux -u -S " + w.path("inner") + " -f " + w.path("inner.conf") + " new-session\n")
			s.wait("INNER")
			s.wait("ready>")
			s.typed("clear; echo \"inner in\"\"=$TERMINALPROXY_SESSION=\"\n")
			s.match(`inner in=` + session + `=\s+ready>`)
			require.Equal(t, session, w.session())
			s.typed("tmux kill-server\n")
			s.match(`server exited\]\s+ready>`)
			s.typed("exit\n")
			w.until(func() bool { return w.command("tmux", "-S", w.tmux, "has-session", "-t", s.name).Run() != nil }, s.screen)
		})
	}
}

// The settings are JSON. Their commands run as VS Code runs them, and VS Code's own environment may
// come from a shared terminal.
func TestVSCodesTerminalsAreShared(t *testing.T) {
	t.Parallel()
	for _, c := range initShells {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t, c.name, "script")
			w.makeHome()
			w.write(c.file, c.rest)
			shell, err := exec.LookPath(c.name)
			require.NoError(t, err)
			w.env = append(w.env, "SHELL="+shell)
			var settings struct {
				Profiles map[string]struct {
					Path []string
					Args []string
					Env  map[string]any
				} `json:"terminal.integrated.profiles.linux"`
				Off        []string              `json:"terminal.integrated.commandsToSkipShell"`
				Title      string                `json:"terminal.integrated.tabs.title"`
				Default    string                `json:"terminal.integrated.defaultProfile.linux"`
				Automation struct{ Path string } `json:"terminal.integrated.automationProfile.linux"`
			}
			require.NoError(t, json.Unmarshal([]byte(w.mustGateway("init", "vscode")), &settings))
			require.Equal(t, shell, settings.Automation.Path)
			profile := settings.Profiles[settings.Default]
			require.Contains(t, settings.Off, "-workbench.action.terminal.goToRecentDirectory")
			require.Equal(t, "${sequence}", settings.Title)
			require.Equal(t, []string{w.path("home/config/terminalproxy/vscode/" + c.name), shell}, profile.Path, "the second is for where the first is missing")
			value, unset := profile.Env["TERMINALPROXY_SESSION"]
			require.True(t, unset && value == nil, "it is taken out of the environment")
			w.env = append(w.env, "TERMINALPROXY_SESSION=outer-abcd")
			require.Empty(t, profile.Args)
			added, marked := []string(nil), "" // VS Code's own flags, for its shell integration
			if c.name == "bash" {
				added, marked = []string{"--init-file", w.write("integration.sh", ". ~/.bashrc; VSCODE=marked\n")}, "marked"
			}
			s := w.leader(80, append([]string{"-u", "TERMINALPROXY_SESSION", "TERM_PROGRAM=vscode", profile.Path[0]}, added...)...)
			s.wait("ready>")
			s.typed("clear; echo \"in\"\"=$TERMINALPROXY_SESSION= $VSCODE.\"\n")
			require.Equal(t, w.session(), s.match(`in=(.+)= `+marked+`\.\s+ready>`))
			s.typed("exit 3\n")
			require.Equal(t, "3", s.exitStatus())
		})
	}
}

// gateway init lists the names that it knows, and prints its lines as JSON.
func TestInitListsItsShells(t *testing.T) {
	w := newWorld(t)
	for _, args := range [][]string{{"init"}, {"init", "csh"}} {
		got := w.gateway(args...)
		require.Equal(t, 2, got.status)
		require.Regexp(t, regexp.MustCompile(`bash, zsh, fish, tmux, vscode`), got.err)
	}
	var answer struct{ Shell, Snippet string }
	require.NoError(t, json.Unmarshal([]byte(w.mustGateway("init", "bash", "--json")), &answer))
	require.Equal(t, w.mustGateway("init", "bash"), answer.Snippet)
}
