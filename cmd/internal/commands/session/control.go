package session

import (
	"context"
	"errors"
	"time"

	"github.com/spf13/cobra"

	"terminalproxy/cmd/internal/cli"
	"terminalproxy/gateway/client"
	"terminalproxy/gateway/text"
	"terminalproxy/protocol"
)

// NewRequest makes the command gateway request.
func NewRequest(env *cli.Env) *cobra.Command {
	var reason, level, as string
	var forTime, timeout time.Duration
	cmd := &cobra.Command{
		Use:   "request [ID] --reason R [--level drive|type] [--for D]",
		Short: "Ask the user for the keyboard",
		Args:  cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			reason, err := cli.Sentence("reason", reason)
			switch {
			case err != nil:
				return err
			case reason == "":
				return cli.Usage(
					"request: --reason is required: say in one sentence what you want to do")
			}
			if err := cli.CheckGrant(level, forTime); err != nil {
				return err
			}
			if err := cli.CheckTimeout(timeout); err != nil {
				return err
			}
			return env.WithClient(
				as,
				true,
				cli.OnSession(
					cmd.Context(),
					cli.SessionArg(args),
					func(c *client.Client, s protocol.SessionInfo) error {
						return requestControl(cmd.Context(), env, c, timeout, &protocol.ControlRequest{
							SessionID: s.SessionID,
							AgentName: as,
							Level:     protocol.Level(level),
							Why:       reason,
							Seconds:   int64(forTime / time.Second),
						})
					},
				),
			)
		},
	}
	f := cmd.Flags()
	f.StringVar(&reason, "reason", "", "what you want to do, in a sentence for the user (required)")
	f.StringVar(&level, "level", string(protocol.LevelDrive),
		"drive: every key; type: text and editing keys at a shell or REPL prompt, while Enter "+
			"and all other input wait for the user's approval")
	f.DurationVar(&forTime, "for", 0,
		"how long you need it; the user's limit applies, 10m by default")
	f.DurationVar(&timeout, "timeout", 2*time.Minute,
		"how long to wait for the answer; the request stays open after that")
	f.StringVar(&as, "as", cli.DefaultName, cli.AsHelp)
	cli.AddAgentToken(f, &env.AgentToken)
	return cmd
}

func requestControl(
	ctx context.Context,
	env *cli.Env,
	c *client.Client,
	timeout time.Duration,
	ask *protocol.ControlRequest,
) error {
	as := ""
	if ask.AgentName != cli.DefaultName {
		as = " --as " + ask.AgentName
	}
	asking, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	grant, revoke, err := c.Request(asking, ask)
	switch {
	case err != nil && asking.Err() != nil && ctx.Err() == nil:
		return cli.Fail(cli.StatusTimeout,
			"request: the user did not answer within %s; the request stays open", timeout).
			WithHint(
				"keep waiting: gateway wait " + ask.SessionID + " --control" + as +
					"; or withdraw it: gateway release " + ask.SessionID + as)
	case err != nil:
		return err
	case revoke != nil:
		words := text.RefusalReason(revoke)
		if len(revoke.Notes) > 0 {
			words += "\n" + text.Messages(revoke.Notes)
		}
		return cli.Fail(cli.StatusRefused, "request: refused: %s", words)
	case env.JSON:
		return env.PrintJSON(grant)
	}
	if err := env.PrintNotes(grant.Notes); err != nil {
		return err
	}
	words := text.Grant(grant.Level, grant.ExpiresAt, time.Now())
	if words != "" {
		words = " (" + words + ")"
	}
	if grant.By != "" && grant.By != protocol.ByTerminal {
		words += " by " + text.Name(grant.By)
	}
	return env.PrintLines("granted" + words)
}

// NewRelease makes the command gateway release.
func NewRelease(env *cli.Env) *cobra.Command {
	var note, as string
	cmd := &cobra.Command{
		Use:   "release [ID] [--note TEXT]",
		Short: "Give the keyboard back, or withdraw a request",
		Args:  cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			note, err := cli.Sentence("note", note)
			if err != nil {
				return err
			}
			return env.WithClient(
				as,
				false,
				cli.OnSession(
					cmd.Context(),
					cli.SessionArg(args),
					func(c *client.Client, s protocol.SessionInfo) error {
						err := c.Release(cmd.Context(), &protocol.ControlRelease{
							SessionID: s.SessionID,
							Note:      note,
						})
						refused, ok := errors.AsType[*protocol.Error](err)
						// giving back twice changes nothing
						if err != nil && (!ok || refused.Code != protocol.CodeNoGrant) {
							return err
						}
						return env.PrintAnswer(
							map[string]any{"sessionId": s.SessionID, "released": true}, "released")
					},
				),
			)
		},
	}
	cmd.Flags().StringVar(&note, "note", "",
		"a sentence for the user: what you did, what remains to do")
	cmd.Flags().StringVar(&as, "as", cli.DefaultName, cli.AsHelp)
	return cmd
}
