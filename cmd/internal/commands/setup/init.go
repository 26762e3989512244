// Package setup prepares the shell, the agents and the manual pages.
package setup

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

	"terminalproxy/cmd/internal/askpass"
	"terminalproxy/cmd/internal/cli"
	"terminalproxy/cmd/internal/cli/marks"
	"terminalproxy/cmd/internal/cli/terminals"
	"terminalproxy/gateway/userdirs"
	"terminalproxy/proxy"
)

//go:embed init
var initFiles embed.FS

// initVariable prevents a start file's snippet from sharing the terminal if it has any value. The
// snippet sets it to "started" for the shell that it shares.
const initVariable = "TERMINALPROXY_INIT"

// These variables mark terminals that are not shared: those shared already, or excluded by the
// user; another user's; an editor's, which intercepts keys; and, unless asked for, a remote login.
var (
	initUnless = []string{proxy.SessionVariable, initVariable}
	initInside = []string{
		"SUDO_USER",
		"SUDO_UID",
		"INSIDE_EMACS",
		"NVIM",
		"NVIM_LISTEN_ADDRESS",
		"VIM_TERMINAL",
	}
	initRemote = []string{"SSH_CONNECTION", "SSH_CLIENT", "SSH_TTY"}
)

// opener is a program that opens terminals and can share them, and the file for its snippet.
type opener struct {
	name, place string
	snippet     func(*snippet) (string, error)
}

// openers returns the openers that have a snippet.
func openers() []opener {
	static := func(shell, rc string) string {
		file := "~/.terminalproxy." + shell
		return "gateway init " + shell + " > " + file + "  # and the first line of " + rc +
			": test -r " + file + " && . " + file
	}
	return []opener{
		{
			"bash",
			static("bash", "~/.bashrc"),
			func(s *snippet) (string, error) {
				return s.shellLines("bash", quoteShell(s.proxy), "${", "-}")
			},
		},
		{
			"zsh",
			static("zsh", "~/.zshrc"),
			func(s *snippet) (string, error) {
				return s.shellLines("zsh", quoteShell(s.proxy), "${", "-}")
			},
		},
		{
			"fish",
			"gateway init fish > ~/.config/fish/conf.d/00-terminalproxy.fish",
			func(s *snippet) (string, error) {
				return s.shellLines("fish",
					"'"+strings.NewReplacer(`\`, `\\`, "'", `\'`).Replace(s.proxy)+"'", "", " ")
			},
		},
		{"tmux", "gateway init tmux >> ~/.tmux.conf", (*snippet).tmuxLines},
		{
			"vscode",
			"gateway init vscode  # put its lines into settings.json; they name a script that " +
				"it writes beside your configuration",
			(*snippet).vscodeSettings,
		},
		{
			"agent",
			"gateway init agent  # in the environment of a coding agent: its sudo, git and ssh ask you",
			(*snippet).agentLines,
		},
		{
			"git",
			"gateway init git >> ~/.gitconfig  # the git of agents that take GIT_ASKPASS away asks you",
			(*snippet).gitLines,
		},
		{
			"gpg",
			"gateway init gpg >> ~/.gnupg/gpg-agent.conf && gpgconf --reload gpg-agent  # the gpg " +
				"of coding agents asks you",
			(*snippet).gpgLines,
		},
	}
}

// NewInit makes the command that prints the lines that share each new terminal.
func NewInit(env *cli.Env) *cobra.Command {
	var opts initOptions
	var names, places []string
	for _, o := range openers() {
		names, places = append(names, o.name), append(places, "  "+o.place)
	}
	cmd := &cobra.Command{
		Use:   "init SHELL",
		Short: "Print the lines that share each new terminal of a shell, of tmux or of VS Code",
		Args:  cobra.ArbitraryArgs,
		Long: "init prints lines for the start file of bash, zsh or fish, or for the " +
			"configuration of tmux or VS Code. With them, each new\n" +
			"terminal runs under proxy --agent: agents see it, and type once you let them. " +
			"Scripts, logins by ssh, terminals of editors and\n" +
			"of other users, dumb terminals and the console stay as they are. A shell without " +
			"marks also gets those of gateway marks.\n" +
			"If proxy is missing or fails, you get the plain shell. " + initVariable +
			"=off in the environment shares nothing.\n\n" +
			"In such a shell, sudo, git and ssh of coding agents ask you for their passwords at " +
			"your terminal. For an agent that you start\n" +
			"otherwise, init agent prints the variables. They name " + askpass.Name +
			", a link that init makes in your state directory. With the\n" +
			"lines of init git, git asks so under agents that empty its variable. With the line of " +
			"init gpg, gpg-agent asks you for what a\n" +
			"coding agent signs or decrypts; all else, it asks as before.",
		Example:           strings.Join(places, "\n"),
		ValidArgsFunction: cobra.FixedCompletions(names, cobra.ShellCompDirectiveNoFileComp),
		RunE: func(_ *cobra.Command, args []string) error {
			opts.shells = args
			return runInit(env, opts)
		},
	}
	cmd.Flags().BoolVar(&opts.ssh, "ssh", false, "share logins by ssh, too")
	return cmd
}

// initOptions are the options of gateway init.
type initOptions struct {
	shells []string // exactly one is valid
	ssh    bool
}

// runInit prints the lines for a shell, tmux or VS Code.
func runInit(env *cli.Env, opts initOptions) error {
	var names []string
	for _, o := range openers() {
		if len(opts.shells) == 1 && o.name == opts.shells[0] {
			return printInit(env, o, &snippet{ssh: opts.ssh})
		}
		names = append(names, o.name)
	}
	known := strings.Join(names, ", ")
	if len(opts.shells) != 1 {
		return cli.Fail(cli.StatusUsage, "init: name one of %s", known).
			WithHint("for bash: " + openers()[0].place)
	}
	return cli.Fail(cli.StatusUsage, "init: there are no lines for %.40q: name one of %s",
		opts.shells[0], known).WithHint("see gateway init --help")
}

func printInit(env *cli.Env, o opener, s *snippet) error {
	if err := s.findPrograms(); err != nil {
		return err
	}
	text, err := o.snippet(s)
	if err != nil {
		return err
	}
	return env.PrintAnswer(map[string]any{"shell": o.name, "snippet": text},
		strings.TrimSuffix(text, "\n"))
}

// snippet holds the parts of the lines.
type snippet struct {
	ssh            bool
	proxy, gateway string // paths
}

// findPrograms finds the programs through the path by which this one was called, which stays valid
// across upgrades: the file itself may lie in the directory of one version. The start file cannot
// search PATH, which may be set later.
func (s *snippet) findPrograms() error {
	var dirs []string
	for _, path := range []func() (string, error){
		func() (string, error) { return exec.LookPath(os.Args[0]) },
		os.Executable,
	} {
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
	return cli.Fail(
		cli.StatusRefused,
		"init: no proxy beside gateway or in PATH",
	).WithHint("install both: make install")
}

// guardVariables returns the names of the variables that turn sharing off.
func (s *snippet) guardVariables(names []string) []string {
	names = append([]string(nil), names...)
	if s.ssh {
		return names
	}
	return append(names, initRemote...)
}

// shellLines returns the lines for a shell. Its variables are written between begin and end.
func (s *snippet) shellLines(name, proxy, begin, end string) (string, error) {
	text, err := initFiles.ReadFile("init/init." + name)
	if err != nil {
		return "", err
	}
	var unless strings.Builder
	for _, v := range s.guardVariables(append(initUnless, initInside...)) {
		unless.WriteString(begin + v + end)
	}
	agents, err := s.agentFunctions(name)
	if err != nil {
		return "", err
	}
	marks, _ := marks.Snippet(name)
	return strings.NewReplacer("@PROXY@", proxy, "@UNLESS@",
		strings.TrimSpace(unless.String())).Replace(string(text)) + agents + marks, nil
}

// shellCommand returns a command line for sh that runs the user's shell, with login after it,
// shared. It contains no single quote.
func (s *snippet) shellCommand(unless []string, login string) (string, error) {
	text, err := initFiles.ReadFile("init/init.sh")
	if err != nil {
		return "", err
	}
	line := strings.Join(strings.Fields(string(text)), " ")
	return strings.NewReplacer("@PROXY@",
		`"`+strings.NewReplacer(`\`, `\\`, `"`, `\"`, `$`, `\$`, "`", "\\`").Replace(s.proxy)+`"`,
		"@LOGIN@", login, "@UNLESS@", "$"+strings.Join(unless, "$")).Replace(line), nil
}

// tmuxLines returns the lines for tmux, which has the user's shell read the command.
func (s *snippet) tmuxLines() (string, error) {
	text, err := initFiles.ReadFile("init/init.tmux")
	if err != nil {
		return "", err
	}
	line, err := s.shellCommand(s.guardVariables(initUnless), " -l")
	if err != nil {
		return "", err
	}
	command := `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, `$`, `\$`).Replace("exec /bin/sh -c '"+line+"'") + `"`
	return strings.NewReplacer("@COMMAND@", command, "@GATEWAY@",
		s.gateway).Replace(string(text)), nil
}

// vscodeSettings returns the settings of VS Code, and writes the script that they name. Its tasks
// keep a plain shell, and its own environment, which may come from a shared terminal, does not
// count.
func (s *snippet) vscodeSettings() (string, error) {
	shell := cmp.Or(os.Getenv("SHELL"), "/bin/sh")
	script, err := s.writeStarter(shell)
	if err != nil {
		return "", cli.WriteFailure(fmt.Errorf("init: %w", err), "XDG_CONFIG_HOME")
	}
	const name, section = "shared", "terminal.integrated."
	settings := map[string]any{
		section + "commandsToSkipShell": terminals.VSCodeSettings(),
		section + "tabs.title":          "${sequence}",
	}
	for system, args := range map[string][]string{"linux": {}, "osx": {"-l"}} {
		settings[section+"profiles."+system] = map[string]any{name: map[string]any{
			"path": []string{script, shell},
			"args": args,
			"env":  map[string]any{proxy.SessionVariable: nil},
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
// The script has the shell's name: VS Code adds its shell integration to the names of shells that
// it knows, and to no command line.
func (s *snippet) writeStarter(shell string) (path string, err error) {
	line, err := s.shellCommand([]string{initVariable}, ` "$@"`)
	if err != nil {
		return "", err
	}
	config, err := userdirs.ConfigPath()
	if err != nil {
		return "", err
	}
	path = filepath.Join(filepath.Dir(config), "vscode", filepath.Base(shell))
	text := "#!/bin/sh\n# Starts a shared " + filepath.Base(shell) +
		" for VS Code. From `gateway init vscode`.\nSHELL=" + quoteShell(shell) + "\n" + line + "\n"
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

// quoteShell quotes a word for sh, bash and zsh.
func quoteShell(word string) string { return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'" }
