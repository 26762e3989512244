package setup

import (
	_ "embed"
	"strings"

	"github.com/spf13/cobra"

	"terminalproxy/cmd/internal/cli"
)

// skill tells an agent how to use the user's terminal. The plugin in contrib contains the same
// file.
//
//go:embed skill/SKILL.md
var skill string

// NewSkill makes the command gateway skill.
func NewSkill(env *cli.Env) *cobra.Command {
	return &cobra.Command{
		Use:   "skill",
		Short: "Print the skill that tells an agent how to use your terminal",
		Args:  cobra.NoArgs,
		Long: "skill prints a SKILL.md: when an agent should look at your terminal, how it " +
			"waits and asks for the keyboard, and what it must not do.\n" +
			"The plugin in contrib/plugin holds the same. For an agent without plugins, put it " +
			"where the agent looks for skills.",
		Example: "  mkdir -p ~/.config/opencode/skills/user-terminal\n" +
			"  gateway skill > ~/.config/opencode/skills/user-terminal/SKILL.md",
		RunE: func(*cobra.Command, []string) error {
			return runSkill(env)
		},
	}
}

// runSkill prints the skill.
func runSkill(env *cli.Env) error {
	return env.PrintAnswer(map[string]any{"skill": skill}, strings.TrimSuffix(skill, "\n"))
}
