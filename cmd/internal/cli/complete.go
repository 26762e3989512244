package cli

import (
	"context"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"terminalproxy/gateway/access/auth"
	"terminalproxy/gateway/client"
	"terminalproxy/gateway/text"
	"terminalproxy/protocol"
)

// completeTime bounds how long a shell waits after Tab.
const completeTime = time.Second

// completions are the values of flags that a shell can offer, by flag name or by command and flag
// name.
var completions = map[string][]string{
	"level": {
		string(protocol.LevelDrive) + "\tevery key",
		string(protocol.LevelType) + "\ttext and editing keys",
	},
	"mouse": {
		"click",
		"double-click",
		"right-click",
		"middle-click",
		"press\tleft button down",
		"release\tleft button up",
		"move",
		"drag\tto --drag-to",
		"wheel-up",
		"wheel-down",
		"wheel-left",
		"wheel-right",
	},
	"role": {
		string(auth.RoleProxy) + "\tpublishes sessions",
		string(auth.RoleAgent) + "\twatches, asks and types",
		string(auth.RoleViewer) + "\twatches",
		string(auth.RoleOwner) + "\twatches, grants and takes control",
	},
	"open role": {
		string(auth.RoleViewer) + "\tlooks",
		string(auth.RoleOwner) + "\twatches, answers and takes control",
	},
}

// AddCompletions defines what a shell offers for a command: session ids as the first argument, the
// known values of a flag, and never the files of the directory.
func AddCompletions(env *Env, cmd *cobra.Command) {
	for _, sub := range cmd.Commands() {
		AddCompletions(env, sub)
	}
	for flag, words := range completions {
		if own, found := completions[cmd.Name()+" "+flag]; found {
			words = own
		}
		if cmd.Flags().Lookup(flag) != nil {
			// It fails for a missing or repeated flag.
			_ = cmd.RegisterFlagCompletionFunc(flag,
				cobra.FixedCompletions(words, cobra.ShellCompDirectiveNoFileComp))
		}
	}
	switch {
	case cmd.ValidArgsFunction != nil, cmd.Name() == "render", cmd.Name() == "run",
		strings.HasPrefix(cmd.Use, cmd.Name()+" FILE"):
	case strings.HasPrefix(cmd.Use, cmd.Name()+" ID"),
		strings.HasPrefix(cmd.Use, cmd.Name()+" [ID]"):
		cmd.ValidArgsFunction = env.completeID
	default:
		cmd.ValidArgsFunction = cobra.NoFileCompletions
	}
}

// completeID offers the running sessions whose ids begin with the word.
func (env *Env) completeID(
	cmd *cobra.Command, args []string, word string,
) ([]cobra.Completion, cobra.ShellCompDirective) {
	var ids []cobra.Completion
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	if env.applyConfiguration(cmd) != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	ctx, cancel := context.WithTimeout(cmd.Context(), completeTime)
	defer cancel()
	// without a gateway the shell gets no ids
	_ = env.WithClient(DefaultName, false, func(c *client.Client) error {
		sessions, err := c.Sessions(ctx)
		for _, s := range sessions {
			if strings.HasPrefix(s.SessionID, word) {
				ids = append(ids, cobra.CompletionWithDesc(s.SessionID, text.Command(s)))
			}
		}
		return err
	})
	return ids, cobra.ShellCompDirectiveNoFileComp
}

// CompleteInner offers the running sessions, for any command line.
func (env *Env) CompleteInner(
	cmd *cobra.Command, _ []string, word string,
) ([]string, cobra.ShellCompDirective) {
	return env.completeID(cmd, nil, word)
}
