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
	"terminalproxy/proxy/consent/control"
)

// Whom say writes to.
const (
	toUser  = "user"
	toAgent = "agent"
)

// NewSay makes the command gateway say.
func NewSay(env *cli.Env) *cobra.Command {
	var to, as string
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
			message := strings.Join(args[1:], " ")
			switch {
			case to == toAgent && cmd.Flags().Changed("as"):
				return cli.Usage("say: --as cannot be used with --to agent, where a person writes")
			case to == toAgent:
				return sayToAgent(cmd.Context(), env, args[0], message)
			case to != toUser:
				return cli.Usage("--to %.20q: must be user or agent", to)
			}
			message, err := text.ToUser(message)
			if err != nil {
				return cli.Usage("say: %w", err)
			}
			return env.WithClient(
				as,
				false,
				cli.OnSession(cmd.Context(), args[0], func(c *client.Client, s protocol.SessionInfo) error {
					return sayToUser(cmd.Context(), env, c, s, message)
				}),
			)
		},
	}
	f := cmd.Flags()
	f.StringVar(&to, "to", toUser, "`RECIPIENT`: user or agent")
	f.StringVar(&as, "as", cli.DefaultName, cli.AsHelp)
	return cmd
}

// sayToUser writes to the user.
func sayToUser(
	ctx context.Context,
	env *cli.Env,
	c *client.Client,
	s protocol.SessionInfo,
	message string,
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

// sayToAgent writes to the agent. An agent reads such a message as a person's, so it takes what
// only a person has: a terminal in which no agent types. That keeps agents from doing so by
// mistake; what the proxy does about all others, it says itself.
func sayToAgent(ctx context.Context, env *cli.Env, id, message string) error {
	message = text.OneLine(message)
	switch n := utf8.RuneCountInString(message); {
	case n == 0:
		return cli.Usage("say: the message is empty")
	case n > control.MessageMax:
		return cli.Usage("say: the message is %d characters long; the limit is %d", n,
			control.MessageMax)
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
