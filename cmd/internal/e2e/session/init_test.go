package session_test

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"terminalproxy/cmd/internal/e2e/world"

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
func shellWorld(t *testing.T, shell, program string, more ...string) *world.World {
	t.Helper()
	w := world.New(t, shell, "script")
	makeHome(w)
	if program != "" {
		w.CLI = w.Path(program)
		require.NoError(t, os.MkdirAll(filepath.Dir(w.CLI), 0o700))
		require.NoError(t, os.Link(filepath.Join(world.Root, "bin", "gateway"), w.CLI))
		w.WriteScript(filepath.Dir(program)+"/proxy", "")
	}
	for _, s := range initShells {
		if s.name == shell {
			w.Write(s.file, w.MustGateway(append([]string{"init", shell}, more...)...)+s.rest)
		}
	}
	return w
}

// makeHome sets up a user's home in which fish has no manual pages to read.
func makeHome(w *world.World) {
	w.T.Helper()
	for _, dir := range []string{"home/.local/share/fish/generated_completions", "home/config/fish"} {
		require.NoError(w.T, os.MkdirAll(w.Path(dir), 0o700))
	}
}

// openShell runs a shell in a new window, waits for its prompt, and reports whether it is shared.
func openShell(w *world.World, shell string, args ...string) (s *world.Terminal, session string) {
	w.T.Helper()
	s = leader(w, 80, append([]string{shell}, args...)...)
	s.Wait("ready>")
	s.Typed("clear; echo \"in\"\"=$TERMINALPROXY_SESSION= init=$TERMINALPROXY_INIT=\"\n")
	return s, s.Match(`in=(.*)= init=(?:off)?=\s+ready>`)
}

// leader opens a window for a program that is the first of its terminal, as in a terminal emulator.
func leader(w *world.World, cols int, args ...string) *world.Terminal {
	w.T.Helper()
	line := "exec env"
	for _, arg := range args {
		line += " '" + strings.ReplaceAll(arg, "'", `'\''`) + "'"
	}
	file := w.Write(fmt.Sprintf("leader%d", world.Worlds.Add(1)), line+"\n")
	return w.Window(cols, 24, "sh", "-c", "script -qec 'exec sh "+file+"' /dev/null; echo ended=$?=; exec cat")
}

func exitStatus(s *world.Terminal) string { s.W.T.Helper(); return s.Match(`ended=(\d+)=`) }

// waitSize waits until the shell's terminal has a size, in stty's words.
func waitSize(s *world.Terminal, size string) {
	s.W.T.Helper()
	s.Typed("clear; sh -c 'until stty size | grep -qx \"" + size + "\"; do sleep .1; done; echo now si\"\"zed'\n")
	s.Match(`now sized\s+ready>`)
}

// A new terminal is shared: it opens with the shell that it would have had, reports its commands,
// has the window's size, and closes.
func TestANewTerminalIsShared(t *testing.T) {
	t.Parallel()
	for _, c := range initShells {
		t.Run(c.name, func(t *testing.T) {
			w := shellWorld(t, c.name, "")
			w.Write("home/.bash_profile", ". ~/.bashrc\n")
			plain, session := openShell(w, "TERMINALPROXY_INIT=off", c.name)
			require.Empty(t, session)
			s, session := openShell(w, c.name, "-l")
			require.Equal(t, w.Session(), session)
			plain.Typed("clear; echo level=$SHLVL=\n")
			s.Typed("clear; echo level=$SHLVL=\n")
			require.Equal(t, plain.Match(`level=(\d+)=\s+ready>`), s.Match(`level=(\d+)=\s+ready>`))
			switch c.name {
			case "bash":
				s.Typed("clear; shopt -q login_shell && echo log''in\n")
			case "zsh":
				s.Typed("clear; [[ -o login ]] && echo log''in\n")
			case "fish":
				s.Typed("clear; status is-login && echo log''in\n")
			}
			s.Match(`login\s+ready>`)
			s.Typed("sh -c 'echo out; exit 42'\n")
			s.Match(`out\s+ready>`)
			w.Until(func() bool {
				got := w.Gateway("read", session, "--command")
				return strings.Contains(got.Out, "exit status 42")
			},
				func() string { return s.Screen() + w.Gateway("read", session, "--command").Err })
			require.Contains(t, w.MustGateway("read", session, "--command"), "\nout\n")
			s.Resize(100, 30)
			waitSize(s, "30 100")
			s.Typed("clear; echo in\"\"side; " + c.name + "; echo ba\"\"ck\n") // a shell within belongs to the same session
			s.Match(`inside\s+ready>`)
			require.Equal(t, session, w.Session())
			s.Typed("exit\n")
			s.Match(`back\s+ready>`)
			s.Typed("exit 3\n")
			require.Equal(t, "3", exitStatus(s))
			plain.Close()
		})
	}
}

// brokenProxies are programs that may stand in for proxy. All shells meet every other one.
var brokenProxies = []struct{ name, script, word string }{
	{"fails", "#!/bin/sh\nexit 1\n", "ended with status 1 before the shell did"},
	{"crashes", "#!/bin/sh\nkill -SEGV $$\n", "before the shell did"},
	{"is another program", "#!/bin/sh\nwhile [ \"$1\" != -- ]; do shift; done\nshift\nexec \"$@\"\n", ""},
	{"is no program", "\x7fELFno", "before the shell did"},
	{"is gone", "", ""},
}

// The plain shell opens, with a message.
func TestATerminalSurvivesABrokenProxy(t *testing.T) {
	t.Parallel()
	for _, c := range initShells {
		for i, b := range brokenProxies {
			if c.name != "bash" && i%2 != 0 {
				continue
			}
			t.Run(c.name+" "+b.name, func(t *testing.T) {
				w := shellWorld(t, c.name, "broken/gateway")
				w.Write("broken/proxy", b.script)
				if b.script == "" {
					require.NoError(t, os.Remove(w.Path("broken/proxy")))
				}
				s := leader(w, 200, c.name)
				s.Wait("ready>")
				if b.word != "" {
					s.Wait(b.word)
					s.Wait("this terminal is not shared")
				} else {
					require.NotContains(t, s.Screen(), "gateway")
				}
				if b.name == "is another program" {
					s.Typed("clear; exit 3\n")
					s.Match(`this terminal is not shared\s+ready>`)
				}
				waitSize(s, "24 200")
				s.Typed("exit 3\n")
				require.Equal(t, "3", exitStatus(s))
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
			s, session := openShell(w, c.name)
			require.NotEmpty(t, session)
			s.Typed("clear; sh -c 'echo parent=$(ps -o ppid= -p $PPID)='\n")
			w.Kill(world.AboveLeader(s.Match(`parent= *(\d+)=`)), syscall.SIGKILL)
			s.Match(`ended with status 137[^>]*ready>`)
			s.Typed("clear; echo \"in\"\"=$TERMINALPROXY_SESSION=\"; stty size\n")
			s.Match(`in==\s+24 80\s+ready>`)
			s.Typed("exit 4\n")
			require.Equal(t, "4", exitStatus(s))
			require.NoError(t, os.RemoveAll(w.Run())) // of the killed proxy
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
				s, session := openShell(w, args[0], args[1:]...)
				require.Empty(t, session, variable)
				s.Close()
			}
			require.Empty(t, w.Sessions())
		})
		t.Run(c.name+" by ssh", func(t *testing.T) {
			w := shellWorld(t, c.name, "", "--ssh")
			s, session := openShell(w, "SSH_CONNECTION=10.0.0.1 1 10.0.0.2 22", c.name)
			require.Equal(t, w.Session(), session)
			s.Close()
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
				got := w.Do(c.name, flags, "echo as it was; exit 5")
				require.Equal(t, "as it was\n", got.Out, flags)
				require.Equal(t, 5, got.Status, flags)
				require.NotContains(t, got.Err, "gateway")
			}
			s := leader(w, 80, c.name, "-ic", "echo; echo; echo \"in=$TERMINALPROXY_SESSION=\"; exit 6")
			require.Equal(t, "6", exitStatus(s))
			s.Wait("in==")
			if c.name == "fish" {
				return
			}
			w.Write("script", "echo; echo; echo script in=$TERMINALPROXY_SESSION=; exit 7\n")
			s = leader(w, 80, c.name, "-i", "script")
			require.Equal(t, "7", exitStatus(s))
			s.Wait("script in==")
			strict := w.Do(c.name, "-euc", ". ./"+c.file+"; echo strict")
			require.Equal(t, "strict\n", strict.Out, strict.Err)
			w.Env = append(w.Env, "BASH_ENV="+w.Path(c.file))
			require.Equal(t, "env\n", w.Do(c.name, "-c", "echo env").Out)
		})
	}
}

// A shell whose prompt already has marks gets no second ones.
func TestOthersMarksStay(t *testing.T) {
	t.Parallel()
	for _, c := range initShells[:2] {
		t.Run(c.name, func(t *testing.T) {
			w := shellWorld(t, c.name, "")
			w.Write(c.file, w.Content(c.file)+map[string]string{
				"bash": `PS1='\[\e]133;A\a\]ready> \[\e]133;B\a\]'`,
				"zsh":  `precmd() { PS1=$'%{\e]133;A\a%}ready> %{\e]133;B\a%}'; }`,
			}[c.name]+"\n")
			s, _ := openShell(w, c.name)
			s.Typed("clear; echo _$PS1$PS0$PROMPT_EOL_MARK$precmd_functions$preexec_functions-\n")
			require.NotContains(t, s.Match(`(?m)^(_.*-)$`), "aid=")
			s.Close()
		})
	}
}

// With any default shell, a pane is shared, but not a second time if agents see tmux itself.
func TestPanesOfTmuxAreShared(t *testing.T) {
	t.Parallel()
	for _, c := range initShells {
		t.Run(c.name, func(t *testing.T) {
			w := world.New(t, c.name, "ps")
			path := strings.TrimSpace(w.Do("sh", "-c", "command -v "+c.name).Out)
			makeHome(w)
			w.Write(c.file, c.rest)
			w.Write("home/.bash_profile", ". ~/.bashrc\n")
			w.Write("more.conf", "set -g default-shell "+path+"\n"+w.MustGateway("init", "tmux"))
			s := w.Window(80, 24)
			s.Wait("ready>")
			s.Typed("clear; echo \"in\"\"=$TERMINALPROXY_SESSION=\"\n")
			session := s.Match(`in=(.+)=\s+ready>`)
			require.Equal(t, w.Session(), session)
			s.Resize(90, 20)
			waitSize(s, "20 90")
			w.Write("inner.conf", w.Content("tmux.conf")+"set -g status on\nset -g status-left INNER\n")
			s.Typed("clear; env -u TMUX tmux -u -S " + w.Path("inner") + " -f " + w.Path("inner.conf") + " new-session\n")
			s.Wait("INNER")
			s.Wait("ready>")
			s.Typed("clear; echo \"inner in\"\"=$TERMINALPROXY_SESSION=\"\n")
			s.Match(`inner in=` + session + `=\s+ready>`)
			require.Equal(t, session, w.Session())
			s.Typed("tmux kill-server\n")
			s.Match(`server exited\]\s+ready>`)
			s.Typed("exit\n")
			w.Until(func() bool { return w.Command("tmux", "-S", w.Tmux, "has-session", "-t", s.Name).Run() != nil }, s.Screen)
		})
	}
}

// The settings are JSON. Their commands run as VS Code runs them, and VS Code's own environment may
// come from a shared terminal.
func TestVSCodesTerminalsAreShared(t *testing.T) {
	t.Parallel()
	for _, c := range initShells {
		t.Run(c.name, func(t *testing.T) {
			w := world.New(t, c.name, "script")
			makeHome(w)
			w.Write(c.file, c.rest)
			shell, err := exec.LookPath(c.name)
			require.NoError(t, err)
			w.Env = append(w.Env, "SHELL="+shell)
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
			require.NoError(t, json.Unmarshal([]byte(w.MustGateway("init", "vscode")), &settings))
			require.Equal(t, shell, settings.Automation.Path)
			profile := settings.Profiles[settings.Default]
			require.Contains(t, settings.Off, "-workbench.action.terminal.goToRecentDirectory")
			require.Equal(t, "${sequence}", settings.Title)
			require.Equal(t, []string{w.Path("home/config/terminalproxy/vscode/" + c.name), shell}, profile.Path, "the second is for where the first is missing")
			value, unset := profile.Env["TERMINALPROXY_SESSION"]
			require.True(t, unset && value == nil, "it is taken out of the environment")
			w.Env = append(w.Env, "TERMINALPROXY_SESSION=outer-abcd")
			require.Empty(t, profile.Args)
			added, marked := []string(nil), "" // VS Code's own flags, for its shell integration
			if c.name == "bash" {
				added, marked = []string{"--init-file", w.Write("integration.sh", ". ~/.bashrc; VSCODE=marked\n")}, "marked"
			}
			s := leader(w, 80, append([]string{"-u", "TERMINALPROXY_SESSION", "TERM_PROGRAM=vscode", profile.Path[0]}, added...)...)
			s.Wait("ready>")
			s.Typed("clear; echo \"in\"\"=$TERMINALPROXY_SESSION= $VSCODE.\"\n")
			require.Equal(t, w.Session(), s.Match(`in=(.+)= `+marked+`\.\s+ready>`))
			s.Typed("exit 3\n")
			require.Equal(t, "3", exitStatus(s))
		})
	}
}
