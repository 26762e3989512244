package chat

import (
	"github.com/spf13/cobra"

	"terminalproxy/cmd/internal/cli"
	"terminalproxy/proxy/chat/claude"
)

// NewHook makes the hook command of Claude Code in a session of --chat.
func NewHook(env *cli.Env) *cobra.Command {
	return &cobra.Command{
		Use: claude.HookCommand + " EVENT", Hidden: true, Args: cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			return runHook(env, args[0])
		},
	}
}

// runHook answers an event of Claude Code.
func runHook(env *cli.Env, event string) error {
	env.Status = claude.RunHook(event, env.In, env.Out, env.Err)
	return nil
}
