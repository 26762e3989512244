package main

import (
	"embed"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"terminalproxy/protocol"
)

//go:embed marks
var markFiles embed.FS

// markShells are the shells for which there is a snippet, with where its line belongs.
var markShells = []struct{ shell, line string }{
	{"bash", `eval "$(gateway marks bash)"  # at the end of ~/.bashrc`},
	{"zsh", `eval "$(gateway marks zsh)"  # at the end of ~/.zshrc`},
	{
		"fish",
		`gateway marks fish | source  # in ~/.config/fish/config.fish; fish 4 has marks of its own`,
	},
}

// newMarks prints what a shell needs to tell where its commands begin and end.
func (a *app) newMarks() *cobra.Command {
	var shells, lines []string
	for _, s := range markShells {
		shells, lines = append(shells, s.shell), append(lines, "  "+s.line)
	}
	return &cobra.Command{
		Use:   "marks SHELL",
		Short: "Print the lines that make a shell mark its commands, for its start file",
		Args:  cobra.ArbitraryArgs,
		Long: "marks prints lines that make bash, zsh or fish mark each command: where it and " +
			"its output begin and end, how it ended and in\n" +
			"which directory (OSC 133 and 7). Agents can then read the last command of your " +
			"shell, and gateway read --command prints it;\n" +
			"many terminals use the marks too. Your prompt and its hooks stay as they are, and " +
			"a dumb terminal gets no marks.",
		Example:           strings.Join(lines, "\n"),
		ValidArgsFunction: cobra.FixedCompletions(shells, cobra.ShellCompDirectiveNoFileComp),
		RunE: func(_ *cobra.Command, args []string) error {
			known := strings.Join(shells, ", ")
			if len(args) != 1 {
				return fail(statusUsage, "marks: name one shell: %s",
					known).withHint(`for bash: ` + markShells[0].line)
			}
			snippet, ok := marksFor(args[0])
			if !ok {
				return fail(statusUsage, "marks: there is no snippet for %.40q: name one of %s",
					args[0], known).withHint("see gateway marks --help")
			}
			return a.printAnswer(map[string]any{"shell": args[0], "snippet": snippet},
				strings.TrimSuffix(snippet, "\n"))
		},
	}
}

// plainBash are arguments with which bash only talks to its terminal.
var plainBash = []string{"-i", "-l", "--login", "--norc", "--noprofile"}

// markStart has bash read the snippet before its first prompt, after its start files, and then
// forget how it came there. Where these set PROMPT_COMMAND anew, there are no marks.
const markStart = `eval "${__marks_start-}"`

// markedEnv returns the environment by which a bash that an agent starts marks its commands; nil
// for any other program.
func markedEnv(m *protocol.ProxyStart) []string {
	before := os.Getenv("PROMPT_COMMAND")
	plain := !slices.ContainsFunc(m.Args, func(arg string) bool {
		return !slices.Contains(plainBash, arg)
	})
	given := slices.ContainsFunc(m.Env, func(e string) bool {
		return strings.HasPrefix(e, "PROMPT_COMMAND=")
	})
	if filepath.Base(m.Command) != "bash" || !plain || given ||
		strings.Contains(before, markStart) {
		return nil
	}
	snippet, _ := marksFor("bash")
	if before != "" {
		before += "\n"
	}
	return []string{
		"PROMPT_COMMAND=" + before + markStart,
		"__marks_start=export -n PROMPT_COMMAND __marks_start\n[[ $PROMPT_COMMAND != '" +
			markStart + "' || $(readonly -p) == *' PROMPT_COMMAND='* ]] || unset PROMPT_COMMAND\n" +
			snippet + "[[ -z ${__marks_id-} ]] || __marks_wrap\nunset __marks_start",
	}
}

// marksFor returns the snippet for a shell, by its name.
func marksFor(shell string) (string, bool) {
	snippet, err := markFiles.ReadFile("marks/marks." + shell)
	return string(snippet), err == nil
}
