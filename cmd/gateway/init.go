package main

import (
	"cmp"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"terminalproxy/cmd/internal/terminals"
	"terminalproxy/gateway"
	"terminalproxy/proxy"
)

//go:embed init
var initFiles embed.FS

// initVariable keeps a start file's snippet from sharing: with any value. "started" is the snippet's own, for the shell that it shares.
const initVariable = "TERMINALPROXY_INIT"

// The variables of what is no new terminal of the user's here: a shared one, or one that the user wants for himself; another user's;
// an editor's, which keeps keys back; and, unless asked for, a login from elsewhere.
var (
	initUnless = []string{proxy.SessionVariable, initVariable}
	initInside = []string{"SUDO_USER", "SUDO_UID", "INSIDE_EMACS", "NVIM", "NVIM_LISTEN_ADDRESS", "VIM_TERMINAL"}
	initRemote = []string{"SSH_CONNECTION", "SSH_CLIENT", "SSH_TTY"}
)

// opener is what opens terminals and can share them, with where its snippet belongs.
type opener struct {
	name, place string
	snippet     func(*snippet) (string, error)
}

// openers are those for which there is a snippet.
func openers() []opener {
	static := func(shell, rc string) string {
		file := "~/.terminalproxy." + shell
		return "gateway init " + shell + " > " + file + "  # and the first line of " + rc + ": test -r " + file + " && . " + file
	}
	return []opener{
		{"bash", static("bash", "~/.bashrc"), func(s *snippet) (string, error) { return s.shell("bash", quoteShell(s.proxy), "${", "-}") }},
		{"zsh", static("zsh", "~/.zshrc"), func(s *snippet) (string, error) { return s.shell("zsh", quoteShell(s.proxy), "${", "-}") }},
		{"fish", "gateway init fish > ~/.config/fish/conf.d/00-terminalproxy.fish", func(s *snippet) (string, error) {
			return s.shell("fish", "'"+strings.NewReplacer(`\`, `\\`, "'", `\'`).Replace(s.proxy)+"'", "", " ")
		}},
		{"tmux", "gateway init tmux >> ~/.tmux.conf", (*snippet).tmux},
		{"vscode", "gateway init vscode  # its lines belong into settings.json, and name a script that it writes beside your configuration", (*snippet).vscode},
	}
}

// newInit prints what shares each new terminal.
func (a *app) newInit() *cobra.Command {
	var s snippet
	var names, places []string
	for _, o := range openers() {
		names, places = append(names, o.name), append(places, "  "+o.place)
	}
	known := strings.Join(names, ", ")
	cmd := &cobra.Command{
		Use: "init SHELL", Short: "Print the lines that share each new terminal of a shell, of tmux or of VS Code", Args: cobra.ArbitraryArgs,
		Long: "init prints lines for the start file of bash, zsh or fish, or for the configuration of tmux or VS Code, with which each new\n" +
			"terminal runs under proxy --agent: agents see it, and type once you let them. Scripts, logins by ssh, terminals of editors and\n" +
			"of other users, dumb ones and the console stay as they are. A shell also gets the marks of gateway marks, where it has none.\n" +
			"Where proxy is missing or fails, the shell is the plain one. " + initVariable + "=off in the environment shares nothing.",
		Example:           strings.Join(places, "\n"),
		ValidArgsFunction: cobra.FixedCompletions(names, cobra.ShellCompDirectiveNoFileComp),
		RunE: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 {
				return fail(statusUsage, "init: name one of %s", known).hinted("for bash: " + openers()[0].place)
			}
			for _, o := range openers() {
				if o.name == args[0] {
					return a.printInit(o, &s)
				}
			}
			return fail(statusUsage, "init: there are no lines for %.40q: name one of %s", args[0], known).hinted("see gateway init --help")
		},
	}
	cmd.Flags().BoolVar(&s.ssh, "ssh", false, "share logins by ssh, too")
	return cmd
}

func (a *app) printInit(o opener, s *snippet) error {
	if err := s.find(); err != nil {
		return err
	}
	text, err := o.snippet(s)
	if err != nil {
		return err
	}
	return a.answer(map[string]any{"shell": o.name, "snippet": text}, strings.TrimSuffix(text, "\n"))
}

// snippet is what the lines are made of.
type snippet struct {
	ssh            bool
	proxy, gateway string // paths
}

// find finds the programs by the way that this one was called, which an upgrade leaves as it is: the file itself may lie in a place
// of one version. The start file cannot look for them: what sets PATH comes later.
func (s *snippet) find() error {
	var dirs []string
	for _, path := range []func() (string, error){func() (string, error) { return exec.LookPath(os.Args[0]) }, os.Executable} {
		if path, err := path(); err == nil {
			dirs = append(dirs, filepath.Dir(path))
		}
	}
	if path, err := exec.LookPath("proxy"); err == nil {
		dirs = append(dirs, filepath.Dir(path))
	}
	for _, dir := range dirs {
		dir, err := filepath.Abs(dir)
		if err != nil {
			return err
		}
		path := filepath.Join(dir, "proxy")
		if _, err := exec.LookPath(path); err == nil {
			s.proxy, s.gateway = path, filepath.Join(dir, "gateway")
			return nil
		}
	}
	return fail(statusRefused, "init: there is no proxy beside gateway, and none in PATH").hinted("install both: make install")
}

// unless are the names of the variables with which nothing is shared.
func (s *snippet) unless(names []string) []string {
	names = append([]string(nil), names...)
	if s.ssh {
		return names
	}
	return append(names, initRemote...)
}

// shell is the lines for a shell. Its variables are written between begin and end.
func (s *snippet) shell(name, proxy, begin, end string) (string, error) {
	text, err := initFiles.ReadFile("init/init." + name)
	if err != nil {
		return "", err
	}
	var unless strings.Builder
	for _, v := range s.unless(append(initUnless, initInside...)) {
		unless.WriteString(begin + v + end)
	}
	marks, _ := marksFor(name)
	return strings.NewReplacer("@PROXY@", proxy, "@UNLESS@", strings.TrimSpace(unless.String())).Replace(string(text)) + marks, nil
}

// command is a command line for sh that runs the user's shell, with login after it, shared. There is no single quote in it.
func (s *snippet) command(unless []string, login string) (string, error) {
	text, err := initFiles.ReadFile("init/init.sh")
	if err != nil {
		return "", err
	}
	line := strings.Join(strings.Fields(string(text)), " ")
	return strings.NewReplacer("@PROXY@", `"`+strings.NewReplacer(`\`, `\\`, `"`, `\"`, `$`, `\$`, "`", "\\`").Replace(s.proxy)+`"`,
		"@LOGIN@", login, "@UNLESS@", "$"+strings.Join(unless, "$")).Replace(line), nil
}

// tmux is the lines for tmux, which has the user's shell read the command.
func (s *snippet) tmux() (string, error) {
	text, err := initFiles.ReadFile("init/init.tmux")
	if err != nil {
		return "", err
	}
	line, err := s.command(s.unless(initUnless), " -l")
	if err != nil {
		return "", err
	}
	command := `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, `$`, `\$`).Replace("exec /bin/sh -c '"+line+"'") + `"`
	return strings.NewReplacer("@COMMAND@", command, "@GATEWAY@", s.gateway).Replace(string(text)), nil
}

// vscode is the settings of VS Code, and writes the script that they name. Its tasks keep a plain
// shell, and its own environment, which may come from a shared terminal, does not count.
func (s *snippet) vscode() (string, error) {
	shell := cmp.Or(os.Getenv("SHELL"), "/bin/sh")
	script, err := s.writeStarter(shell)
	if err != nil {
		return "", unwritten(fmt.Errorf("init: %w", err), "XDG_CONFIG_HOME")
	}
	const name, section = "shared", "terminal.integrated."
	settings := map[string]any{
		section + "commandsToSkipShell": terminals.VSCodeSettings(),
		section + "tabs.title":          "${sequence}",
	}
	for system, args := range map[string][]string{"linux": {}, "osx": {"-l"}} {
		settings[section+"profiles."+system] = map[string]any{name: map[string]any{
			"path": []string{script, shell}, "args": args, "env": map[string]any{proxy.SessionVariable: nil},
		}}
		settings[section+"defaultProfile."+system] = name
		settings[section+"automationProfile."+system] = map[string]string{"path": shell}
	}
	var text strings.Builder
	enc := json.NewEncoder(&text)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	err = enc.Encode(settings)
	return text.String(), err
}

// writeStarter writes the script that VS Code starts in place of the shell, and returns its path.
// It is called as the shell is: VS Code gives its shell integration to what has the name of a shell
// that it knows, and to no command line.
func (s *snippet) writeStarter(shell string) (path string, err error) {
	line, err := s.command([]string{initVariable}, ` "$@"`)
	if err != nil {
		return "", err
	}
	config, err := gateway.ConfigPath()
	if err != nil {
		return "", err
	}
	path = filepath.Join(filepath.Dir(config), "vscode", filepath.Base(shell))
	text := "#!/bin/sh\n# Starts a shared " + filepath.Base(shell) + " for VS Code. From `gateway init vscode`.\nSHELL=" + quoteShell(shell) + "\n" + line + "\n"
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return "", err
	}
	fresh, err := os.CreateTemp(filepath.Dir(path), ".new-*")
	if err != nil {
		return "", err
	}
	defer func() { _ = os.Remove(fresh.Name()) }()
	_, err = fresh.WriteString(text)
	if err = errors.Join(err, fresh.Chmod(0o700), fresh.Close()); err != nil {
		return "", err
	}
	return path, os.Rename(fresh.Name(), path)
}

// quoteShell is a word for sh, bash and zsh.
func quoteShell(word string) string { return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'" }
