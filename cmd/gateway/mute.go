package main

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"terminalproxy/gateway/client"
	"terminalproxy/gateway/text"
	"terminalproxy/protocol"
)

func (a *app) newMute() *cobra.Command {
	var agent string
	var off bool
	cmd := &cobra.Command{
		Use:   "mute [ID] [--agent NAME] [--off]",
		Short: "Stop an agent from asking in a session, or let it ask again",
		Args:  cobra.MaximumNArgs(1),
		Long: "mute keeps an agent from asking for the keyboard and from writing to you until " +
			"the session ends. Its open request is refused,\n" +
			"and the keyboard is taken back from it. Without --agent, mute means the agent that " +
			"asks or has the keyboard. On your own machine\n" +
			"it needs no token. mute --off gives agents more, so it needs the owner token, as " +
			"gateway grant does; without --agent it unmutes all.",
		RunE: func(cmd *cobra.Command, args []string) error {
			if off {
				return a.unmuteAgent(cmd.Context(), named(args), agent)
			}
			return a.muteAgent(cmd.Context(), named(args), agent)
		},
	}
	cmd.Flags().StringVar(&agent, "agent", "", "the agent of this `NAME`")
	cmd.Flags().BoolVar(&off, "off", false, "let it ask and write again")
	return cmd
}

func (a *app) muteAgent(ctx context.Context, id, agent string) error {
	return a.withViewer(about(ctx, id, func(c *client.Client, s protocol.SessionInfo) error {
		muted := agent
		if muted == "" {
			now, err := c.Read(ctx, &protocol.Read{SessionID: s.SessionID}) // newer than the list
			if err != nil {
				return err
			}
			muted = cmp.Or(now.Frame.Keyboard.Asking, now.Frame.Keyboard.AgentName)
		}
		if muted == "" {
			return usage(
				"mute: no agent asks or has the keyboard in %s: say which one you mean with "+
					"--agent NAME", s.SessionID)
		}
		if err := c.Decide(ctx, &protocol.ControlDecide{
			SessionID: s.SessionID,
			By:        "gateway mute",
			AgentName: muted,
			Mute:      protocol.MuteOn,
		}); err != nil {
			return err
		}
		return a.printAnswer(map[string]any{"sessionId": s.SessionID, "muted": muted},
			text.Name(muted)+" is muted until the session ends")
	}))
}

func (a *app) unmuteAgent(ctx context.Context, id, agent string) error {
	m := &protocol.ControlDecide{Mute: protocol.MuteOff, AgentName: agent}
	return a.runGrantingAct(
		ctx,
		id,
		m,
		func(s protocol.SessionInfo, _ protocol.Keyboard) (string, error) {
			if len(s.Muted) == 0 {
				return "", fail(statusRefused, "mute: no agent is muted in %s", s.SessionID)
			}
			return fmt.Sprintf("%s %q: let %s ask and write again?", s.SessionID, text.Command(s),
				text.OneLine(cmp.Or(agent, strings.Join(s.Muted, ", ")))), nil
		},
		"unmuted",
		"it may ask again",
	)
}
