package session

import (
	"context"
	"strings"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"terminalproxy/cmd/internal/cli"
	"terminalproxy/gateway/client"
	"terminalproxy/gateway/text"
	"terminalproxy/protocol"
	"terminalproxy/proxy/consent/question"
)

// The receivers of say.
const (
	toUser  = "user"
	toAgent = "agent"
)

// sayOptions are the options of gateway say.
type sayOptions struct {
	session, message, to, as string
	named                    bool // --as is given
}

// NewSay makes the command gateway say.
func NewSay(env *cli.Env) *cobra.Command {
	var opts sayOptions
	cmd := &cobra.Command{
		Use:   "say ID TEXT [--to user|agent]",
		Short: "Send a message to the user, or as a person to the agent",
		Args:  cobra.MinimumNArgs(2),
		Long: "say shows the session's user a message from the agent that --as names. It needs " +
			"no grant. It reports whether the message\n" +
			"is on the user's screen (delivered) or will be shown later (waiting for the " +
			"user).\n\n" +
			"With --to agent a person writes to the agent that drives or asks, or did last, or " +
			"else to the next one. On your own\n" +
			"machine this needs no token, but it needs a terminal in which no agent types. The " +
			"agent is told that the message came from\n" +
			"outside the session, and the session's user sees it too.",
		Example: "  gateway say vim-k3f9 'the tests pass; may I commit?'\n  gateway say bash-2 " +
			"--to agent 'not that branch'",
		RunE: func(cmd *cobra.Command, args []string) error {
			opts.session, opts.message = args[0], strings.Join(args[1:], " ")
			opts.named = cmd.Flags().Changed("as")
			return runSay(cmd.Context(), env, opts)
		},
	}
	f := cmd.Flags()
	f.StringVar(&opts.to, "to", toUser, "`RECIPIENT`: user or agent")
	f.StringVar(&opts.as, "as", cli.DefaultName, cli.AsHelp)
	return cmd
}

// runSay writes to the user, or to the agent.
func runSay(ctx context.Context, env *cli.Env, opts sayOptions) error {
	switch {
	case opts.to == toAgent && opts.named:
		return cli.Usage("say: --as cannot be used with --to agent, where a person writes")
	case opts.to == toAgent:
		return sayToAgent(ctx, env, opts.session, opts.message)
	case opts.to != toUser:
		return cli.Usage("--to %.20q: must be user or agent", opts.to)
	}
	message, err := text.ToUser(opts.message)
	if err != nil {
		return cli.Usage("say: %w", err)
	}
	return env.WithClient(
		opts.as,
		false,
		cli.OnSession(ctx, opts.session, func(c *client.Client, s protocol.SessionInfo) error {
			return sayToUser(ctx, env, c, s, message)
		}),
	)
}

// sayToUser writes to the user.
func sayToUser(
	ctx context.Context, env *cli.Env, c *client.Client, s protocol.SessionInfo, message string,
) error {
	waiting, err := c.SendNote(ctx, &protocol.Note{
		SessionID: s.SessionID,
		From:      protocol.FromAgent,
		Text:      message,
	})
	if err != nil {
		return err
	}
	out := map[string]any{"sessionId": s.SessionID, "delivered": waiting == ""}
	if waiting != "" {
		out["waiting"] = waiting
	}
	return env.PrintAnswer(out, text.FormatDelivery(waiting))
}

// sayToAgent writes to the agent. Agents read such a message as a person's, so it requires a
// terminal in which no agent types. This only prevents mistakes of agents; the proxy checks the
// rest and reports it.
func sayToAgent(ctx context.Context, env *cli.Env, id, message string) error {
	message = text.OneLine(message)
	switch n := utf8.RuneCountInString(message); {
	case n == 0:
		return cli.Usage("say: the message is empty")
	case n > question.MaxMessage:
		return cli.Usage("say: the message is %d characters long; the limit is %d", n,
			question.MaxMessage)
	}
	if err := env.RequireOutside("use a terminal that no agent sees; in the session itself, press " +
		"the reclaim key and then m"); err != nil {
		return err
	}
	if _, err := env.RequirePerson(); err != nil {
		return cli.Fail(cli.StatusForbidden,
			"say: --to agent is for a person: standard input is not a terminal").
			WithHint("run it in a terminal; an agent leaves out --to agent and writes to the user")
	}
	return env.WithViewer(cli.OnSession(ctx, id, func(c *client.Client, s protocol.SessionInfo) error {
		if _, err := c.SendNote(ctx, &protocol.Note{
			SessionID: s.SessionID,
			From:      protocol.FromUser,
			By:        "gateway say",
			Text:      message,
		}); err != nil {
			return err
		}
		return env.PrintAnswer(map[string]any{"sessionId": s.SessionID, "sent": true},
			"sent: the agent reads it with its next answer")
	}))
}
