package setup

import (
	"strings"

	"github.com/spf13/cobra"

	"terminalproxy/cmd/internal/cli"
	"terminalproxy/cmd/internal/cli/marks"
)

// markShells are the shells with a snippet, and the file for its line.
var markShells = []struct{ shell, line string }{
	{"bash", `eval "$(gateway marks bash)"  # at the end of ~/.bashrc`},
	{"zsh", `eval "$(gateway marks zsh)"  # at the end of ~/.zshrc`},
	{
		"fish",
		`gateway marks fish | source  # in ~/.config/fish/config.fish; fish 4 has marks of its own`,
	},
}

// NewMarks makes the command that prints the lines for a shell to mark where its commands begin and
// end.
func NewMarks(env *cli.Env) *cobra.Command {
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
			return runMarks(env, args)
		},
	}
}

// runMarks prints the lines that make a shell mark its commands. Exactly one shell is valid.
func runMarks(env *cli.Env, shells []string) error {
	var names []string
	for _, s := range markShells {
		names = append(names, s.shell)
	}
	known := strings.Join(names, ", ")
	if len(shells) != 1 {
		return cli.Fail(cli.StatusUsage, "marks: name one shell: %s", known).
			WithHint(`for bash: ` + markShells[0].line)
	}
	snippet, ok := marks.Snippet(shells[0])
	if !ok {
		return cli.Fail(cli.StatusUsage, "marks: there is no snippet for %.40q: name one of %s",
			shells[0], known).WithHint("see gateway marks --help")
	}
	return env.PrintAnswer(map[string]any{"shell": shells[0], "snippet": snippet},
		strings.TrimSuffix(snippet, "\n"))
}
