package main

import (
	"embed"
	"strings"

	"github.com/spf13/cobra"
)

//go:embed marks
var markFiles embed.FS

// markShells are the shells for which there is a snippet, with where its line belongs.
var markShells = []struct{ shell, line string }{
	{"bash", `eval "$(gateway marks bash)"  # at the end of ~/.bashrc`},
	{"zsh", `eval "$(gateway marks zsh)"  # at the end of ~/.zshrc`},
	{"fish", `gateway marks fish | source  # in ~/.config/fish/config.fish; fish 4 has marks of its own`},
}

// newMarks prints what a shell needs to tell where its commands begin and end.
func (a *app) newMarks() *cobra.Command {
	var shells, lines []string
	for _, s := range markShells {
		shells, lines = append(shells, s.shell), append(lines, "  "+s.line)
	}
	return &cobra.Command{
		Use: "marks SHELL", Short: "Print the lines that make a shell mark its commands, for its start file", Args: cobra.ArbitraryArgs,
		Long: "marks prints what makes bash, zsh or fish tell where each command and its output begin and end, how it ended and in which\n" +
			"directory (OSC 133 and 7). Agents then read the last command of your shell, and gateway read --command prints it; many\n" +
			"terminals use the marks as well. It leaves your prompt and its hooks as they are, and does nothing in a dumb terminal.",
		Example:           strings.Join(lines, "\n"),
		ValidArgsFunction: cobra.FixedCompletions(shells, cobra.ShellCompDirectiveNoFileComp),
		RunE: func(_ *cobra.Command, args []string) error {
			known := strings.Join(shells, ", ")
			if len(args) != 1 {
				return fail(statusUsage, "marks: name one shell: %s", known).hinted(`for bash: ` + markShells[0].line)
			}
			snippet, ok := marksFor(args[0])
			if !ok {
				return fail(statusUsage, "marks: there is no snippet for %.40q: name one of %s", args[0], known).hinted("see gateway marks --help")
			}
			return a.answer(map[string]any{"shell": args[0], "snippet": snippet}, strings.TrimSuffix(snippet, "\n"))
		},
	}
}

// marksFor is the snippet for a shell, by its name.
func marksFor(shell string) (string, bool) {
	snippet, err := markFiles.ReadFile("marks/marks." + shell)
	return string(snippet), err == nil
}
