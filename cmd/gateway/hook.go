package main

import (
	"github.com/spf13/cobra"

	"terminalproxy/proxy/chat/claude"
)

// newHook makes the command that Claude Code runs on events in a session of --chat.
func (a *app) newHook() *cobra.Command {
	return &cobra.Command{
		Use: claude.HookCommand + " EVENT", Hidden: true, Args: cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			a.status = claude.RunHook(args[0], a.in, a.out, a.err)
			return nil
		},
	}
}
