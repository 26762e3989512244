package main

import (
	"context"
	"errors"
	"time"

	"github.com/spf13/cobra"

	"terminalproxy/gateway/client"
	"terminalproxy/gateway/text"
	"terminalproxy/protocol"
)

const asHelp = "act as agent `NAME`, which the user sees; each name is a separate agent"

func (a *app) newRequest() *cobra.Command {
	var reason, level, as string
	var forTime, timeout time.Duration
	cmd := &cobra.Command{
		Use:   "request [ID] --reason R [--level drive|type] [--for D]",
		Short: "Ask the user for the keyboard",
		Args:  cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			reason, err := sentence("reason", reason)
			switch {
			case err != nil:
				return err
			case reason == "":
				return usage(
					"request: --reason is required: say in one sentence what you want to do")
			}
			if err := checkGrant(level, forTime); err != nil {
				return err
			}
			if err := checkTimeout(timeout); err != nil {
				return err
			}
			return a.withClient(
				as,
				true,
				about(
					cmd.Context(),
					named(args),
					func(c *client.Client, s protocol.SessionInfo) error {
						return a.requestControl(cmd.Context(), c, timeout, &protocol.ControlRequest{
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
	f.StringVar(&as, "as", defaultName, asHelp)
	addAgentToken(f, &a.agentToken)
	return cmd
}

func (a *app) requestControl(
	ctx context.Context,
	c *client.Client,
	timeout time.Duration,
	ask *protocol.ControlRequest,
) error {
	as := ""
	if ask.AgentName != defaultName {
		as = " --as " + ask.AgentName
	}
	asking, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	grant, revoke, err := c.Request(asking, ask)
	switch {
	case err != nil && asking.Err() != nil && ctx.Err() == nil:
		return fail(statusTimeout,
			"request: the user did not answer within %s; the request stays open", timeout).
			withHint(
				"keep waiting: gateway wait " + ask.SessionID + " --control" + as +
					"; or withdraw it: gateway release " + ask.SessionID + as)
	case err != nil:
		return err
	case revoke != nil:
		words := text.RefusalReason(revoke)
		if len(revoke.Notes) > 0 {
			words += "\n" + text.Messages(revoke.Notes)
		}
		return fail(statusRefused, "request: refused: %s", words)
	case a.json:
		return a.printJSON(grant)
	}
	if err := a.printNotes(grant.Notes); err != nil {
		return err
	}
	words := text.Grant(grant.Level, grant.ExpiresAt, time.Now())
	if words != "" {
		words = " (" + words + ")"
	}
	if grant.By != "" && grant.By != protocol.ByTerminal {
		words += " by " + text.Name(grant.By)
	}
	return a.printLines("granted" + words)
}

func (a *app) newRelease() *cobra.Command {
	var note, as string
	cmd := &cobra.Command{
		Use:   "release [ID] [--note TEXT]",
		Short: "Give the keyboard back, or withdraw a request",
		Args:  cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			note, err := sentence("note", note)
			if err != nil {
				return err
			}
			return a.withClient(
				as,
				false,
				about(
					cmd.Context(),
					named(args),
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
						return a.printAnswer(
							map[string]any{"sessionId": s.SessionID, "released": true}, "released")
					},
				),
			)
		},
	}
	cmd.Flags().StringVar(&note, "note", "",
		"a sentence for the user: what you did, what remains to do")
	cmd.Flags().StringVar(&as, "as", defaultName, asHelp)
	return cmd
}

// checkGrant checks the flags --level and --for.
func checkGrant(level string, forTime time.Duration) error {
	switch {
	case level != string(protocol.LevelDrive) && level != string(protocol.LevelType):
		return usage("--level %.20q: must be drive or type", level)
	case forTime != 0 && (forTime < time.Second || forTime > 24*time.Hour):
		return usage("--for %s: must be 1s to 24h", forTime)
	}
	return nil
}

// sentence is text for the user on one line, without what they could not see.
func sentence(flag, reason string) (string, error) {
	reason, err := text.Sentence("--"+flag, reason)
	if err != nil {
		return "", usage("%w", err)
	}
	return reason, nil
}
