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

// requestOptions are the options of gateway request.
type requestOptions struct {
	session, reason, level, as string
	forTime, timeout           time.Duration
}

// NewRequest makes the command gateway request.
func NewRequest(env *cli.Env) *cobra.Command {
	var opts requestOptions
	cmd := &cobra.Command{
		Use:   "request [ID] --reason R [--level drive|type] [--for D]",
		Short: "Ask the user for the keyboard",
		Args:  cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			opts.session = cli.SessionArg(args)
			return runRequest(cmd.Context(), env, opts)
		},
	}
	f := cmd.Flags()
	f.StringVar(&opts.reason, "reason", "", "what you want to do, in a sentence for the user (required)")
	f.StringVar(&opts.level, "level", string(protocol.LevelDrive),
		"drive: every key; type: text and editing keys at a shell or REPL prompt, while Enter "+
			"and all other input wait for the user's approval")
	f.DurationVar(&opts.forTime, "for", 0,
		"how long you need it; the user's limit applies, 10m by default")
	f.DurationVar(&opts.timeout, "timeout", 2*time.Minute,
		"how long to wait for the answer; the request stays open after that")
	f.StringVar(&opts.as, "as", cli.DefaultName, cli.AsHelp)
	cli.AddAgentToken(f, &env.AgentToken)
	return cmd
}

// runRequest asks the user for the keyboard.
func runRequest(ctx context.Context, env *cli.Env, opts requestOptions) error {
	reason, err := cli.Sentence("reason", opts.reason)
	switch {
	case err != nil:
		return err
	case reason == "":
		return cli.Usage("request: --reason is required: say in one sentence what you want to do")
	}
	if err := cli.CheckGrant(opts.level, opts.forTime); err != nil {
		return err
	}
	if err := cli.CheckTimeout(opts.timeout); err != nil {
		return err
	}
	return env.WithClient(
		opts.as,
		true,
		cli.OnSession(
			ctx,
			opts.session,
			func(c *client.Client, s protocol.SessionInfo) error {
				return requestControl(ctx, env, c, opts.timeout, &protocol.ControlRequest{
					SessionID: s.SessionID,
					AgentName: opts.as,
					Level:     protocol.Level(opts.level),
					Why:       reason,
					Seconds:   int64(opts.forTime / time.Second),
				})
			},
		),
	)
}

func requestControl(
	ctx context.Context, env *cli.Env, c *client.Client, timeout time.Duration,
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
	return env.PrintLines("granted" + grantDetails(grant))
}

// grantDetails describes the scope of a grant, and who gave it if not the user at the terminal.
func grantDetails(grant *protocol.ControlGrant) string {
	words := text.Grant(grant.Level, grant.ExpiresAt, time.Now())
	if words != "" {
		words = " (" + words + ")"
	}
	if grant.By != "" && grant.By != protocol.ByTerminal {
		words += " by " + text.Name(grant.By)
	}
	return words
}

// releaseOptions are the options of gateway release.
type releaseOptions struct{ session, note, as string }

// NewRelease makes the command gateway release.
func NewRelease(env *cli.Env) *cobra.Command {
	var opts releaseOptions
	cmd := &cobra.Command{
		Use:   "release [ID] [--note TEXT]",
		Short: "Give the keyboard back, or withdraw a request",
		Args:  cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			opts.session = cli.SessionArg(args)
			return runRelease(cmd.Context(), env, opts)
		},
	}
	cmd.Flags().StringVar(&opts.note, "note", "",
		"a sentence for the user: what you did, what remains to do")
	cmd.Flags().StringVar(&opts.as, "as", cli.DefaultName, cli.AsHelp)
	return cmd
}

// runRelease gives the keyboard back, or withdraws a request.
func runRelease(ctx context.Context, env *cli.Env, opts releaseOptions) error {
	note, err := cli.Sentence("note", opts.note)
	if err != nil {
		return err
	}
	return env.WithClient(
		opts.as,
		false,
		cli.OnSession(
			ctx,
			opts.session,
			func(c *client.Client, s protocol.SessionInfo) error {
				err := c.Release(ctx, &protocol.ControlRelease{
					SessionID: s.SessionID,
					Note:      note,
				})
				refused, ok := errors.AsType[*protocol.Error](err)
				// releasing twice changes nothing
				if err != nil && (!ok || refused.Code != protocol.CodeNoGrant) {
					return err
				}
				return env.PrintAnswer(
					map[string]any{"sessionId": s.SessionID, "released": true}, "released")
			},
		),
	)
}
